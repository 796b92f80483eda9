"""Environment variables by their names: the replica's own name, one value for all, or what nobody has said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sselint.facts import Setting
from sselint.read.python.interpreter.values import Const, Value, Variable, leaves
from sselint.read.python.source.modules import Site

if TYPE_CHECKING:
    from sselint.read.python.interpreter.machine import Machine


@dataclass(frozen=True)
class Environment:
    """What the deployment's files say of environment variables. `settled`: what is missing from them is not set."""

    settings: Mapping[str, Setting] = field(default_factory=dict)
    settled: bool = False

    def says_all(self, name: str) -> bool:
        """Whether a variable that is missing is not set. Of an option of the command line, `--` among them says so."""
        if name.startswith("-"):
            return "--" in self.settings and self.settings["--"].value == ""
        return self.settled


def named(m: Machine, name: str, default: Value | None, site: Site) -> Value:
    """What is found under a name. Where the deployment's files give each replica a value of its own, or a platform does
    and they say nothing else, it is the name of the replica. What is not called after one is the same for all."""
    known = m.world.environment
    setting = known.settings.get(name)
    if setting is not None and setting.own:
        return m.minted("replica", site, note=f"{name}, of which each replica is given one of its own")
    if setting is None and name in m.rules.word_list("replica_variables"):
        return m.minted("host", site, note=f"{name}, which each container has its own of")
    if setting is None and not known.settled and name in m.rules.word_list("pod_variables"):
        return m.minted("replica", site, note=f"{name}, by whose name each pod is given its own")
    if setting is None and known.settled and default is not None:
        return default
    if setting is not None and setting.value is not None:
        return Variable(name, Const.of(setting.value), for_all=True)
    return Variable(name, default, for_all=set(name.lower().split("_")).isdisjoint(m.rules.word_list("replica_words")))


def as_if_not_set(found: Iterable[Value]) -> Iterator[Value]:
    """Values, with what a variable falls back to in its place where that is made by the process."""
    for value in found:
        made = list(leaves(value.default)) if isinstance(value, Variable) and value.default else []
        if made and not all(isinstance(leaf, Const) for leaf in made):
            yield from made
        else:
            yield value
