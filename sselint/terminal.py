"""The terminal at hand: its width, whether it shows colour, and writing to it without a traceback."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

NARROWEST, WIDEST = 60, 120


def width() -> int:
    """Cells a line may take: `COLUMNS`, else the terminal's, else 80; between 60 and 120."""
    return min(WIDEST, max(NARROWEST, shutil.get_terminal_size((80, 24)).columns))


def shows_colour(stream: TextIO) -> bool:
    """Whether to write colour: on a terminal that is not dumb, and never with `NO_COLOR`."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()


def accept_any_text() -> None:
    """Lets standard output and error take what their encoding lacks (a path that is not UTF-8, a Latin-1 terminal), and
    anything at all where they are closed (`>&-`): the exit code is still asked for."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123 - lives as long as we do
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def write(text: str, target: str | None) -> None:
    """Writes a report to a file, or to standard output where there is none.

    A closed pipe is no error. Raises SettingsError for a file that cannot be written.
    """
    if target is not None:
        try:
            Path(target).write_text(text, encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            from sselint.toml_table import SettingsError

            why = (error.strerror or str(error)).lower()
            raise SettingsError(f"cannot be written: {why}", target, "name a file in a folder that exists") from error
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _silence_output()  # who read us has seen enough
    except OSError as error:
        from sselint.toml_table import SettingsError

        _silence_output()
        why = (error.strerror or str(error)).lower()
        raise SettingsError(f"cannot be written: {why}", "standard output", "write where there is room") from error


def _silence_output() -> None:
    """What is left in the buffer must not raise again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def progress() -> Callable[[str], None] | None:
    """Tells what is being done on one line of a terminal; None where standard error is none."""
    if not sys.stderr.isatty():
        return None

    def tell(what: str) -> None:
        sys.stderr.write(f"\r\x1b[K{what} ..." if what else "\r\x1b[K")
        sys.stderr.flush()

    return tell
