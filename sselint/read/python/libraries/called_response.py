"""A response that is called as the application it is: `await response(scope, receive, send)`."""

from __future__ import annotations

from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.values import Ref, Value
from sselint.read.python.source.modules import Site

PROTOCOLS = (2, 3)
"""What an application is called with: `environ, start_response`, or `scope, receive, send`."""


def sent(m: Machine, called: Value | None, positional: tuple[Value, ...], site: Site | None) -> bool:
    """Sends what is called, if that is a response; whether it was one."""
    from sselint.read.python.libraries import library
    from sselint.read.python.server import serve

    entry = library.entry_of(m, called) if isinstance(called, Ref) else None
    if not isinstance(called, Ref) or entry is None or entry.role != "response":
        return False
    if len(positional) not in PROTOCOLS or "__call__" in entry.methods:
        return False
    serve.respond(m, called, entry, site)
    return True
