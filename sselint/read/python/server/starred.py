"""Names that come with all others of a library: `from flask import *`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sselint.read.python.interpreter.values import External

if TYPE_CHECKING:
    from sselint.read.python.server.world import World
    from sselint.read.python.source.modules import Module


def took(world: World, module: Module, library: str) -> None:
    """Notes that a module takes all names of a library."""
    world.stars.setdefault(module.path, {})[library] = None


def from_library(world: World, module: Module, name: str) -> External | None:
    """What a name stands for that a module took with all others: the last library that is described to have it."""
    taken = [f"{library}.{name}" for library in world.stars.get(module.path, ())]
    return next((External(known) for known in reversed(taken) if world.rules.entry(known) is not None), None)


def passed_on(world: World, importer: Module, module: Module) -> None:
    """Notes that a module takes all names of another one of the tree, and with them those of its libraries."""
    for library in world.stars.get(module.path, ()):
        took(world, importer, library)
