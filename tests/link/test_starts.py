"""How many processes answer behind a container's socket: by its command line, or by the script that it names."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from sselint.link.starts import Starts
from sselint.link.units import Units, join
from sselint.pipeline import audit
from sselint.settings import load_settings
from sselint.source import Tree
from tests.link.builders import pool

APP = """
import itertools
import os

import uvicorn
from fastapi import FastAPI, Request
from sse_starlette import EventSourceResponse

app = FastAPI()
numbers = itertools.count(1)


@app.get("/ticks")
async def ticks(request: Request):
    async def body():
        while True:
            yield {{"id": str(next(numbers)), "data": "tick"}}

    return EventSourceResponse(body())


if __name__ == "__main__":
    {start}
"""
COMPOSE = """
services:
  ticker:
    build: .
    environment:
      SERVERS: "3"
      WEB_CONCURRENCY: "5"
"""
SERVER, SCRIPT, MODULE = '["uvicorn", "app:app", "--workers", "4"]', '["python", "app.py"]', '["python", "-m", "app"]'


def workers(tmp_path: Path, command: str, start: str) -> tuple[int, int | None]:
    (tmp_path / "app.py").write_text(APP.format(start=start))
    (tmp_path / "Dockerfile").write_text(f"FROM python:3.12\nCOPY . .\nCMD {command}\n")
    (tmp_path / "compose.yaml").write_text(COMPOSE)
    (deployment,) = audit([tmp_path], load_settings([tmp_path])).deployments
    found = [h.pool.processes for h in deployment.hops if h.pool is not None and h.pool.kind == "workers"]
    return (found[0].low, found[0].high) if found else (1, 1)


@pytest.mark.parametrize(
    ("command", "start", "number"),
    [
        (SERVER, 'uvicorn.run("app:app", workers=2)', 4),  # which never runs: the module has another name
        (SERVER, "uvicorn.run(app)", 4),
        (SCRIPT, 'uvicorn.run("app:app", workers=2)', 2),
        (MODULE, 'uvicorn.run("app:app", workers=2)', 2),
        (SCRIPT, 'uvicorn.run("app:app", workers=int(os.environ.get("SERVERS", 1)))', 3),
        (SCRIPT, 'uvicorn.run("app:app", workers=int(os.environ.get("PROCESSES", 2)))', 2),  # not set: the default
        (SCRIPT, 'uvicorn.run("app:app")', 5),  # uvicorn asks WEB_CONCURRENCY itself
        (SCRIPT, 'uvicorn.run("app:app", workers=1)', 1),
    ],
)
def test_the_command_line_decides_and_a_script_where_it_names_one(
    tmp_path: Path, command: str, start: str, number: int
) -> None:
    assert workers(tmp_path, command, start) == (number, number)


PYPROJECT = '[project]\nname = "ticker"\nversion = "1"\n\n[project.scripts]\nticker = "serve:main"\n'


def workers_of(tmp_path: Path, command: str, files: dict[str, str]) -> tuple[int, int | None]:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return workers(tmp_path, command, "pass")


@pytest.mark.parametrize(
    ("command", "files"),
    [
        (SCRIPT.replace("app", "serve"), {"serve.py": 'import uvicorn\nuvicorn.run("app:app", workers=4)\n'}),
        (
            SCRIPT.replace("app", "main"),
            {
                "main.py": "from serve import run\n\nrun()\n",
                "serve.py": 'import uvicorn\n\n\ndef run():\n    uvicorn.run("app:app", workers=4)\n',
            },
        ),
        (
            '["uv", "run", "ticker"]',
            {
                "pyproject.toml": PYPROJECT,
                "serve.py": 'import uvicorn\n\n\ndef main():\n    uvicorn.run("app:app", workers=4)\n',
            },
        ),
    ],
    ids=["another script", "what a script imports", "a console script"],
)
def test_a_script_may_start_the_application_of_another_file(
    tmp_path: Path, command: str, files: dict[str, str]
) -> None:
    assert workers_of(tmp_path, command, files) == (4, 4)


@pytest.mark.parametrize(
    "other",
    [
        'import uvicorn\nuvicorn.run("app:app", workers=4)\n',
        'import uvicorn\nPORT = 80\nif __name__ == "__main__":\n    uvicorn.run("app:app", workers=4)\n',
    ],
    ids=["another script", "imported, and starts nothing then"],
)
def test_a_script_that_is_not_run_starts_nothing(tmp_path: Path, other: str) -> None:
    """What the command runs says one worker; four are in a script for development, or below a guard."""
    imports = "from develop import PORT\n" if "PORT" in other else ""
    main = f'import uvicorn\n{imports}uvicorn.run("app:app", workers=1)\n'
    assert workers_of(tmp_path, SCRIPT.replace("app", "main"), {"main.py": main, "develop.py": other}) == (1, 1)


def reached(files: dict[str, str], folders: tuple[str, ...]) -> tuple[list[list[str]], Counter[str]]:
    """The files that a pool of each folder is seen to start in the end, and how often each file was looked at."""
    read: Counter[str] = Counter()

    def load(path: str) -> bytes:
        read[path] += 1
        return files[path].encode()

    launches = [pool(path, format="python") for path in files]
    started = [pool(f"{folder}/Dockerfile", starts="run", app_directory=".") for folder in folders]
    starts = Starts(Tree("/nowhere", tuple(sorted(files)), load), Units(folders), launches)
    return [[p.path for p in starts.through(one)] for one in started], read


def test_what_many_pools_start_is_looked_at_once() -> None:
    files = {"a/run.py": "import web\n", "a/web.py": "from .part import serve\n", "a/part.py": ""}
    found, read = reached(files, ("a",) * 20)
    assert found == [["a/run.py", "a/web.py", "a/part.py"]] * 20
    assert set(read.values()) == {1}


def test_one_text_in_two_folders_imports_the_files_of_each() -> None:
    files = {f"{folder}/{name}.py": "import web\n" for folder in "ab" for name in ("run", "web")}
    found, _ = reached(files, ("a", "b"))
    assert found == [["a/run.py", "a/web.py"], ["b/run.py", "b/web.py"]]


@pytest.mark.parametrize(
    ("folder", "name", "path"),
    [
        (".", "a.py", "a.py"),
        ("", "a.py", "a.py"),
        ("a/b", "../../c.py", "c.py"),
        ("a", "../../c.py", "c.py"),
        ("a//b/.", "./c.py", "a/b/c.py"),
        ("a", "", "a"),
        (".", ".", "."),
    ],
)
def test_paths_are_put_together(folder: str, name: str, path: str) -> None:
    assert join(folder, name) == path
