"""What cuts a stream, and what takes `Last-Event-ID` away; that Envoy does so is proved in
tests/premises/test_envoy_streams.py."""

from __future__ import annotations

from typing import Any

import pytest

from sselint.facts import CursorTreatment
from tests.read.envoy.helpers import TYPES, Json, bootstrap, cluster, manager, only_route, route, session


def observed(action: Json | None = None, **of_manager: Any) -> dict[str, str]:
    """Seconds by code, for a route without fields but these."""
    plain = {"cluster": "feed", **(action or {})}
    found = only_route(bootstrap(manager([{"match": {"prefix": "/"}, "route": plain}], **of_manager)))
    return {o.code: o.value for o in found.observations}


@pytest.mark.parametrize(
    ("action", "of_manager", "expected"),
    [
        ({}, {}, {"SSE601": "15", "SSE602": "300"}),
        ({"timeout": "0s"}, {}, {"SSE602": "300"}),
        ({"timeout": "3600s"}, {}, {"SSE601": "3600", "SSE602": "300"}),
        ({"timeout": "0.25s"}, {}, {"SSE601": "0.25", "SSE602": "300"}),
        ({"timeout": "0s", "idle_timeout": "0s"}, {}, {}),
        ({"timeout": "0s", "idle_timeout": "60s"}, {}, {"SSE602": "60"}),
        ({"timeout": "0s"}, {"stream_idle_timeout": "0s"}, {}),
        ({"timeout": "0s"}, {"stream_idle_timeout": "30s"}, {"SSE602": "30"}),
        ({"timeout": "0s", "idle_timeout": "0s"}, {"stream_idle_timeout": "30s"}, {}),
        (
            {"timeout": "0s", "idle_timeout": "0s", "max_stream_duration": {"max_stream_duration": "40s"}},
            {},
            {"SSE601": "40"},
        ),
        (
            {"timeout": "0s", "idle_timeout": "0s"},
            {"common_http_protocol_options": {"max_stream_duration": "50s"}},
            {"SSE601": "50"},
        ),
        (
            {"timeout": "0s", "idle_timeout": "0s", "max_stream_duration": {"max_stream_duration": "0s"}},
            {"common_http_protocol_options": {"max_stream_duration": "50s"}},
            {},
        ),
        ({"timeout": "0s", "idle_timeout": "0s"}, {"common_http_protocol_options": {"idle_timeout": "5s"}}, {}),
        ({"timeout": "0s", "idle_timeout": "0s"}, {"request_timeout": "5s", "drain_timeout": "5s"}, {}),
    ],
    ids=[
        "defaults",
        "no route timeout",
        "an hour",
        "a fraction of a second",
        "nothing cuts",
        "idle on the route",
        "idle off in the manager",
        "idle in the manager",
        "the route's wins",
        "longest stream of the route",
        "longest stream of the manager",
        "the route's wins here too",
        "idle connections have no stream",
        "timeouts of requests",
    ],
)
def test_timeouts(action: Json, of_manager: Json, expected: dict[str, str]) -> None:
    assert observed(action, **of_manager) == expected


def test_limits_of_an_attempt_and_of_a_cluster() -> None:
    message = f"{TYPES}extensions.upstreams.http.v3.HttpProtocolOptions"
    own = {"@type": message, "common_http_protocol_options": {"max_stream_duration": "70s"}}
    limited = cluster(typed_extension_protocol_options={message.split("/")[1]: own})
    action = {"idle_timeout": "0s", "retry_policy": {"per_try_idle_timeout": "8s", "per_try_timeout": "2s"}}
    found = only_route(bootstrap(manager([route(action)]), [limited]))
    assert {o.code: o.value for o in found.observations} == {"SSE601": "70", "SSE602": "8"}


def test_a_timeout_is_shown_where_it_is_written() -> None:
    found = only_route(bootstrap(manager([route({"timeout": "9s"})], stream_idle_timeout="8s")))
    notes = {o.code: o for o in found.observations}
    assert notes["SSE601"].why == "the response is cut after 9 s"
    assert "default" not in notes["SSE602"].why
    assert all(o.evidence[0].line > 1 for o in found.observations)


# -- Last-Event-ID -----------------------------------------------------------------------------------------------------


def lua(script: str, name: str = "default_source_code") -> Json:
    code: Any = {"inline_string": script} if name == "default_source_code" else script
    typed = {"@type": f"{TYPES}extensions.filters.http.lua.v3.Lua", name: code}
    return {"name": "envoy.filters.http.lua", "typed_config": typed}


def mutation(*mutations: Json, side: str = "request_mutations") -> Json:
    message = f"{TYPES}extensions.filters.http.header_mutation.v3.HeaderMutation"
    return {
        "name": "envoy.filters.http.header_mutation",
        "typed_config": {"@type": message, "mutations": {side: [*mutations]}},
    }


REMOVED = {"request_headers_to_remove": ["x-debug", "Last-Event-ID"]}
REMOVES_IN_LUA = "function envoy_on_request(h)\n  h:headers():remove('last-event-id')\nend"


def with_levels(
    host: Json | None = None, table: Json | None = None, filters: tuple[Json, ...] = (), **of_route: Any
) -> Json:
    config = dict(manager([route(**of_route)], filters))
    plain = config["route_config"]
    hosts = [{**plain["virtual_hosts"][0], **(host or {})}]
    config["route_config"] = {**plain, **(table or {}), "virtual_hosts": hosts}
    return bootstrap(config)


def weighted(**fields: Any) -> Json:
    clusters = [{"name": "feed", "weight": 1, **fields}]
    entry = {"match": {"prefix": "/"}, "route": {"weighted_clusters": {"clusters": clusters}, "timeout": "0s"}}
    return bootstrap(manager([entry]))


def early(name: str) -> Json:
    message = f"{TYPES}extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation"
    extension = {"name": "early", "typed_config": {"@type": message, "mutations": [{"remove": name}]}}
    return bootstrap(manager(early_header_mutation_extensions=[extension]))


STRIPPED = {
    "on the route": with_levels(**REMOVED),
    "on the virtual host": with_levels(REMOVED),
    "on the table": with_levels(None, REMOVED),
    "on a weighted cluster": weighted(**REMOVED),
    "as an internal header": with_levels(None, {"internal_only_headers": ["last-event-id"]}),
    "in Lua": with_levels(filters=(lua(REMOVES_IN_LUA),)),
    "in Lua of the old field": with_levels(filters=(lua(REMOVES_IN_LUA, "inline_code"),)),
    "in a header mutation": with_levels(filters=(mutation({"remove": "LAST-EVENT-ID"}),)),
    "in a header mutation of the route": with_levels(
        filters=(mutation(),),
        typed_per_filter_config={
            "envoy.filters.http.header_mutation": {
                "@type": f"{TYPES}extensions.filters.http.header_mutation.v3.HeaderMutationPerRoute",
                "mutations": {"request_mutations": [{"remove": "last-event-id"}]},
            }
        },
    ),
    "in a header mutation that overwrites": with_levels(
        filters=(
            mutation(
                {
                    "append": {
                        "header": {"key": "last-event-id", "value": "0"},
                        "append_action": "OVERWRITE_IF_EXISTS",
                    }
                }
            ),
        )
    ),
    "before the filters": early("last-event-id"),
    "by overwriting it": with_levels(
        request_headers_to_add=[
            {"header": {"key": "last-event-id", "value": "0"}, "append_action": "OVERWRITE_IF_EXISTS_OR_ADD"}
        ]
    ),
    "by overwriting it the old way": with_levels(
        request_headers_to_add=[{"header": {"key": "last-event-id", "value": "0"}, "append": False}]
    ),
}


@pytest.mark.parametrize("config", STRIPPED.values(), ids=STRIPPED)
def test_the_cursor_is_taken_away(config: Json) -> None:
    found = only_route(config)
    assert found.last_event_id is CursorTreatment.STRIPPED
    assert found.last_event_id_evidence


PASSED = {
    "nothing is said": bootstrap(),
    "another header": with_levels(request_headers_to_remove=["x-last-event-id", "last-event"]),
    "in responses": with_levels(response_headers_to_remove=["last-event-id"]),
    "only where it is absent": with_levels(
        request_headers_to_add=[{"header": {"key": "last-event-id", "value": "0"}, "append_action": "ADD_IF_ABSENT"}]
    ),
    "overwritten by itself": with_levels(
        request_headers_to_add=[
            {
                "header": {"key": "last-event-id", "value": "%REQ(last-event-id)%"},
                "append_action": "OVERWRITE_IF_EXISTS_OR_ADD",
            }
        ]
    ),
    "read in Lua": with_levels(
        filters=(lua("function envoy_on_request(h)\n  h:logInfo(h:headers():get('last-event-id'))\nend"),)
    ),
    "in Lua that is disabled": with_levels(filters=({**lua(REMOVES_IN_LUA), "disabled": True},)),
    "in a mutation of responses": with_levels(
        filters=(mutation({"remove": "last-event-id"}, side="response_mutations"),)
    ),
    "another header, early": early("x-debug"),
    "chosen for sessions": bootstrap(manager(filters=[session()])),
}


@pytest.mark.parametrize("config", PASSED.values(), ids=PASSED)
def test_the_cursor_passes(config: Json) -> None:
    found = only_route(config)
    assert found.last_event_id is CursorTreatment.PASSED
    assert not found.last_event_id_evidence


def test_a_cursor_that_is_hashed_is_routed_on() -> None:
    found = only_route(bootstrap(manager([route({"hash_policy": [{"header": {"header_name": "last-event-id"}}]})])))
    assert found.last_event_id is CursorTreatment.ROUTED_ON
