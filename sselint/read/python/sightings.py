"""Client libraries used in the tree: related evidence, never proof that there is no other client."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sselint.facts import ClientSighting
from sselint.read.python.world import World
from sselint.source import Source


def clients(world: World, sources: Mapping[str, Source]) -> Iterator[ClientSighting]:
    """The client libraries that loaded modules import."""
    return iter(())
