"""What an application says is to be asked instead of a dependency: `application.dependency_overrides[this] = that`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sselint.read.python.interpreter import containers
from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.values import Ref, Value
from sselint.read.python.libraries import library
from sselint.read.python.source.modules import Site

if TYPE_CHECKING:
    from sselint.read.python.server.endpoint import Endpoint

OVERRIDES = "overrides"
"""The option of a framework's rule that names the attribute of its applications which holds them."""


def instead(m: Machine, endpoint: Endpoint, asked: Value, site: Site) -> Value:
    """What is asked where a handler asks for a dependency: the dependency itself unless its application replaces it.
    Both where only the environment says whether it does."""
    for held in _tables(m, endpoint, site):
        given = [m.world.force(m, value) for key, value in m.object(held).pairs if key == asked]
        if not given:
            continue
        variables = m.world.choices.untried((held.id, containers.name_of_key(asked)))
        options = list(dict.fromkeys((*given, asked) if variables else given))
        return _chosen(m, asked, options, variables, site) if len(options) > 1 else options[0]
    return asked


def _chosen(m: Machine, asked: Value, options: list[Value], variables: list[str], site: Site) -> Value:
    for variable in variables:
        m.note("environment", None, name=variable)
    label = f"what is asked, which {' and '.join(variables)} chooses" if variables else "what is asked"
    kind = "environment" if variables else "value"
    return options[m.once(len(options), ("instead", asked), kind, label, site)]


def _tables(m: Machine, endpoint: Endpoint, site: Site) -> list[Ref]:
    found = []
    for number in dict.fromkeys((*endpoint.routers, endpoint.application)):
        entry = library.entry_of(m, Ref(number)) if number > 0 else None
        name = str(entry.options.get(OVERRIDES, "")) if entry is not None else ""
        held = m.read_attribute(Ref(number), name, site) if name else None
        if held is None and name:
            held = library.object_attribute(m, Ref(number), name, site)
        if isinstance(held, Ref) and m.object(held).kind == "dict":
            found.append(held)
    return found
