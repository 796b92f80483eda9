"""A project's settings, as a framework gives them to its applications, and what they name by a dotted path."""

from __future__ import annotations

from collections.abc import Sequence

from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.values import External, ModuleValue, Unknown, Value
from sselint.read.python.source.modules import Module, Site


def named(m: Machine, dotted: str, site: Site) -> Value:
    """What a dotted path names: a module of the tree, something in one, else a name of a library."""
    found = _module(m, dotted, site)
    if found is not None:
        return ModuleValue(found)
    holder, _, name = dotted.rpartition(".")
    inside = _module(m, holder, site) if holder else None
    return m.world.module_attribute(m, inside, name) if inside is not None else External(dotted)


def _module(m: Machine, dotted: str, site: Site) -> Module | None:
    importer = site.module if site.module.path else next(iter(m.world.loaded.values()), None)
    return m.world.table.resolve(dotted, importer) if importer is not None else None


def attribute(m: Machine, name: str, site: Site) -> Value:
    """`settings.name`: what the tree's settings say; where several say different things, the environment chooses."""
    values = _written(m, name)
    if not values:
        return Unknown(f"the setting {name}, which nothing in the tree makes")
    if len(values) == 1:
        return values[0]
    return values[m.once(len(values), ("setting", name), "environment", f"which settings make {name}", site)]


def is_set(m: Machine, name: str, site: Site) -> bool:
    """`hasattr(settings, name)`: where the tree holds no settings at all, either may be."""
    if _written(m, name):
        return True
    if _projects(m):
        return False
    return m.once(2, ("set", name), "environment", f"whether the setting {name} is made", site) == 0


def _projects(m: Machine) -> Sequence[str]:
    return [path for word in m.rules.word_list("project_settings") for path in m.world.table.defining(word)]


def _written(m: Machine, name: str) -> list[Value]:
    found: dict[Value, None] = {}
    for path in m.world.table.defining(name):
        module = m.world.table.at(path)
        m.world.load(module)
        value = m.world.global_value(m, module, name)
        if value is not None:
            found.setdefault(value)
    return list(found)


def is_settings(m: Machine, value: Value) -> bool:
    """Whether a name of a library is the settings of the project."""
    entry = m.rules.entry(value.name) if isinstance(value, External) else None
    return entry is not None and bool(entry.options.get("project_settings"))
