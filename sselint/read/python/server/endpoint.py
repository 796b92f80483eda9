"""An endpoint: a handler under an address, and how it is called."""

from __future__ import annotations

from dataclasses import dataclass, field

from sselint.read.python.interpreter import classes
from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.values import Function, Ref, Value
from sselint.read.python.source import ir
from sselint.read.python.source.modules import Site


@dataclass(frozen=True)
class Endpoint:
    """A handler under an address. `routers` are the objects (application first) that the request passes on its way."""

    handler: Value
    url: str | None
    routers: tuple[int, ...]
    site: Site | None
    application: int = 0
    kind: str = "route"
    """route, asgi or wsgi: how the handler is called."""
    options: dict[str, Value] = field(default_factory=dict, compare=False)

    @property
    def key(self) -> tuple[object, ...]:
        """What makes two registrations the same endpoint."""
        return (self.handler, self.url, self.kind)

    @property
    def is_free(self) -> bool:
        """Whether no application mounts it: whoever calls it is not in the tree."""
        return self.kind in ("free", "store")


def speaks(m: Machine, value: Value) -> str:
    """ "asgi" or "wsgi" where a function or object of the tree has the protocol's parameters, else ""."""
    function: Value | None = value
    if isinstance(value, Ref):
        cls = classes.class_of(m, value)
        found = classes.class_attribute(m, cls, "__call__") if cls is not None else None
        function = found[0] if found is not None else None
    if not isinstance(function, Function):
        return ""
    if not isinstance(function.node, ir.FunctionNode):
        return ""
    names = tuple(p.name.lstrip("_") for p in function.node.parameters if p.name != "self")
    if names == ("scope", "receive", "send"):
        return "asgi"
    return "wsgi" if names in (("environ", "start_response"), ("env", "start_response")) else ""
