"""The deployments of tests/executed, run: what a client receives that comes back to another process fits the verdict.

Two processes A and B. A client opens the stream on A, is cut off, and presents its last id to B while both go on
publishing; then to A, the control. The outcome must be the one that `expected.json` records, and the verdict there must
be the one for such an outcome.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.execution.browser import Browser, Following, outcome, publish, texts_of
from tests.execution.fleet import GUNICORN, SANIC, UVICORN, Replica, edge, redis, replicas
from tests.premises.sdks.mcp_client import McpClient

pytestmark = pytest.mark.execution

CASES = Path(__file__).parents[1] / "executed"

VERDICTS = {
    "clean": {"shared-replay"},
    "loud": {"loud"},
    "corrupt": {"corrupt", "latent"},
    "no ids": {"no-resumption"},
}
"""The verdicts that an outcome allows. One pod that would corrupt with two is latent."""


@dataclass(frozen=True)
class Server:
    """How a case is started, where events are published and where the stream is. `environment` is what its manifest
    sets; with `redis` a Redis runs beside it, whose address the variable of that name is given."""

    command: str
    publish: str
    stream: str
    redis: str = ""
    environment: tuple[tuple[str, str], ...] = ()


REDIS_URL = "REDIS_URL"

SERVERS = {
    "01_starlette_journal_in_memory": Server(f"{UVICORN} main:app", "/headlines", "/headlines"),
    "02_starlette_journal_in_redis": Server(f"{UVICORN} main:app", "/headlines", "/headlines", redis=REDIS_URL),
    "03_fastapi_dependency_refuses": Server(f"{UVICORN} app:app", "/timeline", "/timeline"),
    "04_fastapi_generator_refuses": Server(f"{UVICORN} app:app", "/timeline", "/timeline"),
    "05_flask_feed_unknown_raises": Server(f"{GUNICORN} wsgi:app", "/board/posts", "/board/stream"),
    "06_flask_feed_unknown_warns": Server(f"{GUNICORN} wsgi:app", "/board/posts", "/board/stream"),
    "09_aiohttp_xadd_returned_id": Server("app.py", "/postings", "/postings/stream", redis=REDIS_URL),
    "10_aiohttp_xadd_own_number_on_wire": Server("app.py", "/postings", "/postings/stream", redis=REDIS_URL),
    "11_aiohttp_xadd_explicit_id_retried": Server("app.py", "/postings", "/postings/stream", redis=REDIS_URL),
    "14_starlette_stale_cursor_is_410": Server(f"{UVICORN} --factory telemetry:build", "/samples", "/samples"),
    "15_starlette_stale_cursor_is_empty_200": Server(f"{UVICORN} --factory telemetry:build", "/samples", "/samples"),
    "18_sanic_counter_strict_409": Server(f"{SANIC} server:app", "/orders", "/orders/stream"),
    "19_sanic_uuid_strict_409": Server(f"{SANIC} server:app", "/orders", "/orders/stream"),
    "20_asgi_clock_ids_exact_or_204": Server(f"{UVICORN} service:app", "/prices", "/prices"),
    "21_asgi_clock_ids_compared": Server(f"{UVICORN} service:app", "/prices", "/prices"),
    "24_fastapi_live_frames_carry_ids": Server(f"{UVICORN} app:app", "/deploys", "/deploys/watch"),
    "25_fastapi_ids_only_when_replayed": Server(f"{UVICORN} app:app", "/deploys", "/deploys/watch"),
    "26_starlette_middleware_refuses_cursor": Server(f"{UVICORN} relay.app:app", "/relay", "/relay"),
    "27_starlette_middleware_drops_cursor": Server(f"{UVICORN} relay.app:app", "/relay", "/relay"),
    "36_fastapi_backend_env_on_another_container": Server(f"{UVICORN} shipments.api:app", "/scans", "/scans/stream"),
    "37_fastapi_backend_env_on_the_server": Server(
        f"{UVICORN} shipments.api:app",
        "/scans",
        "/scans/stream",
        redis="SHIPMENTS_REDIS_URL",
        environment=(("SHIPMENTS_BACKEND", "redis"),),
    ),
    "43_flask_course_grows": Server(f"{GUNICORN} course.web:app", "/course", "/course"),
    "47_sanic_refuses_before_first_send": Server(f"{SANIC} server:app", "/tickets", "/tickets"),
    "48_sanic_refuses_after_first_send": Server(f"{SANIC} server:app", "/tickets", "/tickets"),
    "53_fastapi_shared_replay_local_live": Server(f"{UVICORN} orders.api:app", "/orders", "/orders", redis=REDIS_URL),
    "54_fastapi_shared_replay_shared_live": Server(f"{UVICORN} orders.api:app", "/orders", "/orders", redis=REDIS_URL),
    "55_fastapi_shared_replay_then_close": Server(f"{UVICORN} orders.api:app", "/orders", "/orders", redis=REDIS_URL),
    "67_fastapi_live_ids_one_pod": Server(f"{UVICORN} app:app", "/deploys", "/deploys/watch"),
}
"""All but 42, whose events are in a file, and the MCP servers 30, 31 and 60: they follow below."""

SECONDS = 2.5


def recorded(name: str) -> dict[str, str]:
    """The verdict, and what was recorded for B and A: "corrupt", "clean", "no ids", "loud: 409"."""
    expected = json.loads((CASES / name / "expected.json").read_text())
    found = {"verdict": expected["verdict"]}
    for letter in "BA":
        text = expected["executed"][f"resume_on_{letter}"]["outcome"]
        found[letter] = text if text.startswith("loud") else text.partition(":")[0]
    return found


def environment_of(server: Server, folder: Path, stack: ExitStack) -> dict[str, str]:
    if not server.redis:
        return dict(server.environment)
    return {server.redis: stack.enter_context(redis(folder)), **dict(server.environment)}


@pytest.mark.parametrize("name", SERVERS)
def test_what_a_client_receives_fits_the_verdict(name: str, tmp_path: Path) -> None:
    server, expected = SERVERS[name], recorded(name)
    with ExitStack() as stack:
        environment = environment_of(server, tmp_path, stack)
        a, b = stack.enter_context(replicas(CASES / name, server.command, tmp_path, 2, environment))
        found = both(a, b, server)
    assert found == {letter: expected[letter] for letter in "BA"}
    assert expected["verdict"] in VERDICTS[expected["B"].partition(":")[0]]


def both(a: Replica, b: Replica, server: Server) -> dict[str, str]:
    """What came of presenting the cursor to B, and to A."""
    publish(b.port, server.publish, "b1", "b2", "b3", "b4", "b5")
    publish(a.port, server.publish, "a1", "a2")
    first = Following(Browser(a.port, server.stream), 8, ["a3"])
    publish(a.port, server.publish, "a3")
    cursor, seen = first.done().cursor, first.browser.received
    assert "a3" in seen
    shared = "b5" in seen
    publish(a.port, server.publish, "a4")
    publish(b.port, server.publish, "b6")
    missed = ["a4", "b6", "a5", "a6", "b7"] if shared else ["a4", "a5", "a6"]
    resumed = Following(Browser(b.port, server.stream, cursor), SECONDS, missed)
    publish(a.port, server.publish, "a5", "a6")
    publish(b.port, server.publish, "b7")
    found = {"B": outcome(resumed.done(), missed)}
    control = Browser(a.port, server.stream, cursor)
    control.follow(SECONDS, missed)
    return {**found, "A": outcome(control, missed)}


# -- events that are in a file


def test_a_course_that_ships_with_the_server_is_the_same_on_every_process(tmp_path: Path) -> None:
    name = "42_flask_course_from_file"
    with replicas(CASES / name, f"{GUNICORN} course.web:app", tmp_path, 2) as (a, b):
        first = Browser(a.port, "/course")
        first.connect(5, until="a3")
        rest = ["a4", "a5", "a6", "a7", "a8"]
        resumed = Browser(b.port, "/course", first.cursor)
        resumed.follow(5, rest)
    assert outcome(resumed, rest) == "clean"
    assert recorded(name)["verdict"] in VERDICTS["clean"]


# -- through the balancer of the case


@pytest.mark.parametrize(
    ("name", "config", "hosts", "wanted"),
    [
        ("20_asgi_clock_ids_exact_or_204", "envoy.yaml", ("prices-1", "prices-2"), "loud: 204"),
        ("21_asgi_clock_ids_compared", "envoy.yaml", ("prices-1", "prices-2"), "corrupt"),
        ("43_flask_course_grows", "nginx.conf", ("course-1", "course-2"), "corrupt"),
    ],
)
def test_the_balancer_of_the_case_does_take_a_client_elsewhere(
    name: str, config: str, hosts: tuple[str, str], wanted: str, tmp_path: Path
) -> None:
    """A client that only reconnects, with nothing broken and nothing restarted, ends where the verdict says."""
    server, path = SERVERS[name], SERVERS[name].stream
    with (
        replicas(CASES / name, server.command, tmp_path, 2) as (a, b),
        edge(CASES / name / config, {hosts[0]: a.port, hosts[1]: b.port}, tmp_path) as front,
    ):
        for letter, replica in (("a", a), ("b", b)):
            publish(replica.port, path, *(f"{letter}{n}" for n in range(1, 4)))
        client = Browser(front, path)
        home = client_opens(client)
        publish(a.port, path, "a4", "a5", "a6")
        publish(b.port, path, "b4", "b5", "b6")
        missed = [f"{home}{n}" for n in range(4, 7)]
        found = set()
        for _ in range(12):
            resumed = Browser(front, path, client.cursor)
            resumed.connect(0.7)
            found.add(outcome(resumed, missed))
            if len(found) > 1:
                break
        assert found == {"clean", wanted}


def client_opens(client: Browser) -> str:
    """Opens the stream, and says whose events it got."""
    client.connect(3, until="a3")
    if "a3" not in client.received:
        assert "b3" in client.received
    return client.received[0][0]


# -- MCP


@pytest.mark.parametrize(
    "name",
    ["30_mcp_unknown_session_reported", "31_mcp_unknown_session_taken_over", "60_mcp_taken_over_without_log"],
)
def test_what_an_mcp_client_receives_fits_the_verdict(name: str, tmp_path: Path) -> None:
    """The client calls a tool at A that reports six steps, loses the stream after the second, and comes back to B."""
    expected = recorded(name)
    with ExitStack() as stack:
        environment = {"REDIS_URL": stack.enter_context(redis(tmp_path))}
        a, b = stack.enter_context(replicas(CASES / name, f"{UVICORN} server:app", tmp_path, 2, environment))
        mine, other = McpClient(a.port, "/mcp/", "a", tool="walk"), McpClient(b.port, "/mcp/", "b", tool="walk")
        for client in (mine, other):
            assert client.initialize().status == 200
        other.call(6)
        cut = mine.call(6, until='"a2"')
        assert cut.status == 200
        cursor = cut.ids[-1] if cut.ids else None
        found = {}
        for letter, port in (("B", b.port), ("A", a.port)):
            answer = mine.resume(port, cursor, seconds=2.5)
            browser = Browser(port, "/mcp/", cursor, statuses=[answer.status], received=texts_of(answer.body))
            found[letter] = outcome(browser, ["a3", "a4", "a5", "a6"])
    assert found == {letter: expected[letter] for letter in "BA"}
    assert expected["verdict"] in VERDICTS[expected["B"].partition(":")[0]]
