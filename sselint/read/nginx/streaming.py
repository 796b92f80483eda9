"""What a location does to an event stream that passes through it: the cursor's header, timeouts, compression."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sselint.facts import CursorTreatment, Evidence, Observation
from sselint.read.nginx.keys import CURSOR
from sselint.read.nginx.locations import PASSES, PassPlace
from sselint.read.nginx.parser import Directive, lua_code
from sselint.read.nginx.scopes import Scope, seconds
from sselint.read.nginx.variables import Variables

READ_TIMEOUT_SECONDS = 60.0
"""nginx.org, "proxy_read_timeout"; tests/premises/test_nginx_streams.py measures that a silent stream is cut then."""

HEADER = "last-event-id"

_LUA_CLEARS = re.compile(
    r"""(?:clear_header\s*\(\s*|set_header\s*\(\s*)["']last[-_]event[-_]id["']\s*(?:\)|,\s*(?:nil|""|'')\s*\))""", re.I
)


def cursor_treatment(
    place: PassPlace, variables: Variables, routed_by: frozenset[str], routed_at: Evidence
) -> tuple[CursorTreatment, Evidence]:
    """What happens to `Last-Event-ID`, and the lines that do it. `routed_by` are the variables that it rests on."""
    if removed := _removed(place, variables):
        return CursorTreatment.STRIPPED, (removed.span("Last-Event-ID does not reach the server"),)
    if CURSOR in routed_by:
        return CursorTreatment.ROUTED_ON, routed_at
    return CursorTreatment.PASSED, ()


def _removed(place: PassPlace, variables: Variables) -> Directive | None:
    """The directive that keeps the header from the server, or None."""
    scope, prefix = place.scope, PASSES.get(place.directive.name, "proxy")
    for name in (f"{prefix}_pass_request_headers", "more_clear_input_headers"):
        for directive in scope.inherited(name):
            if directive.args[:1] == ("off",) or (
                not name.startswith(prefix) and HEADER in (" ".join(directive.args)).lower().split()
            ):
                return directive
    for directive in _header_lines(scope, prefix):
        if len(directive.args) > 1 and not directive.is_masked and not _passes_on(directive.args[1], scope, variables):
            return directive
    for block in scope.chain():
        for directive in block.lua:
            if _LUA_CLEARS.search(lua_code(directive.body or "")):
                return directive
    return None


def _header_lines(scope: Scope, prefix: str) -> Iterator[Directive]:
    """The lines that set the header. A block with any line of the kind inherits none of the others."""
    if prefix in ("proxy", "grpc"):
        yield from (d for d in scope.inherited(f"{prefix}_set_header") if d.args and d.args[0].lower() == HEADER)
        return
    for directive in scope.inherited(f"{prefix}_param"):
        if directive.args and directive.args[0].upper() == "HTTP_LAST_EVENT_ID":
            yield directive


def _passes_on(value: str, scope: Scope, variables: Variables) -> bool:
    """Whether the header's new value still brings the client's cursor along."""
    leaves = variables.leaves(value, scope)
    return CURSOR in leaves or any(leaf.startswith("set_by_lua") or leaf.endswith("_set") for leaf in leaves)


def observations(place: PassPlace) -> tuple[Observation, ...]:
    """What makes reconnects frequent, or events late, on this route."""
    if place.scope.nearest("stream"):
        return ()
    return tuple(o for o in (_read_timeout(place), _gzip(place)) if o is not None)


def _read_timeout(place: PassPlace) -> Observation | None:
    prefix = PASSES.get(place.directive.name, "proxy")
    name = f"{prefix}_read_timeout"
    directive = place.scope.setting(name)
    if directive is None:
        why = f"{name} is not set: nginx ends a stream that is silent for {READ_TIMEOUT_SECONDS:g} s"
        return Observation("SSE602", why, (place.directive.span(),), f"{READ_TIMEOUT_SECONDS:g}")
    after = seconds(directive.args[0]) if directive.args and not directive.is_masked else None
    if after is None or after > READ_TIMEOUT_SECONDS:
        return None
    why = f"{name} ends a stream that is silent for {after:g} s"
    return Observation("SSE602", why, (directive.span(), place.directive.span()), f"{after:g}")


def _gzip(place: PassPlace) -> Observation | None:
    """gzip holds small events back while the response is buffered (X-Accel-Buffering: no ends that as well)."""
    scope, prefix = place.scope, PASSES.get(place.directive.name, "proxy")
    on, types = scope.setting("gzip"), scope.inherited("gzip_types")
    if on is None or on.is_masked or on.args[:1] != ("on",) or prefix == "grpc":
        return None
    named = next((d for d in types if {"text/event-stream", "*"} & set(d.args)), None)
    buffering = scope.setting(f"{prefix}_buffering")
    if named is None or (buffering is not None and buffering.args[:1] != ("on",)):
        return None
    why = "gzip compresses text/event-stream while the response is buffered: small events wait until a buffer is full"
    return Observation("SSE604", why, (named.span(), on.span(), place.directive.span()), "gzip")
