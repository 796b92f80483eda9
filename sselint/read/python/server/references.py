"""The names under which a command line can ask for the application that serves an endpoint."""

from __future__ import annotations

from collections.abc import Iterator

from sselint.facts import AppReference
from sselint.read.python.interpreter.values import Function, Lazy, Ref, Value
from sselint.read.python.server.endpoint import Endpoint
from sselint.read.python.server.world import World


def references(world: World, endpoint: Endpoint) -> tuple[AppReference, ...]:
    """The applications that serve an endpoint, as command lines can name them."""
    if not endpoint.application or endpoint.application in world.stand_ins:
        return ()
    found: list[AppReference] = []
    wanted = [endpoint.handler] if endpoint.application == -1 else [Ref(endpoint.application)]
    for path, names in world.globals.items():
        module = world.loaded[path]
        for name, values in names.items():
            meant = [inner for v in values for inner in _imported(world, v)]
            if any(v in meant for v in wanted) or any(_wraps(world, v, endpoint.application) for v in meant):
                found.append(AppReference(module.name, name, path))
    for function, number in world.factories:
        if number == endpoint.application:
            found.extend(_named(world, function))
    if not found and endpoint.application > 0:
        site = world.heap[endpoint.application].site
        if site is not None and site.module.path:
            found.append(AppReference(site.module.name, "", site.module.path))
    return tuple(dict.fromkeys(found))


def _imported(world: World, value: Value) -> Iterator[Value]:
    """A value; of a name that was imported and not needed, what it stands for in a module that is loaded."""
    for _ in range(6):
        if not isinstance(value, Lazy):
            break
        held = list(world.globals.get(value.module.path, {}).get(value.name, ()))
        if len(held) != 1:
            yield from held
            return
        value = held[0]
    yield value


def _named(world: World, function: Function) -> Iterator[AppReference]:
    """The names under which a function can be imported."""
    for path, names in world.globals.items():
        for name, values in names.items():
            imported = (inner for v in values for inner in _imported(world, v))
            if any(isinstance(v, Function) and v.node is function.node for v in imported):
                yield AppReference(world.loaded[path].name, name, path)


def _wraps(world: World, value: Value, number: int) -> bool:
    """Whether an object stands in front of an application: a middleware that was wrapped around it by hand."""
    for _ in range(4):
        if not isinstance(value, Ref) or value.id not in world.heap.objects:
            return False
        inner = world.heap[value].arguments.get("app")
        if inner is None:
            return False
        if isinstance(inner, Ref) and inner.id == number:
            return True
        value = inner
    return False
