"""What the middleware in front of a handler sets on the request, for the handler that asks for it by its name.

Most middleware has nothing to do with the stream and is not run in front of it. What one of them made of the request is
asked for here, once a handler takes it from there. Where no application mounts the handler, any middleware of the tree
may stand in front of it that is no test's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sselint.read.python.interpreter import choices
from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.values import Ref, Unknown, Value, settled
from sselint.read.python.server import serve
from sselint.read.python.server.endpoint import Endpoint
from sselint.read.python.server.registered import SetThere
from sselint.read.python.source.deployed import NOT_DEPLOYED
from sselint.read.python.source.modules import Site

MOST_LOOKS = 6
"""So often is a middleware looked at again, while the program is built, for what was not there yet."""


def value_of(m: Machine, name: str, site: Site) -> Value | None:
    """What the middleware in front of the handler that is being served sets on the request under a name, or None."""
    endpoint = m.serving
    if endpoint is None:
        return None
    found: dict[Value, None] = {}
    for middleware, at in _in_front(m, endpoint):
        found.update(dict.fromkeys(_set_by(m, middleware, at, name)))
    known = [value for value in found if not isinstance(value, Unknown)] or list(found)
    if not known:
        return None
    return choices.picked(m, ("set on the request", name), known, name, site) if len(known) > 1 else known[0]


def _in_front(m: Machine, endpoint: Endpoint) -> Iterator[tuple[Value, Endpoint]]:
    if endpoint.application > 0 or endpoint.routers:
        for middleware in serve.middleware_of(m, endpoint):
            yield middleware, endpoint
    if endpoint.application > 0:
        return
    for registration in list(m.world.registrations):
        if registration.kind != "middleware" or registration.receiver is None:
            continue
        if NOT_DEPLOYED.search(registration.site.module.path) is None:
            number = registration.receiver.id
            handler = registration.handler or registration.values.get("target")
            if handler is not None:
                yield handler, replace(endpoint, routers=(number,), application=number)


def _set_by(m: Machine, middleware: Value, endpoint: Endpoint, name: str) -> list[Value]:
    held = m.world.set_on_requests.setdefault(middleware, SetThere())
    if held.version != m.world.heap.version and held.looks < MOST_LOOKS:
        held.version, held.looks = m.world.heap.version, held.looks + 1
        for inner in serve.looked_at(m, endpoint, middleware, Ref(endpoint.application)):
            state = inner.request.get("state")
            for (ref, attribute), value in inner.overlay.attributes.items():
                if ref == state:
                    held.values.setdefault(attribute, {})[settled(value)] = None
    return list(held.values.get(name, ()))
