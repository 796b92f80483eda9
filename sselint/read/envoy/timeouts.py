"""Envoy timeouts that end a stream. Defaults as measured in tests/premises/test_envoy_streams.py: 15 s for a whole
response, 5 minutes without an event."""

from __future__ import annotations

from collections.abc import Sequence

from sselint.facts import Observation
from sselint.read.envoy.fields import field, has, is_template, line, seconds
from sselint.read.yaml_nodes import Node

WHOLE_RESPONSE = "SSE601"
IDLE = "SSE602"

ROUTE_TIMEOUT = 15.0
STREAM_IDLE_TIMEOUT = 300.0


def observed(
    action: Node, manager: Node | None, retry_policy: Node, upstream: Sequence[Node]
) -> tuple[Observation, ...]:
    """What cuts a stream on a route: `action` is its RouteAction, `manager` its connection manager if that is known,
    `retry_policy` the one in force, `upstream` the HTTP protocol options of its clusters."""
    found = [
        _whole(action),
        _longest(action, manager),
        *(_longest_of(field(options, "common_http_protocol_options")) for options in upstream),
        _idle(action, manager),
        _idle_attempt(retry_policy),
    ]
    return tuple(o for o in dict.fromkeys(found) if o is not None)


def _whole(action: Node) -> Observation | None:
    timeout = field(action, "timeout")
    if is_template(timeout):
        return None
    limit = seconds(timeout) if has(action, "timeout") else ROUTE_TIMEOUT
    if not limit:
        return None
    written = has(action, "timeout")
    why = f"the response is cut after {limit:g} s" + ("" if written else ", the default of a route without a timeout")
    return Observation(WHOLE_RESPONSE, why, (line(action, "timeout" if written else "cluster"),), f"{limit:g}")


def _longest(action: Node, manager: Node | None) -> Observation | None:
    """`max_stream_duration` of the route, else of the connection manager; there is no default."""
    own = field(action, "max_stream_duration")
    if own or manager is None:
        return _longest_of(own)
    return _longest_of(field(manager, "common_http_protocol_options"))


def _longest_of(holder: Node) -> Observation | None:
    limit = seconds(field(holder, "max_stream_duration"))
    if not limit:
        return None
    why = f"every stream is cut after {limit:g} s"
    return Observation(WHOLE_RESPONSE, why, (line(holder, "max_stream_duration"),), f"{limit:g}")


def _idle(action: Node, manager: Node | None) -> Observation | None:
    for holder, name in ((action, "idle_timeout"), (manager, "stream_idle_timeout")):
        if holder is not None and has(holder, name):
            limit = seconds(field(holder, name))
            if not limit:
                return None
            why = f"a stream without an event for {limit:g} s is cut"
            return Observation(IDLE, why, (line(holder, name),), f"{limit:g}")
    if manager is None:
        return None
    why = f"a stream without an event for {STREAM_IDLE_TIMEOUT:g} s is cut, the default of a connection manager"
    return Observation(IDLE, why, (manager.line_span(),), f"{STREAM_IDLE_TIMEOUT:g}")


def _idle_attempt(retry_policy: Node) -> Observation | None:
    """`per_try_idle_timeout`, which goes on counting when the response has begun; `per_try_timeout` does not."""
    limit = seconds(field(retry_policy, "per_try_idle_timeout"))
    if not limit:
        return None
    why = f"an attempt without an event for {limit:g} s is cut"
    return Observation(IDLE, why, (line(retry_policy, "per_try_idle_timeout"),), f"{limit:g}")
