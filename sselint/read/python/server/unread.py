"""What was not read because work ended before: whatever sends events and was not followed is told, never left out.

A stream that is missing without a word is the worst answer: who reads the report takes it for one that is not there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sselint.facts import AppReference, FileOutcome, FileReport, Stream
from sselint.read.python.answers.streams import site_of, symbol_of
from sselint.read.python.server import order
from sselint.read.python.server.endpoint import Endpoint
from sselint.read.python.server.references import references
from sselint.read.python.server.world import World
from sselint.read.python.source.deployed import NOT_DEPLOYED

SHOWN = 3
"""So many handlers of one file are named."""


def note(world: World, endpoint: Endpoint, cut: bool) -> None:
    """Remembers a handler that sends events, or writes down that it does, of which no stream was made; `cut` where that
    is because work ended."""
    site = site_of(endpoint)
    if endpoint.application and not any(_is_served(world, app) for app in references(world, endpoint)):
        return  # a library's own, which only its examples mount, or nobody here does
    if site is not None and site.module.path and not NOT_DEPLOYED.search(site.module.path):
        key = (site.module.path, symbol_of(endpoint))
        mounted, before = world.unread.get(key, (False, False))
        world.unread[key] = (mounted or bool(endpoint.application), before or cut)


def _is_served(world: World, app: AppReference) -> bool:
    """Whether a command can name an application that is no example, or its own file starts a server."""
    if NOT_DEPLOYED.search(app.path):
        return False
    started = any(r.kind == "server" and r.site.module.path == app.path for r in world.registrations)
    return bool(app.attribute) or started


def reports(world: World, evident: Sequence[str], streams: Sequence[Stream]) -> Iterator[FileReport]:
    """The files of which something was not followed, or nothing was run at all. `streams` are those that were read."""
    read = {(s.path, s.symbol) for s in streams}
    lost: dict[tuple[str, bool], list[str]] = {}
    needed: set[str] = set()
    for (path, symbol), (mounted, cut) in world.unread.items():
        if (path, symbol) not in read:
            lost.setdefault((path, cut), []).append(symbol)
            needed |= {path} if mounted else set()
    for (path, cut), symbols in lost.items():
        outcome = FileOutcome.TOO_LARGE if cut else FileOutcome.PARTLY
        yield FileReport(path, outcome, _why(symbols, cut), needed=path in needed)
    yield from (r for r in _unreached(world, evident) if r.path not in {path for path, _ in lost})


def not_again(streams: Sequence[Stream]) -> Iterator[FileReport]:
    """The files of streams that were not read again under the environment that a deployment gives them."""
    lost: dict[str, list[str]] = {}
    for stream in streams:
        lost.setdefault(stream.path, []).append(stream.symbol)
    for path, symbols in lost.items():
        named = _named(list(dict.fromkeys(symbols)))
        why = f"work ended before {named} could be read as the environment of the deployment settles it"
        yield FileReport(path, FileOutcome.TOO_LARGE, why, needed=True)


def _named(symbols: Sequence[str]) -> str:
    several = [f"`{symbol}`" for symbol in symbols[:SHOWN]]
    if len(symbols) > SHOWN:
        several.append(f"{len(symbols) - SHOWN} more")
    return " and ".join(filter(None, (", ".join(several[:-1]), several[-1])))


def _why(symbols: Sequence[str], cut: bool) -> str:
    named = _named(symbols)
    if cut:
        return f"work ended before {named} could be followed, which send{'s' * (len(symbols) == 1)} events"
    verb = "says" if len(symbols) == 1 else "say"
    return f"{named} {verb} that an event stream is sent, and no path that was followed comes to it"


def _unreached(world: World, evident: Sequence[str]) -> list[FileReport]:
    """Files that write down a stream and of which nothing was run, where work ended because a budget did. Examples
    and tests, which nobody deploys, are not missed, nor what makes no application or router: a client, a type."""
    if not world.cut:
        return []
    why = "it mentions event streams, and the tree is so large that nothing in it was run"
    texts = {p: world.table.at(p).source.text for p in evident}
    ran = world.touched | world.visited | {p for p in world.loaded if p in texts and "def " not in texts[p]}
    missed = [p for p in evident if p not in ran and not NOT_DEPLOYED.search(p)]
    left = [p for p in missed if order.sends(texts[p]) and order.assembles(world, texts[p])]
    return [FileReport(p, FileOutcome.TOO_LARGE, why, needed=True) for p in left]
