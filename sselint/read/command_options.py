"""Options on the command line of a script of the tree, as settings: they say to the script what variables say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from sselint.facts import Evidence, Setting
from sselint.read.command import TEMPLATED, Command

ALL = "--"
"""The name of a setting that says: these are all the options. It is where POSIX ends them."""


def settings_of(found: Command, evidence: Evidence) -> Iterator[Setting]:
    """The options by their flags, then ALL where no other can be among them: none for a server of the rules."""
    if found.serves or not found.words:
        return
    words = _after_script(found)
    for position, word in enumerate(words):
        if word == ALL:
            break
        flag, equals, value = word.partition("=")
        if not word.startswith("--"):
            continue
        following = words[position + 1] if position + 1 < len(words) else "-"
        written = value if equals else "true" if following.startswith("-") else following
        yield Setting(flag, None if _is_computed(written) else written, evidence)
    if not any(_hides_options(word) for word in words):
        yield Setting(ALL, "", evidence)


def _after_script(found: Command) -> Sequence[str]:
    """The words behind the script, or behind the name of the program."""
    name = PurePosixPath(found.starts).name if found.starts else ""
    for position, word in enumerate(found.words):
        if found.starts and (word == found.starts or PurePosixPath(word).name == name):
            return found.words[position + 1 :]
    return found.words[1:]


def _hides_options(word: str) -> bool:
    """Short flags, whose long ones only the parser knows, and words that a shell or a template makes."""
    return (word.startswith("-") and not word.startswith("--")) or (_is_computed(word) and not word.startswith("--"))


def _is_computed(text: str) -> bool:
    return "$" in text or TEMPLATED in text
