"""Procfiles: the process types that serve."""

from __future__ import annotations

import pytest

from sselint.find import kind_of
from tests.read.texts import numbers, only_pool, pools_of, workers


def test_web_with_workers() -> None:
    pool = only_pool({"Procfile": "release: alembic upgrade head\nweb: gunicorn -w 4 app:app\nworker: celery -A app\n"})
    assert (pool.name, pool.starts, pool.line) == ("process type web", "app:app", 2)
    assert (numbers(pool.processes), workers(pool)) == ((1, 1), (4, 4))


def test_a_web_process_of_ones_own_serves_too() -> None:
    pool = only_pool({"Procfile": "web: python server.py\n"})
    assert (pool.starts, workers(pool)) == ("server.py", (1, 1))


def test_another_type_that_starts_a_server() -> None:
    found = pools_of(
        {"Procfile": "web: uvicorn app:app\nstream: uvicorn feed:app --workers 2\nclock: python clock.py\n"}
    )
    assert set(found) == {"process type web", "process type stream"}
    assert workers(found["process type stream"]) == (2, 2)


def test_the_platform_sets_the_number() -> None:
    assert workers(only_pool({"Procfile": "web: gunicorn -w ${WEB_CONCURRENCY:-3} app:app\n"})) == (3, 3)
    assert workers(only_pool({"Procfile": "web: gunicorn -w $WEB_CONCURRENCY app:app\n"})) == (1, None)


@pytest.mark.parametrize(
    ("app", "expected"),
    [
        ('{"formation": {"web": {"quantity": 3, "size": "basic"}}}', (3, 3)),
        ('{"formation": {"worker": {"quantity": 3}}}', (1, 1)),
        ('{"formation": {"web": {"size": "basic"}}}', (1, 1)),
        ('{"formation": [1]}', (1, 1)),
        ("[]", (1, 1)),
        ("{", (1, 1)),
    ],
)
def test_the_formation_beside_it(app: str, expected: tuple[int, int]) -> None:
    pool = only_pool({"api/Procfile": "web: uvicorn app:app --workers 2\n", "api/app.json": app})
    assert (numbers(pool.processes), workers(pool)) == (expected, (2, 2))


@pytest.mark.parametrize(("path", "text"), [("Procfile", "nothing\n"), ("notes.txt", "web: uvicorn app:app\n")])
def test_what_is_none(path: str, text: str) -> None:
    assert kind_of(path, text) is None
