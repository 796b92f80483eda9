"""supervisord: programs, each process with a socket of its own unless it is a fcgi-program."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sselint.facts import Rolling
from sselint.find import kind_of
from tests.read.texts import numbers, only_pool, pools_of, reading_of, workers

HEAD = "[supervisord]\nnodaemon=true\n\n"


@pytest.mark.parametrize(
    ("body", "processes", "inner"),
    [
        ("command=uvicorn app:app --port 8000\n", (1, 1), (1, 1)),
        ("command=uvicorn app:app --workers 4 ; four\n", (1, 1), (4, 4)),
        ("command=uvicorn app:app --port 80%(process_num)02d\nnumprocs=3\nprocess_name=a\n", (3, 3), (1, 1)),
        ("command = uvicorn app:app\nnumprocs = %(ENV_N)s\n", (1, None), (1, 1)),
        ("command=gunicorn -w %(ENV_WORKERS)s app:app\n", (1, 1), (1, None)),
        ("command=gunicorn\n    -w 2\n    app:app\n", (1, 1), (2, 2)),
        ('command=gunicorn app:app\nenvironment=WEB_CONCURRENCY="5",A=b\n', (1, 1), (5, 5)),
    ],
)
def test_programs(body: str, processes: tuple[int, int | None], inner: tuple[int, int | None]) -> None:
    pool = only_pool({"supervisord.conf": f"{HEAD}[program:web]\n{body}"})
    assert (numbers(pool.processes), workers(pool)) == (processes, inner)
    assert (pool.name, pool.kind, pool.rolling) == ("supervisord program web", "replicas", Rolling.REPLACED)


def test_programs_of_one_socket_are_workers() -> None:
    text = "[fcgi-program:web]\nsocket=tcp://localhost:9000\ncommand=uvicorn --fd 0 app:app\nnumprocs=4\n"
    pool = only_pool({"s.conf": text})
    assert (pool.kind, numbers(pool.processes)) == ("workers", (4, 4))


def test_only_what_serves() -> None:
    text = f"{HEAD}[program:web]\ncommand=uvicorn app:app\n[program:nginx]\ncommand=nginx -g 'daemon off;'\n"
    assert set(pools_of({"supervisord.conf": text}, "supervisord")) == {"supervisord program web"}


def test_a_comment_is_no_value() -> None:
    text = "[program:web]\n; command=gunicorn -w 9 app:app\ncommand=uvicorn app:app\n;numprocs=9\n"
    pool = only_pool({"s.conf": text})
    assert (pool.starts, numbers(pool.processes), pool.line) == ("app:app", (1, 1), 3)


@pytest.mark.parametrize("text", ["[program:x]\n", "[section]\ncommand=uvicorn app:app\n", "[tool.x]\ncommand = 1\n"])
def test_what_is_none(text: str) -> None:
    assert kind_of("some.conf", text) is None


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="[]program:=\n ;#%()s\"'\\a1,", max_size=80))
def test_damaged_text_raises_nothing(text: str) -> None:
    reading_of({"s.conf": f"[program:w]\ncommand=uvicorn a:b\n{text}"}, "supervisord")
