"""systemd: service units, and templates that stand for any number of instances."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sselint.find import kind_of
from tests.read.texts import numbers, only_pool, reading_of, workers


def unit(start: str, more: str = "") -> str:
    return f"[Unit]\nDescription=feed\n\n[Service]\n{more}ExecStart={start}\n\n[Install]\nWantedBy=multi-user.target\n"


@pytest.mark.parametrize(
    ("path", "text", "processes", "inner"),
    [
        ("feed.service", unit("/srv/venv/bin/uvicorn app:app"), (1, 1), (1, 1)),
        ("feed.service", unit("/srv/venv/bin/uvicorn app:app --workers 4"), (1, 1), (4, 4)),
        ("feed.service", unit("-/usr/bin/env gunicorn -w 2 app:app"), (1, 1), (2, 2)),
        ("feed.service", unit("gunicorn \\\n  -w 2 \\\n  app:app"), (1, 1), (2, 2)),
        ("feed.service", unit("gunicorn app:app", 'Environment="WEB_CONCURRENCY=3" A=b\n'), (1, 1), (3, 3)),
        ("feed@.service", unit("uvicorn app:app --port %i"), (1, None), (1, 1)),
        ("feed.service", unit("uvicorn app:app --port 80%i"), (1, None), (1, 1)),
    ],
)
def test_units(path: str, text: str, processes: tuple[int, int | None], inner: tuple[int, int | None]) -> None:
    pool = only_pool({f"deploy/{path}": text})
    assert (numbers(pool.processes), workers(pool), pool.starts) == (processes, inner, "app:app")


def test_an_environment_file_leaves_the_environment_open() -> None:
    assert only_pool({"a.service": unit("uvicorn app:app", "Environment=A=1\n")}).settles_environment
    assert not only_pool({"a.service": unit("uvicorn app:app", "EnvironmentFile=/etc/a\n")}).settles_environment


def test_the_working_directory() -> None:
    assert (
        only_pool({"a.service": unit("uvicorn app:app", "WorkingDirectory=/srv/feed\n")}).app_directory == "/srv/feed"
    )


def test_a_unit_that_serves_nothing() -> None:
    assert reading_of({"a.service": unit("/usr/sbin/nginx -g 'daemon off;'")}, "systemd").pools == ()


@pytest.mark.parametrize("text", ["[Service]\nType=simple\n", "[Unit]\nDescription=x\n", "ExecStart=uvicorn app:app\n"])
def test_what_is_none(text: str) -> None:
    assert kind_of("a.service", text) is None


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="[]Service=\n \\#;%i\"'a1", max_size=80))
def test_damaged_text_raises_nothing(text: str) -> None:
    reading_of({"a.service": f"[Service]\nExecStart=uvicorn a:b\n{text}"}, "systemd")
