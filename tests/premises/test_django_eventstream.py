"""What django-eventstream does when a client comes back to another process: the premises of
rules/python/django_eventstream.yaml. Two processes share a database, and no Redis fans events out."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests import proxies
from tests.premises.answers import Answer, ask

pytestmark = pytest.mark.premises

SERVERS = Path(__file__).parent / "sdks"


@contextmanager
def fleet(folder: Path, stored: bool) -> Iterator[tuple[int, int]]:
    """Two processes on one database; with `stored`, events are kept in it."""
    environment = {"DATABASE": str(folder / "events.db"), **({"STORED": "1"} if stored else {})}
    migrate = [sys.executable, "django_app.py", "migrate"]
    migration = proxies.start(migrate, folder / "log", cwd=SERVERS, environment=environment)
    try:
        assert migration.wait(60) == 0, (folder / "log").read_text()
    finally:
        proxies.stop(migration)
    with ExitStack() as stack:
        found = []
        for _ in "AB":
            port = proxies.free_port()
            command = [sys.executable, "-m", "uvicorn", "--port", str(port), "--lifespan", "off", "django_app:app"]
            log = folder / f"{port}.log"
            stack.enter_context(proxies.running(command, port, log, cwd=SERVERS, environment=environment))
            found.append(port)
        yield found[0], found[1]


@pytest.fixture(scope="module")
def ports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, int]]:
    with fleet(tmp_path_factory.mktemp("django"), stored=True) as found:
        yield found


def send(port: int, text: str) -> None:
    assert ask(port, f"/send?text={text}").status == 200


def listen(port: int, cursor: str | None = None, *, seconds: float = 1.5, until: str | None = None) -> Answer:
    return ask(port, "/events/", {"Last-Event-ID": cursor} if cursor else {}, seconds=seconds, until=until)


class Listener(threading.Thread):
    """A client that listens until it receives `until`."""

    def __init__(self, port: int, until: str) -> None:
        super().__init__()
        self.port, self.until = port, until
        self.answer: Answer | None = None
        self.start()
        time.sleep(0.7)

    def run(self) -> None:
        self.answer = listen(self.port, seconds=15, until=self.until)

    def heard(self) -> Answer:
        self.join()
        assert self.answer is not None
        return self.answer


def news(answer: Answer, *prefixes: str) -> list[str]:
    return [text for text in answer.data if text.startswith(prefixes)]


def test_stored_events_are_replayed_by_any_process(ports: tuple[int, int]) -> None:
    listener = Listener(ports[0], "r1")
    send(ports[0], "r1")
    cursor = listener.heard().ids[-1]
    send(ports[0], "r2")
    answer = listen(ports[1], cursor)
    assert (answer.status, news(answer, "r")) == (200, ["r2"])


def test_a_process_tells_its_clients_only_of_what_it_sent_itself(ports: tuple[int, int]) -> None:
    """And the cursor of the next event of its own jumps over what the other process sent: lost for good."""
    listener = Listener(ports[0], "a3")
    send(ports[0], "a1")
    send(ports[1], "b2")
    send(ports[0], "a3")
    heard = listener.heard()
    assert news(heard, "a", "b") == ["a1", "a3"]
    later = listen(ports[1], heard.ids[-1])
    assert news(later, "a", "b") == []


def test_an_id_that_the_database_does_not_know_is_answered_by_a_reset(ports: tuple[int, int]) -> None:
    """Refused in band, with 200: an explicit `stream-reset` names the channel."""
    send(ports[0], "x")
    answer = listen(ports[1], "news:999999")
    assert answer.status == 200
    assert "stream-reset" in answer.fields("event")


def test_a_malformed_id_is_refused_before_the_response(ports: tuple[int, int]) -> None:
    answer = listen(ports[1], "nonsense")
    assert answer.fields("event") == ["stream-error"]
    assert "Invalid" in answer.body


def test_without_a_storage_no_id_is_on_the_wire(tmp_path: Path) -> None:
    with fleet(tmp_path, stored=False) as (a, _):
        listener = Listener(a, "a1")
        send(a, "a1")
        heard = listener.heard()
    assert news(heard, "a") == ["a1"]
    assert heard.ids == []
