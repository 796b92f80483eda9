"""In which order work is done: what sends streams comes before what may, so that a budget that ends costs the least.

The text says it, before anything is run: who writes down that it answers with an event stream, who makes an application
or a router, who mentions streams at all, who calls something of a file that does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from sselint.read.python.interpreter.values import (
    ClassValue,
    Descriptor,
    Function,
    Lazy,
    ModuleValue,
    Partial,
    Value,
    undecorated,
)
from sselint.read.python.server.endpoint import Endpoint
from sselint.read.python.server.world import World
from sselint.read.python.source.evidence import WORDS, mentions_stream
from sselint.read.python.source.modules import Module

SENDS, ASSEMBLES, MENTIONS, CALLS, OTHER = range(5)
"""How near something is to a stream: the smaller, the sooner."""
SENT = tuple(word for word in sorted(WORDS) if "streamable" not in word)
"""A transport that is named is as often used by a client, which sends nothing."""
ANSWERS = re.compile(
    r"""(?:media_type|content_type|mimetype)\s*=\s*["']text/event-stream|["']content-type["']\s*\]?\s*[:=,]\s*["']text/event"""
    r"""|\bEventSourceResponse\(""",
    re.IGNORECASE,
)
"""What an answer says, and no question: a client writes `Accept`."""
ROLES = frozenset({"application", "router"})


def sends(text: str) -> bool:
    """Whether a text holds what only a sender or receiver of event streams writes: a media type, a class, a header."""
    lower = text.lower()
    return any(word in lower for word in SENT)


def assembles(world: World, text: str) -> bool:
    """Whether a text makes an application or a router."""
    return _makers(world).search(text) is not None


def files_first(paths: Iterable[str], texts: dict[str, str]) -> list[str]:
    """The files that write down a stream first, the others in their order after them."""
    return sorted(paths, key=lambda path: not sends(texts[path]))


def assembling_first(world: World, paths: Iterable[str]) -> list[str]:
    """The files that make an application or a router first: what they leave out is mounted nowhere."""
    makers = _makers(world)
    return sorted(paths, key=lambda path: not makers.search(world.table.at(path).source.text))


def of_function(world: World, value: Value) -> int:
    """How near a function is to a stream, by its own text."""
    function = _innermost(value)
    if not isinstance(function, Function | ClassValue):
        return OTHER
    if not _worth_a_look(world, function.module):
        return OTHER
    text = function.module.code(function.node.cst)
    if sends(text):
        return SENDS
    if _makers(world).search(text):
        return ASSEMBLES
    return MENTIONS if mentions_stream(text) else OTHER


def makes(world: World, value: Value) -> bool:
    """Whether a function makes an application or a router, by its own text."""
    function = _innermost(value)
    return isinstance(function, Function | ClassValue) and assembles(world, function.module.code(function.node.cst))


def of_endpoint(world: World, endpoint: Endpoint, evident: set[str]) -> int:
    """How near the handler of an endpoint is to a stream: by its own text, its address, and what it calls."""
    handler = _innermost(endpoint.handler)
    if not isinstance(handler, Function | ClassValue):
        return SENDS  # a library's own, or an object: there are few, and their text says nothing
    text = handler.module.code(handler.node.cst)
    if sends(text):
        return SENDS
    if mentions_stream(text) or "stream" in (endpoint.url or ""):
        return MENTIONS
    return CALLS if _calls_evident(world, handler.module, text, evident) else OTHER


def says_it_answers(endpoint: Endpoint) -> bool:
    """Whether the text of a handler says that it answers with an event stream."""
    handler = _innermost(endpoint.handler)
    return isinstance(handler, Function | ClassValue) and bool(ANSWERS.search(handler.module.code(handler.node.cst)))


def _calls_evident(world: World, module: Module, text: str, evident: set[str]) -> bool:
    names = set(re.findall(r"\w+", text))
    for name, values in world.globals.get(module.path, {}).items():
        if name in names and any(_home(value) in evident for value in values):
            return True
    return False


def _home(value: Value) -> str:
    """The file of what a name stands for."""
    value = _innermost(value)
    return value.module.path if isinstance(value, Function | ClassValue | Lazy | ModuleValue) else ""


def _innermost(value: Value) -> Value:
    """What a handler comes down to: partial applications are taken off, and decorators that name what they wrap."""
    while isinstance(value, Partial | Descriptor):
        value = value.function
    return undecorated(value) if isinstance(value, Function) else value


def _worth_a_look(world: World, module: Module) -> bool:
    """Whether the file can hold anything but the last: the text of one function costs more than that of its file."""
    return _holds(module.source.text, _makers(world))


@lru_cache(maxsize=4_096)
def _holds(text: str, makers: re.Pattern[str]) -> bool:
    return mentions_stream(text) or makers.search(text) is not None


def _makers(world: World) -> re.Pattern[str]:
    return _pattern(tuple(sorted(e.name for e in world.rules.entries.values() if e.role in ROLES)))


@cache
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """The calls that make applications and routers, by the last part of their names."""
    return re.compile(rf"\b(?:{'|'.join(sorted({re.escape(n.rpartition('.')[2]) for n in names}))})\(")
