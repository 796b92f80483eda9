"""The options without a value that rules/commands/servers.yaml lists are those of the installed servers.

A flag that is missing there swallows the word behind it, which may be the application.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from sselint.read import command


def click_flags(parameters: object) -> set[str]:
    flags = {"--help"}
    for parameter in parameters:  # type: ignore[attr-defined]
        if getattr(parameter, "is_flag", False):
            flags.update(parameter.opts)
            flags.update(parameter.secondary_opts)
    return flags


def uvicorn() -> set[str]:
    module = pytest.importorskip("uvicorn.main")
    return click_flags(module.main.params)


def flask() -> set[str]:
    module = pytest.importorskip("flask.cli")
    return click_flags(module.run_command.params) | {"--version"}


def gunicorn() -> set[str]:
    module = pytest.importorskip("gunicorn.config")
    parser = module.Config().parser()
    return {option for action in parser._actions if action.nargs == 0 for option in action.option_strings}


@pytest.mark.parametrize(("server", "installed"), [("uvicorn", uvicorn), ("flask", flask), ("gunicorn", gunicorn)])
def test_flags(server: str, installed: Callable[[], set[str]]) -> None:
    listed = set(command.rules()["servers"][server]["flags"])
    single = set(command.rules()["servers"][server].get("single", ()))
    # Options of several letters behind one dash are not told apart from values that are glued to an option.
    assert {f for f in installed() if f.startswith("--") or len(f) == 2} <= listed | single


def test_uvicorn_takes_its_options_from_the_environment() -> None:
    """UVICORN_WORKERS is read although nothing in its help says so: a value that is no number is refused."""
    pytest.importorskip("uvicorn")
    environment = {**os.environ, "UVICORN_WORKERS": "many"}
    line = [sys.executable, "-m", "uvicorn", "nothing:app"]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "'many' is not a valid integer" in done.stderr


@pytest.mark.parametrize("server", ["uvicorn", "gunicorn"])
def test_what_is_listed_takes_no_value(server: str) -> None:
    installed = {"uvicorn": uvicorn, "gunicorn": gunicorn}[server]()
    assert set(command.rules()["servers"][server]["flags"]) <= installed
