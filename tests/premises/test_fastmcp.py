"""What FastMCP does with a cursor that another process handed out: the premises of rules/python/fastmcp.yaml."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests import proxies
from tests.premises.sdks.mcp_client import McpClient, words

pytestmark = pytest.mark.premises

SERVERS = Path(__file__).parent / "sdks"
STEPS = 4


@pytest.fixture(scope="module")
def ports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, int]]:
    """Two processes of one application that share a folder."""
    folder = tmp_path_factory.mktemp("fastmcp")
    (folder / "events").mkdir()
    with ExitStack() as stack:
        found = []
        for name in ("A", "B"):
            port = proxies.free_port()
            command = [sys.executable, "-m", "uvicorn", "--port", str(port), "--no-access-log", "fastmcp_app:app"]
            environment = {"NAME": name, "FOLDER": str(folder / "events")}
            log = folder / f"{name}.log"
            stack.enter_context(proxies.running(command, port, log, cwd=SERVERS, environment=environment))
            found.append(port)
        yield found[0], found[1]


def cut_off(ports: tuple[int, int], path: str) -> tuple[McpClient, str | None]:
    """The client that lost its stream to A after the second step, and the last id that it saw."""
    mine, other = (McpClient(port, f"/{path}/", label) for port, label in zip(ports, ("mine", "other"), strict=True))
    for client in (mine, other):
        assert client.initialize().status == 200
    assert words(other.call(STEPS))[-1] == "B:other:done"
    stream = mine.call(STEPS, until="A:mine:2")
    assert stream.status == 200
    return mine, stream.ids[-1] if stream.ids else None


@pytest.mark.parametrize("path", ["memory", "shared"])
def test_another_process_answers_404_whatever_the_store(ports: tuple[int, int], path: str) -> None:
    """A store on a disk that both share is no policy 1: sessions are in memory, and each has a prefix of its own."""
    mine, cursor = cut_off(ports, path)
    assert cursor is not None
    assert mine.resume(ports[1], cursor).status == 404
    time.sleep(0.5)
    assert words(mine.resume(ports[0], cursor)) == ["A:mine:3", "A:mine:4", "A:mine:done"]


def test_a_session_of_its_own_does_not_reach_events_of_others(ports: tuple[int, int]) -> None:
    """The store of all processes holds the event, and the prefix of the session keeps it away."""
    _, cursor = cut_off(ports, "shared")
    third = McpClient(ports[1], "/shared/", "third")
    third.initialize()
    answer = third.resume(ports[1], cursor)
    assert (answer.status, words(answer), answer.ended) == (200, [], "complete")


def test_stateless_has_no_ids_and_refuses_a_get(ports: tuple[int, int]) -> None:
    mine, cursor = cut_off(ports, "stateless")
    assert (mine.session, cursor) == (None, None)
    assert [mine.resume(port, "1").status for port in ports] == [405, 405]


def test_the_environment_makes_it_stateless_where_the_argument_is_left_out(tmp_path: Path) -> None:
    port = proxies.free_port()
    command = [sys.executable, "-m", "uvicorn", "--port", str(port), "--no-access-log", "fastmcp_app:app"]
    environment = {"NAME": "A", "FOLDER": str(tmp_path), "FASTMCP_STATELESS_HTTP": "true"}
    with proxies.running(command, port, tmp_path / "log", cwd=SERVERS, environment=environment):
        client = McpClient(port, "/plain/", "mine")
        assert client.initialize().status == 200
        assert client.session is None
        assert client.resume(port, "1").status == 405
