"""gunicorn's settings files: little programs that are read and never run."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sselint.find import kind_of
from sselint.read import gunicorn
from tests.read.texts import numbers, only_pool, reading_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("workers = 4\n", (4, 4)),
        ("workers: int = 2\n", (2, 2)),
        ("import multiprocessing\nworkers = multiprocessing.cpu_count() * 2 + 1\n", (3, None)),
        ("from os import environ\nworkers = int(environ.get('WEB_CONCURRENCY', '3'))\n", (3, 3)),
        ("import os\nworkers = os.environ['N']\n", (1, None)),
        ("import os\nN = os.getenv('N')\nworkers = int(N) if N else 2\n", (1, None)),
        ("import os\nworkers = min(4, os.cpu_count() or 1)\n", (1, 4)),
        ("cores = 2\nworkers = cores * 2\n", (4, 4)),
        ("import os\nif os.getenv('PROD'):\n    workers = 8\nelse:\n    workers = 1\n", (1, 8)),
        ("import os\nworkers = 2\nif os.getenv('PROD'):\n    workers = 8\n", (2, 8)),
        ("workers = 2\nworkers += 1\n", (3, 3)),
        ("bind = '0.0.0.0:80'\nthreads = 8\n", (1, 1)),
        ("workers = load('workers.json')\n", (1, None)),
    ],
)
def test_how_many_workers(text: str, expected: tuple[int, int | None]) -> None:
    pool = only_pool({"gunicorn.conf.py": text})
    assert (numbers(pool.processes), pool.kind) == (expected, "workers")


def test_the_environment_of_who_starts_it() -> None:
    text = "import os\nworkers = int(os.environ.get('N', 2))\n"
    found = gunicorn.settings(text, {"N": "6"})
    assert found is not None
    assert numbers(found.workers) == (6, 6)


def test_the_place_is_the_assignment() -> None:
    pool = only_pool({"conf/gunicorn.conf.py": "bind = ':80'\n\nworkers = 4\n"})
    assert (pool.path, pool.line) == ("conf/gunicorn.conf.py", 3)


def test_braces_in_it_are_python() -> None:
    """No template masks them."""
    text = "from string import Template\nlogconfig_dict = {'a': {'b': '{{ x }}'}}\nworkers = 4\n"
    assert numbers(only_pool({"gunicorn.conf.py": text}).processes) == (4, 4)


def test_the_application_may_stand_in_it() -> None:
    assert only_pool({"gunicorn.conf.py": "wsgi_app = 'app:app'\nworkers = 2\n"}).starts == "app:app"


@pytest.mark.parametrize(
    ("path", "text"),
    [("app.py", "workers = 4\n"), ("tasks.py", "from celery import Celery\nworkers = Celery()\n")],
)
def test_other_python_is_none(path: str, text: str) -> None:
    assert kind_of(path, text) is None


@pytest.mark.parametrize("text", ["workers = (\n", "workers = " + "(" * 400 + "1", "\0", "workers = 1 if", "def f(:\n"])
def test_damaged_text_is_reported(text: str) -> None:
    reading = reading_of({"gunicorn.conf.py": text})
    assert [f.outcome.value for f in reading.files] == ["partly"]


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="workers=()[]{}+-*/0123456789 \n'\".ifelse", max_size=60))
def test_no_text_raises(text: str) -> None:
    reading_of({"gunicorn.conf.py": text})
