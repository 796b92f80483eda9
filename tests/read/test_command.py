"""Command lines: the server that they start, its application, and how many processes answer behind its socket.

Every number here is the server's own documented behaviour (`source` in rules/commands/servers.yaml).
"""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sselint.read import command
from sselint.read.command import Command

ANY = None
ONE = (1, 1)
UNKNOWN = (1, None)


def workers(found: Command) -> tuple[int, int | None] | None:
    return None if found.workers is None else (found.workers.low, found.workers.high)


def files(**texts: str) -> command.FindFile:
    known = {name.replace("__", "."): text for name, text in texts.items()}
    return lambda name: (name, known[name]) if name in known else None


@pytest.mark.parametrize(
    ("line", "starts", "expected"),
    [
        ("uvicorn app:app", "app:app", ONE),
        ("uvicorn app:app --workers 4", "app:app", (4, 4)),
        ("uvicorn --workers=4 shop.api:app", "shop.api:app", (4, 4)),
        ("uvicorn app:app --port 8000 --workers 1", "app:app", ONE),
        ("uvicorn --factory app:create_app --workers 2", "app:create_app", (2, 2)),
        ("python -m uvicorn app:app --workers 3", "app:app", (3, 3)),
        ("python3.12 -u -m uvicorn app:app", "app:app", ONE),
        ("gunicorn app", "app:application", ONE),
        ("gunicorn -w 3 app:app", "app:app", (3, 3)),
        ("gunicorn -w3 app:app", "app:app", (3, 3)),
        ("gunicorn -k uvicorn.workers.UvicornWorker -w 2 --bind 0.0.0.0:80 app:app", "app:app", (2, 2)),
        ("gunicorn app:app --threads 8", "app:app", ONE),
        ("hypercorn -w 2 app:app", "app:app", (2, 2)),
        ("granian --interface asgi app:app --workers 2", "app:app", (2, 2)),
        ("daphne -b 0.0.0.0 app.asgi:application", "app.asgi:application", ONE),
        ("sanic app.server --workers=4", "app.server:app", (4, 4)),
        ("fastapi run app/main.py --workers 4", "app/main.py", (4, 4)),
        ("flask --app shop run", "shop:app", ONE),
        ("uwsgi --http :80 --module app:app --processes 4", "app:app", (4, 4)),
        ("waitress-serve --port=80 app:app", "app:app", ONE),
        ("python server.py", "server.py", ANY),
        ("python -m shop.server", "shop.server", ANY),
        ("python manage.py runserver 0.0.0.0:8000", "manage.py", ONE),
        # Wrappers say nothing of the number.
        ("uv run --frozen uvicorn app:app --workers 2", "app:app", (2, 2)),
        ("poetry run gunicorn -w 2 app:app", "app:app", (2, 2)),
        ("exec tini -- gunicorn -w 2 app:app", "app:app", (2, 2)),
        ("opentelemetry-instrument python -m uvicorn app:app --workers 2", "app:app", (2, 2)),
        ("dumb-init /bin/sh -c 'uvicorn app:app --workers 2'", "app:app", (2, 2)),
        ("WORKERS=4 gunicorn -w $WORKERS app:app", "app:app", (4, 4)),
        ("cd backend && uvicorn app:app --workers 2", "app:app", (2, 2)),
        ("alembic upgrade head && exec uvicorn app:app --workers 2", "app:app", (2, 2)),
        ('if [ -n "$X" ]; then\n  gunicorn -w 2 app:app\nelse\n  gunicorn -w 8 app:app\nfi', "app:app", (2, 8)),
        # Numbers that are not written as one.
        ("uvicorn app:app --workers ${WORKERS:-4}", "app:app", (4, 4)),
        ("uvicorn app:app --workers $WORKERS", "app:app", UNKNOWN),
        ("gunicorn -w $(nproc) app:app", "app:app", UNKNOWN),
        ("gunicorn -w $(( $(nproc) * 2 + 1 )) app:app", "app:app", (3, None)),
        # Reloaders serve from one process, whatever is asked beside them.
        ("uvicorn app:app --reload --workers 4", "app:app", ONE),
        ("sanic app --fast", "app:app", UNKNOWN),
        # What only mentions a server starts none.
        ("pip install uvicorn gunicorn", None, ANY),
        ("echo uvicorn app:app --workers 4", None, ANY),
        ("pgrep -f gunicorn", None, ANY),
        ("celery -A app worker --concurrency 8", None, ANY),
        ("", None, ANY),
    ],
)
def test_what_a_line_starts(line: str, starts: str | None, expected: tuple[int, int | None] | None) -> None:
    found = command.read(line)
    assert (found.starts, workers(found)) == (starts, expected)


@pytest.mark.parametrize(
    ("line", "environment", "expected"),
    [
        ("uvicorn app:app", {"WEB_CONCURRENCY": "4"}, (4, 4)),
        ("uvicorn app:app", {"UVICORN_WORKERS": "3", "WEB_CONCURRENCY": "4"}, (3, 3)),
        ("uvicorn app:app --workers 2", {"WEB_CONCURRENCY": "4"}, (2, 2)),
        ("gunicorn app:app", {"WEB_CONCURRENCY": "3"}, (3, 3)),
        ("gunicorn app:app", {"GUNICORN_CMD_ARGS": "--workers=5 --bind=:80"}, (5, 5)),
        ("gunicorn -w 2 app:app", {"GUNICORN_CMD_ARGS": "--workers=5"}, (2, 2)),
        ("hypercorn app:app", {"WEB_CONCURRENCY": "4"}, ONE),
        ("daphne app:app", {"WEB_CONCURRENCY": "4"}, ONE),
        ("granian app:app", {"GRANIAN_WORKERS": "4"}, (4, 4)),
        ("uvicorn app:app", {"WEB_CONCURRENCY": None}, UNKNOWN),
        ("uvicorn app:app --workers $N", {"N": "6"}, (6, 6)),
        ("uvicorn app:app --workers ${N:-2}", {"N": "6"}, (6, 6)),
        ("uvicorn app:app --workers ${N:-2}", {"N": None}, UNKNOWN),
    ],
)
def test_what_the_environment_adds(
    line: str, environment: dict[str, str | None], expected: tuple[int, int | None]
) -> None:
    """WEB_CONCURRENCY is read by uvicorn and gunicorn, not by hypercorn or daphne."""
    assert workers(command.read(line, environment)) == expected


def test_an_application_that_the_environment_names() -> None:
    assert command.read("uvicorn", {"UVICORN_APP": "app:app"}).starts == "app:app"
    assert command.read("uvicorn x:y", {"UVICORN_APP": "app:app"}).starts == "x:y"
    assert command.read("flask run", {"FLASK_APP": "shop"}).starts == "shop:app"
    assert command.read("hypercorn", {"UVICORN_APP": "app:app"}).starts is None


def test_a_list_of_words_is_read_by_no_shell() -> None:
    assert workers(command.read(["uvicorn", "app:app", "--workers", "2", "&&", "gunicorn"])) == (2, 2)
    assert command.read(["sh", "-c", "cd /srv; uvicorn app:app --workers 2"]).starts == "app:app"


def test_a_word_that_a_template_makes_is_never_one_worker() -> None:
    """An empty word in its place would read as the default."""
    assert workers(command.read(["uvicorn", "app:app", "--workers", command.TEMPLATED])) == UNKNOWN


def test_the_directory_of_the_application() -> None:
    assert command.read("uvicorn --app-dir src app:app").app_directory == "src"
    assert command.read("gunicorn --chdir backend app:app").app_directory == "backend"
    assert command.read("cd api && uvicorn app:app").app_directory == "api"
    assert command.read("uvicorn app:app").app_directory is None


def test_a_script_of_the_tree_is_followed() -> None:
    start = files(start__sh='#!/bin/sh\nset -e\nexec gunicorn -w "${WORKERS:-3}" app:app "$@"\n')
    assert workers(command.read("./start.sh", {}, lambda n: start(n.removeprefix("./")))) == (3, 3)
    assert workers(command.read("bash start.sh", {"WORKERS": "5"}, start)) == (5, 5)


def test_an_entrypoint_script_that_starts_its_arguments() -> None:
    script = files(entry__sh='#!/bin/sh\npython manage.py migrate\nexec "$@"\n')
    assert workers(command.read(["sh", "entry.sh", "gunicorn", "-w", "4", "app:app"], {}, script)) == (4, 4)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("workers = 4\n", (4, 4)),
        ("import multiprocessing\nworkers = multiprocessing.cpu_count() * 2 + 1\n", (3, None)),
        ("bind = ':80'\n", ONE),
        ("import os\nworkers = int(os.environ.get('N', 2))\n", (2, 2)),
    ],
)
def test_gunicorn_reads_its_file(config: str, expected: tuple[int, int | None]) -> None:
    near = files(gunicorn__conf__py=config)
    assert workers(command.read("gunicorn app:app", {}, near)) == expected
    assert workers(command.read("gunicorn -c gunicorn.conf.py app:app", {}, near)) == expected
    assert workers(command.read("gunicorn -w 7 app:app", {}, near)) == (7, 7), "the command line overrides the file"


def test_a_file_that_is_named_and_not_there_leaves_the_number_open() -> None:
    """gunicorn.config.py is not loaded by itself, and a file that is named is."""
    assert workers(command.read("gunicorn -c /etc/gunicorn.py app:app")) == UNKNOWN
    near = files(gunicorn__config__py="workers = 9\n")
    assert workers(command.read("gunicorn app:app", {}, near)) == ONE


WORDS = st.sampled_from(
    [
        "uvicorn",
        "gunicorn",
        "sh",
        "-c",
        "python",
        "-m",
        "-w",
        "--workers",
        "4",
        "$N",
        "${N:-",
        "$(",
        "app:app",
        "'",
        '"',
        "&&",
        "(",
        ")",
        "exec",
        "if",
        "\\",
        "=",
        "A=b",
        "-",
        "--",
        "cd",
        "..",
        "[",
        "`",
        "$((",
        "|",
        ">",
        "\n",
    ]
)


@settings(max_examples=150, deadline=None)
@example("sh -c 'sh -c \"sh -c uvicorn")
@given(st.lists(WORDS | st.text(max_size=6), max_size=14).map(" ".join))
def test_damaged_lines_raise_nothing(line: str) -> None:
    found = command.read(line, {"N": None})
    assert found.workers is None or found.workers.low >= 1
    command.read(line.split(" "), {"N": "3"})
