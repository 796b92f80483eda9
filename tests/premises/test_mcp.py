"""What the MCP SDK does with a cursor that another process handed out: the premises of rules/python/mcp.yaml.

Two processes A and B serve the same application. A client starts a tool at A that reports four steps and then a result,
is cut off after the second step, and comes back to B, where another client's tool has run to its end.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import proxies
from tests.premises.answers import Answer
from tests.premises.sdks.mcp_client import McpClient, words

pytestmark = pytest.mark.premises

SERVERS = Path(__file__).parent / "sdks"
STEPS = 4


@dataclass(frozen=True)
class Fleet:
    """The ports of the two processes."""

    a: int
    b: int


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    folder = tmp_path_factory.mktemp("mcp")
    with ExitStack() as stack:
        ports = []
        for name in ("A", "B"):
            port = proxies.free_port()
            command = [sys.executable, "-m", "uvicorn", "--port", str(port), "--no-access-log", "mcp_app:app"]
            environment = {"NAME": name, "DATABASE": str(folder / "events.db")}
            log = folder / f"{name}.log"
            stack.enter_context(proxies.running(command, port, log, cwd=SERVERS, environment=environment))
            ports.append(port)
        yield Fleet(*ports)


def cut_off(fleet: Fleet, path: str) -> tuple[McpClient, McpClient, str | None]:
    """The client that lost its stream to A, the other one that is done at B, and the last id that the first one saw."""
    mine, other = McpClient(fleet.a, f"/{path}/", "mine"), McpClient(fleet.b, f"/{path}/", "other")
    for client in (mine, other):
        assert client.initialize().status == 200
    assert words(other.call(STEPS))[-1] == "B:other:done"
    stream = mine.call(STEPS, until="A:mine:2")
    assert stream.status == 200
    assert "A:mine:2" in words(stream)
    ids = stream.ids
    return mine, other, ids[-1] if ids else None


def at_home(mine: McpClient, cursor: str) -> list[str]:
    """The control: what A itself continues with."""
    time.sleep(0.7)
    return words(mine.resume(mine.port, cursor))


REST = ["A:mine:3", "A:mine:4", "A:mine:done"]


# -- the stock session manager


def test_a_stateful_manager_answers_404_before_it_reads_the_cursor(fleet: Fleet) -> None:
    """B has an event of that very number, and even so does not continue with it."""
    mine, other, cursor = cut_off(fleet, "stateful")
    assert cursor is not None
    assert mine.resume(fleet.b, cursor).status == 404
    assert mine.resume(fleet.b, "no such id").status == 404
    again = other.call(2, number=2)
    assert int(cursor) <= int(again.ids[-1]), "B has an event of that number"
    assert words(other.resume(fleet.b, again.ids[0])) == ["B:other:2", "B:other:done"]
    assert at_home(mine, cursor) == REST


def test_a_stateful_manager_wants_a_session(fleet: Fleet) -> None:
    mine, _, cursor = cut_off(fleet, "stateful")
    mine.session = None
    assert mine.resume(fleet.b, cursor).status == 400


def test_a_shared_store_does_not_make_a_stateful_manager_resume_elsewhere(fleet: Fleet) -> None:
    """Loud, not policy 1: the session lives in the memory of A."""
    mine, _, cursor = cut_off(fleet, "stateful-shared")
    assert cursor is not None
    assert mine.resume(fleet.b, cursor).status == 404
    assert at_home(mine, cursor) == REST


def test_an_unknown_id_in_a_known_session_is_an_empty_200(fleet: Fleet) -> None:
    """`replay_events_after` returns None: the response has begun, and there is nothing to say."""
    _, other, _ = cut_off(fleet, "stateful")
    assert_empty(other.resume(fleet.b, "999999"))


def test_json_answers_carry_no_ids(fleet: Fleet) -> None:
    client = McpClient(fleet.a, "/json/", "mine")
    client.initialize()
    answer = client.call(1)
    assert answer.headers["content-type"].startswith("application/json")
    assert "A:mine:done" in answer.body


def test_stateless_drops_the_store(fleet: Fleet) -> None:
    """No session is issued and no id is on the wire: policy 3, whatever store was passed."""
    client = McpClient(fleet.a, "/stateless/", "mine")
    client.initialize()
    assert client.session is None
    stream = client.call(STEPS, until="A:mine:2")
    assert "A:mine:2" in words(stream)
    assert stream.ids == []
    assert client.resume(fleet.b, "1").status == 500


def test_the_revision_without_sessions_refuses_a_get(fleet: Fleet) -> None:
    client = McpClient(fleet.a, "/stateful/", "mine", revision="2026-07-28")
    assert client.resume(fleet.a, "1").status == 405


def test_a_priming_event_comes_with_a_store_and_a_recent_revision(fleet: Fleet) -> None:
    primed = {}
    for revision in ("2025-06-18", "2025-11-25"):
        client = McpClient(fleet.a, "/stateful-shared/", "mine", revision=revision)
        client.initialize()
        primed[revision] = client.call(1).data[0] == ""
    assert primed == {"2025-06-18": False, "2025-11-25": True}


# -- a transport that requests share: nothing is asked before the cursor


def test_a_shared_transport_continues_with_the_result_of_another_client(fleet: Fleet) -> None:
    mine, _, cursor = cut_off(fleet, "direct")
    assert cursor is not None
    foreign = mine.resume(fleet.b, cursor)
    assert foreign.status == 200
    assert words(foreign)[-1] == "B:other:done"
    assert at_home(mine, cursor)[-1] == "A:mine:done"


@pytest.mark.parametrize("path", ["direct", "direct-raising"])
def test_returning_none_and_raising_are_both_an_empty_200(fleet: Fleet, path: str) -> None:
    mine, _, _ = cut_off(fleet, path)
    assert_empty(mine.resume(fleet.b, "999999"))


def test_raising_for_unknown_ids_does_not_help_when_ids_overlap(fleet: Fleet) -> None:
    mine, _, cursor = cut_off(fleet, "direct-raising")
    assert words(mine.resume(fleet.b, cursor))[-1] == "B:other:done"


def test_replaying_all_for_unknown_ids_gives_the_history_of_others(fleet: Fleet) -> None:
    mine, _, _ = cut_off(fleet, "direct-replaying-all")
    answer = mine.resume(fleet.b, "999999")
    assert answer.status == 200
    assert {"B:other:1", "B:other:done"} <= set(words(answer))


def test_a_shared_store_without_a_shared_live_tail_never_delivers_the_rest(fleet: Fleet) -> None:
    """B replays what is stored when the client comes, and then waits for messages of its own."""
    mine, _, cursor = cut_off(fleet, "direct-shared")
    assert cursor is not None
    answer = mine.resume(fleet.b, cursor, seconds=2.5)
    assert (answer.status, answer.ended) == (200, "open")
    assert "A:mine:done" not in words(answer)
    assert words(mine.resume(fleet.b, cursor))[-1] == "A:mine:done", "it was stored, and B could have read it"


# -- a manager that takes over the sessions it does not know


def test_adoption_with_numbers_continues_with_the_result_of_another_client(fleet: Fleet) -> None:
    mine, _, cursor = cut_off(fleet, "adopting")
    answer = mine.resume(fleet.b, cursor)
    assert answer.status == 200
    assert words(answer)[-1] == "B:other:done"


def test_adoption_with_random_ids_is_an_empty_200(fleet: Fleet) -> None:
    mine, _, cursor = cut_off(fleet, "adopting-random")
    assert_empty(mine.resume(fleet.b, cursor))


def test_adoption_without_a_store_has_no_ids(fleet: Fleet) -> None:
    mine, _, cursor = cut_off(fleet, "adopting-without-store")
    assert cursor is None
    assert mine.resume(fleet.b, "1").ids == []


def assert_empty(answer: Answer) -> None:
    """200, nothing, and the end."""
    assert (answer.status, words(answer), answer.ended) == (200, [], "complete")
