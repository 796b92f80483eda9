"""Generators as handlers, where the head of the response leaves with the first piece and as it was set until then."""

from __future__ import annotations

from collections.abc import Callable

from sselint.read.python.interpreter.machine import Machine, Raised
from sselint.read.python.interpreter.values import Exceptional, Value
from sselint.read.python.libraries import inject, wire
from sselint.read.python.server.endpoint import Endpoint
from sselint.read.python.source.modules import Site


def is_drawn(m: Machine, endpoint: Endpoint) -> bool:
    """Whether the framework of an endpoint asks for the first piece before it sends the head."""
    entry = inject.framework(m, endpoint)
    return entry is not None and entry.options.get("starts") == "with_first_chunk"


def sent(m: Machine, chunk: Value, endpoint: Endpoint, send: Callable[[Machine, Value, Site | None], None]) -> None:
    """Sends a piece, if the response has become an event stream. The first may be an error, which is raised."""
    if not m.begun and is_error(m, chunk, endpoint):
        raise Raised(chunk, endpoint.site)
    if m.media == wire.EVENT_STREAM:
        send(m, chunk, endpoint.site)
    m.begun = True


def is_error(m: Machine, value: Value, endpoint: Endpoint) -> bool:
    """Whether a value is an error that the framework sends with its status although nobody raised it."""
    entry = inject.framework(m, endpoint)
    if entry is None or entry.options.get("errors") != "returned" or not isinstance(value, Exceptional):
        return False
    described = m.rules.entry(value.name)
    return described is not None and described.role == "http_error"
