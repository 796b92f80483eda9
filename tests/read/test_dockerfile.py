"""Dockerfiles: what the last stage leaves behind for the container."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sselint.facts import Rolling
from sselint.find import kind_of
from tests.read.texts import numbers, only_pool, workers


@pytest.mark.parametrize(
    ("text", "starts", "expected"),
    [
        ('FROM python\nCMD ["uvicorn", "app:app"]\n', "app:app", (1, 1)),
        ('FROM python\nCMD ["uvicorn", "app:app", "--workers", "4"]\n', "app:app", (4, 4)),
        ("FROM python\nCMD uvicorn app:app --workers 4\n", "app:app", (4, 4)),
        ("FROM python\nCMD exec gunicorn -w 2 \\\n  # how many\n  app:app\n", "app:app", (2, 2)),
        ('FROM python\nENTRYPOINT ["gunicorn"]\nCMD ["-w", "3", "app:app"]\n', "app:app", (3, 3)),
        ("FROM python\nENV WEB_CONCURRENCY=4\nCMD uvicorn app:app\n", "app:app", (4, 4)),
        ("FROM python\nENV WEB_CONCURRENCY 4\nCMD uvicorn app:app\n", "app:app", (4, 4)),
        ("FROM python\nARG N=5\nENV WORKERS=$N\nCMD uvicorn app:app --workers $WORKERS\n", "app:app", (5, 5)),
        ("FROM python AS base\nENV WEB_CONCURRENCY=2\nFROM base\nCMD uvicorn app:app\n", "app:app", (2, 2)),
        ("from python\ncmd uvicorn app:app --workers 2\n", "app:app", (2, 2)),
        ("FROM python\r\nCMD uvicorn app:app --workers 2\r\n", "app:app", (2, 2)),
        # Images that start a server by themselves.
        ("FROM tiangolo/uvicorn-gunicorn-fastapi:python3.11\nCOPY ./app /app/app\n", "app.main:app", (1, None)),
        ("FROM tiangolo/uvicorn-gunicorn:latest\nENV WEB_CONCURRENCY=2\n", "app.main:app", (2, 2)),
        ("FROM tiangolo/uvicorn-gunicorn\nENV MODULE_NAME=shop\nCMD uvicorn x:app\n", "x:app", (1, 1)),
        # A stage that the last one is not built from leaves nothing behind, and neither does an earlier CMD.
        ("FROM python AS test\nENV WEB_CONCURRENCY=9\nFROM python\nCMD uvicorn app:app\n", "app:app", (1, 1)),
        ("FROM python\nCMD uvicorn app:app --workers 9\nCMD uvicorn app:app\n", "app:app", (1, 1)),
        (
            "FROM python\nRUN uvicorn app:app --workers 9\nCMD uvicorn app:app\n",
            "app:app",
            (1, 1),
        ),
        ('FROM python\nCMD ["gunicorn", "-w", "9", "app:app"]\nENTRYPOINT ["uvicorn", "app:app"]\n', "app:app", (1, 1)),
    ],
)
def test_what_a_container_starts(text: str, starts: str, expected: tuple[int, int | None]) -> None:
    pool = only_pool({"api/Dockerfile": text})
    assert (pool.starts, workers(pool)) == (starts, expected)
    assert (pool.build_context, pool.dockerfile) == ("api", "api/Dockerfile")
    assert numbers(pool.processes) == (1, 1)
    assert pool.rolling is Rolling.REPLACED


def test_the_place_is_the_command() -> None:
    pool = only_pool({"Dockerfile": "FROM python\n\nWORKDIR /srv\nCMD uvicorn app:app\n"})
    assert (pool.path, pool.line) == ("Dockerfile", 4)


def test_a_script_beside_it_is_read() -> None:
    files = {
        "Dockerfile": 'FROM python\nWORKDIR /app\nCOPY . .\nENTRYPOINT ["/app/start.sh"]\n',
        "start.sh": "#!/bin/sh\nexec uvicorn app:app --workers 4\n",
    }
    assert workers(only_pool(files)) == (4, 4)


def test_a_here_document_is_not_an_instruction() -> None:
    text = "FROM python\nRUN <<EOF\nCMD uvicorn other:app --workers 9\nEOF\nCMD uvicorn app:app\n"
    assert only_pool({"Dockerfile": text}).starts == "app:app"


@pytest.mark.parametrize("path", ["Dockerfile", "api.Dockerfile", "Dockerfile.prod", "docker/api", "Containerfile"])
def test_recognised_by_what_it_contains(path: str) -> None:
    assert kind_of(path, "# syntax=docker/dockerfile:1\nFROM python:3.12-slim\nCMD python app.py\n") == "dockerfile"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("Dockerfile", "RUN pip install\n"),
        ("notes.txt", "FROM the start it was slow\nRUN faster\n"),
        ("query.txt", "SELECT *\nFROM events\nWHERE id > 3\n"),
        ("migrate", "UPDATE spans SET a = 1\nFROM events\nADD COLUMN x\n"),
        ("migrate.py", "FROM python\nCMD uvicorn app:app\n"),
    ],
)
def test_what_is_none(path: str, text: str) -> None:
    assert kind_of(path, text) is None


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="FROMCDENV \n\\\"'[]<=$#{}aA1", max_size=80))
def test_damaged_text_raises_nothing(text: str) -> None:
    only_pool({"Dockerfile": "FROM x\n" + text})


@pytest.mark.parametrize(
    ("written", "starts"),
    [("/app/server.py", "server.py"), ("/srv/deep/jobs/run.py", "jobs/run.py"), ("/opt/other.py", "/opt/other.py")],
)
def test_a_script_by_its_path_in_the_image(written: str, starts: str) -> None:
    files = {"api/Dockerfile": f"FROM python\nCMD python {written}\n", "api/server.py": "", "api/jobs/run.py": ""}
    assert only_pool(files, "dockerfile").starts == starts


def test_a_variable_that_doubles_is_ended() -> None:
    """After forty lines it is longer than any memory, and unknown to whatever uses it."""
    doubled = "".join(f"ENV A{i}=$A{i - 1}$A{i - 1}\n" for i in range(1, 41))
    pool = only_pool({"Dockerfile": f"FROM python\nENV A0=11\n{doubled}CMD uvicorn app:app --workers $A40\n"})
    assert workers(pool) == (1, None)
    assert max(len(setting.value or "") for setting in pool.environment) <= 1 << 16
    few = only_pool({"Dockerfile": "FROM python\nENV A0=1\nENV A1=$A0$A0\nCMD uvicorn app:app --workers $A1\n"})
    assert workers(few) == (11, 11)
