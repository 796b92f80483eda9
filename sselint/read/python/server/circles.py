"""Imports that go in a circle: a package that takes all names of a module which took some of them from the package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sselint.read.python.interpreter.values import Lazy

if TYPE_CHECKING:
    from sselint.read.python.server.world import World
    from sselint.read.python.source.modules import Module


def comes_back(world: World, importer: Module, module: Module, name: str) -> bool:
    """Whether a name of a module, which `importer` takes from there with all others, is its own to begin with."""
    running = world.running.get(module.path)
    held = world.globals.get(module.path, {}).get(name, ())
    values = [running.variables[name]] if running is not None and name in running.variables else list(held)
    return bool(values) and all(
        isinstance(v, Lazy) and v.module.path == importer.path and v.name == name for v in values
    )
