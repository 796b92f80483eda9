"""When does a refusal still become a status? The paper run (sselint/read/python) knows the answer as rules; here real
servers give it. The servers are in `begins/`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests import proxies
from tests.premises.answers import ask

pytestmark = pytest.mark.premises

SERVERS = Path(__file__).parent / "begins"

UVICORN = ("-m", "uvicorn", "--host", "127.0.0.1", "--no-access-log", "--lifespan", "off", "--port", "PORT")
GUNICORN = ("-m", "gunicorn", "--bind", "127.0.0.1:PORT")
COMMANDS: dict[str, Sequence[str]] = {
    "asgi": (*UVICORN, "asgi:app"),
    "starlette": (*UVICORN, "starlette_app:app"),
    "fastapi": (*UVICORN, "fastapi_app:app"),
    "flask under gunicorn sync": (*GUNICORN, "flask_app:app"),
    "flask under gunicorn gthread": (*GUNICORN, "--threads", "4", "flask_app:app"),
    "flask under werkzeug": ("flask_app.py", "PORT"),
    "wsgi under gunicorn": (*GUNICORN, "wsgi:app"),
    "django under asgi": (*UVICORN, "django_app:app"),
    "django under wsgi": (*GUNICORN, "django_app:application"),
    "sanic": ("sanic_app.py", "PORT"),
    "tornado": ("tornado_app.py", "PORT"),
    "aiohttp": ("aiohttp_app.py", "PORT"),
    "quart": (*UVICORN, "quart_app:app"),
    "litestar": (*UVICORN, "litestar_app:app"),
    "http.server": ("http_server.py", "PORT"),
}

ITS_OWN = (409, "complete")
CUT = (200, "aborted")
ERROR = (500, "complete")
WHOLE = (200, "complete")
GONE = (0, "refused")

CLAIMS: dict[str, dict[str, tuple[int, str]]] = {
    "asgi": {"handler": ITS_OWN, "raises": ERROR, "unsent": CUT, "sent": CUT},
    "starlette": {
        "handler": ITS_OWN, "mapped": ITS_OWN, "unsent": CUT, "sent": CUT, "mapped-unsent": CUT,
        "sse/unsent": CUT, "sse/sent": CUT, "sse/number": CUT,
    },
    "fastapi": {
        "handler": ITS_OWN, "dependency": ITS_OWN, "sse/dependency": ITS_OWN, "unsent": CUT, "sent": CUT,
        "sse/unsent": CUT, "sse/sent": CUT, "sse/number": CUT,
    },
    "flask under gunicorn sync": {
        "handler": ITS_OWN, "unsent": ERROR, "context/unsent": ERROR, "sent": CUT, "context/sent": CUT,
    },
    "flask under gunicorn gthread": {
        "handler": ITS_OWN, "unsent": ERROR, "context/unsent": ERROR, "sent": CUT, "context/sent": CUT,
    },
    "flask under werkzeug": {"handler": ITS_OWN, "unsent": ERROR, "context/unsent": ERROR, "sent": CUT},
    "wsgi under gunicorn": {"handler": ITS_OWN, "unsent": ERROR, "sent": CUT},
    "django under asgi": {"handler": ITS_OWN, "unsent": CUT, "sent": CUT, "async/unsent": CUT, "async/sent": CUT},
    "django under wsgi": {"handler": ITS_OWN, "unsent": ERROR, "sent": CUT, "async/unsent": ERROR},
    "sanic": {"handler": ITS_OWN, "unsent": ITS_OWN, "sent": WHOLE},
    "tornado": {"handler": ITS_OWN, "unsent": ITS_OWN, "sent": WHOLE},
    "aiohttp": {
        "handler": ITS_OWN, "made": ITS_OWN, "unsent": CUT, "sent": CUT, "sse/unsent": CUT, "sse/sent": CUT,
    },
    "quart": {"handler": ITS_OWN, "unsent": CUT, "sent": CUT},
    "litestar": {"handler": ITS_OWN, "unsent": CUT, "sent": CUT, "sse/unsent": CUT, "sse/sent": CUT},
    "http.server": {"handler": ITS_OWN, "made": GONE, "unsent": WHOLE, "sent": WHOLE},
}  # fmt: skip

LOST = {
    ("fastapi", "sse/sent"),  # fastapi.sse runs ahead of what it sends, and drops that when the generator raises
    ("django under asgi", "sent"),  # under ASGI, Django runs a synchronous generator to its end before it sends
}
"""Where a frame that was yielded before the refusal never arrives."""


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, int]]:
    """The port of each server that was started; `port_of` starts them when a test first needs one."""
    with ExitStack() as stack:
        ports = _Started(stack, tmp_path_factory.mktemp("begins"))
        yield ports


class _Started(dict[str, int]):
    def __init__(self, stack: ExitStack, folder: Path) -> None:
        super().__init__()
        self.stack, self.folder = stack, folder

    def __missing__(self, server: str) -> int:
        port = proxies.free_port()
        words = [word.replace("PORT", str(port)) for word in COMMANDS[server]]
        log = self.folder / f"{port}.log"
        self.stack.enter_context(proxies.running([sys.executable, *words], port, log, cwd=SERVERS))
        self[server] = port
        return port


@pytest.mark.parametrize("server", COMMANDS)
def test_when_the_response_has_begun(server: str, started: dict[str, int]) -> None:
    answers = {path: ask(started[server], f"/{path}", {"Last-Event-ID": "7"}) for path in CLAIMS[server]}
    assert {path: (a.status, a.ended) for path, a in answers.items()} == CLAIMS[server]
    arrived = {path: answer.ids for path, answer in answers.items() if path.rpartition("/")[2] == "sent"}
    assert arrived == {path: [] if (server, path) in LOST else ["1"] for path in arrived}
