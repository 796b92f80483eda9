"""How long Envoy lets a stream live, and what it does with `Last-Event-ID`; asked of a real Envoy."""

from __future__ import annotations

from pathlib import Path

import pytest

from sselint.facts import CursorTreatment
from tests.premises.envoy_lab import TYPES, Setup, lab, routes_of

pytestmark = pytest.mark.premises


def life(setup: Setup, folder: Path, *, heartbeat: float, up_to: float) -> float | None:
    """How long a stream lives on which something is sent every `heartbeat` seconds; None for longer than `up_to`."""
    with lab(setup, folder) as at:
        for replica in at.replicas.values():
            replica.heartbeat = heartbeat
        at.establish(1)
        return at.clients[0].lasts(up_to)


def observed(setup: Setup, folder: Path) -> dict[str, str]:
    """The seconds that the reader tells, by code."""
    return {o.code: o.value for o in routes_of(setup, folder)[0].observations}


NEVER_IDLE = {"stream_idle_timeout": "0s"}
OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"


def options(**common: str) -> dict[str, object]:
    """A cluster with these common HTTP protocol options."""
    own = {"explicit_http_config": {"http_protocol_options": {}}, "common_http_protocol_options": common}
    return {"typed_extension_protocol_options": {OPTIONS: {"@type": f"type.googleapis.com/{OPTIONS}", **own}}}


def attempts(**limits: str) -> dict[str, object]:
    """A route with these limits for each attempt."""
    return {"retry_policy": {"retry_on": "5xx", **limits}}


@pytest.mark.parametrize(
    ("setup", "code"),
    [
        (Setup(route={"timeout": "1s"}, manager=NEVER_IDLE), "SSE601"),
        (Setup(route={"max_stream_duration": {"max_stream_duration": "1s"}}, manager=NEVER_IDLE), "SSE601"),
        (Setup(manager={**NEVER_IDLE, "common_http_protocol_options": {"max_stream_duration": "1s"}}), "SSE601"),
        (Setup(cluster=options(max_stream_duration="1s"), manager=NEVER_IDLE), "SSE601"),
    ],
    ids=["route timeout", "longest stream of the route", "of the manager", "of the cluster"],
)
def test_a_busy_stream_is_cut(setup: Setup, code: str, tmp_path: Path) -> None:
    assert observed(setup, tmp_path) == {code: "1"}
    lived = life(setup, tmp_path, heartbeat=0.1, up_to=8)
    assert lived is not None and 0.7 < lived < 5


@pytest.mark.parametrize(
    "setup",
    [
        Setup(manager={"stream_idle_timeout": "1s"}),
        Setup(manager=NEVER_IDLE, route={"idle_timeout": "1s"}),
        Setup(manager=NEVER_IDLE, route=attempts(per_try_idle_timeout="1s")),
    ],
    ids=["of the manager", "of the route", "of the attempt"],
)
def test_an_idle_timeout_cuts_a_quiet_stream_and_no_other(setup: Setup, tmp_path: Path) -> None:
    assert observed(setup, tmp_path) == {"SSE602": "1"}
    lived = life(setup, tmp_path, heartbeat=60, up_to=8)
    assert lived is not None and 0.7 < lived < 5
    (tmp_path / "busy").mkdir()
    assert life(setup, tmp_path / "busy", heartbeat=0.2, up_to=3) is None


@pytest.mark.parametrize(
    "setup",
    [
        Setup(manager={"stream_idle_timeout": "1s"}, route={"idle_timeout": "0s"}),
        Setup(manager=NEVER_IDLE, route=attempts(per_try_timeout="1s")),
        Setup(manager={**NEVER_IDLE, "common_http_protocol_options": {"idle_timeout": "1s"}}),
        Setup(manager={**NEVER_IDLE, "request_timeout": "1s"}),
        Setup(manager=NEVER_IDLE, cluster=options(idle_timeout="1s")),
    ],
    ids=["the route's wins", "an attempt that has answered", "idle connections", "requests", "idle upstream"],
)
def test_other_timeouts_let_a_quiet_stream_live(setup: Setup, tmp_path: Path) -> None:
    assert observed(setup, tmp_path) == {}
    assert life(setup, tmp_path, heartbeat=60, up_to=3) is None


def test_a_route_without_a_timeout_cuts_a_busy_stream_after_15_seconds(tmp_path: Path) -> None:
    setup = Setup(route={"timeout": None}, manager=NEVER_IDLE)
    assert observed(setup, tmp_path) == {"SSE601": "15"}
    lived = life(setup, tmp_path, heartbeat=1, up_to=25)
    assert lived is not None and 14 < lived < 19


@pytest.mark.slow
def test_a_manager_without_a_timeout_cuts_a_quiet_stream_after_5_minutes(tmp_path: Path) -> None:
    assert observed(Setup(), tmp_path) == {"SSE602": "300"}
    lived = life(Setup(), tmp_path, heartbeat=600, up_to=330)
    assert lived is not None and 298 < lived < 310


# -- Last-Event-ID -----------------------------------------------------------------------------------------------------

LUA = {
    "name": "envoy.filters.http.lua",
    "typed_config": {
        "@type": f"{TYPES}extensions.filters.http.lua.v3.Lua",
        "default_source_code": {
            "inline_string": "function envoy_on_request(handle)\n  handle:headers():remove('Last-Event-ID')\nend"
        },
    },
}
MUTATION = {
    "name": "envoy.filters.http.header_mutation",
    "typed_config": {
        "@type": f"{TYPES}extensions.filters.http.header_mutation.v3.HeaderMutation",
        "mutations": {"request_mutations": [{"remove": "last-event-id"}]},
    },
}


def added(action: str, value: str = "0") -> dict[str, object]:
    header = {"key": "Last-Event-ID", "value": value}
    return {"request_headers_to_add": [{"header": header, "append_action": action}]}


@pytest.mark.parametrize(
    ("setup", "arrives"),
    [
        (Setup(), "yes"),
        (Setup(level={"request_headers_to_remove": ["Last-Event-ID"]}), "no"),
        (Setup(level={"request_headers_to_remove": ["X-Last-Event-ID"]}), "yes"),
        (Setup(level={"response_headers_to_remove": ["Last-Event-ID"]}), "yes"),
        (Setup(level=added("OVERWRITE_IF_EXISTS_OR_ADD")), "no"),
        (Setup(level=added("OVERWRITE_IF_EXISTS_OR_ADD", "%REQ(last-event-id)%")), "yes"),
        (Setup(level=added("ADD_IF_ABSENT")), "yes"),
        (Setup(filters=(LUA,)), "no"),
        (Setup(filters=(MUTATION,)), "no"),
    ],
    ids=[
        "as it is",
        "removed on the route",
        "another header removed",
        "removed from responses",
        "overwritten",
        "overwritten by itself",
        "added where absent",
        "removed in Lua",
        "removed by a filter",
    ],
)
def test_what_becomes_of_the_cursor(setup: Setup, arrives: str, tmp_path: Path) -> None:
    treatment = CursorTreatment.PASSED if arrives == "yes" else CursorTreatment.STRIPPED
    assert routes_of(setup, tmp_path)[0].last_event_id is treatment
    with lab(setup, tmp_path) as at:
        at.establish(1)
        client = at.clients[0]
        presented = client.cursor
        client.stream(at.port)
    assert presented
    assert (client.event["cursor"] == presented) == (arrives == "yes")
