"""Which values environment variables choose: those that only runs with one answer of a test leave behind.

That a variable was asked on the way is not enough: where the feature is off nothing is written, and where it is on
several values are, so that the variable says nothing of which of them is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from sselint.read.python.interpreter.oracle import Decision
from sselint.read.python.interpreter.values import ClassValue, Const, Ref, Unknown, Value

if TYPE_CHECKING:
    from sselint.read.python.interpreter.machine import Machine
    from sselint.read.python.source.modules import Module, Site

MANY = 4
"""More implementations than that are not told of one by one."""

Ties = dict[object, set[int]]
"""For each test of the environment, the answers with which a value was written. A test that one of the runs never came
to is left out: the value does not hang on it."""


class Choices:
    """What was written to globals and attributes, and with which answers."""

    def __init__(self) -> None:
        self._ties: dict[object, dict[Value, Ties]] = {}
        self._replaced: dict[object, set[object]] = {}
        self._latest: tuple[Sequence[Decision], int, list[Decision]] = ((), 0, [])
        self._tried: dict[object, dict[object, set[int]]] = {}
        """For each place the tests of the environment that runs had passed when they wrote to it, and the answers that
        none of them had."""

    def wrote(self, place: object, value: Value, decisions: Sequence[Decision]) -> None:
        """A run that took these decisions left a value in a place."""
        asked = self._asked(decisions)
        for decision in asked:
            left = self._tried.setdefault(place, {}).setdefault(decision.key, set(range(decision.options)))
            left.discard(decision.option)
        answers = {d.key: d.option for d in asked}
        held = self._ties.setdefault(place, {})
        known = held.get(value)
        if known is None:
            held[value] = {test: {option} for test, option in answers.items()}
            return
        for test in [t for t in known if t not in answers]:
            del known[test]
        for test, options in known.items():
            options.add(answers[test])

    def _asked(self, decisions: Sequence[Decision]) -> list[Decision]:
        """The decisions about the environment. A run only adds to its decisions, and seldom between two writes."""
        run, count, asked = self._latest
        if run is not decisions:
            count, asked = 0, []
        asked += (d for d in decisions[count:] if d.kind == "environment")
        self._latest = (decisions, len(decisions), asked)
        return asked

    def is_open(self, place: object) -> bool:
        """Whether the environment may put something else into a place than any run has: what is made when it is first
        needed is made once on paper too, with the answers of the run that came first."""
        return any(self._tried.get(place, {}).values())

    def untried(self, place: object) -> list[str]:
        """The variables of tests that all runs which wrote to a place had answered the same way."""
        tests = (test for test, left in self._tried.get(place, {}).items() if left)
        return sorted({name for name in map(_variable_of, tests) if name is not None})

    def replaced(self, place: object, since: Sequence[Decision]) -> None:
        """A run put another value over the one that it had put there before it took these decisions."""
        tests = {d.key for d in since if d.kind == "environment"}
        if tests:
            self._replaced.setdefault(place, set()).update(tests)

    def variables(self, place: object) -> tuple[str, ...]:
        """The environment variables that choose what is in a place, none where it does not hang on them."""
        return tuple(sorted(self._variables(place, set())))

    def _variables(self, place: object, seen: set[object]) -> set[str]:
        if place in seen:
            return set()
        seen.add(place)
        found: set[str] = set()
        for test in self._tests(place):
            name = _variable_of(test)
            if name is not None:
                found.add(name)
            else:  # what another place holds, which the environment chooses
                found |= self._variables(test, seen)
        return found

    def _tests(self, place: object) -> set[object]:
        tests = set(self._replaced.get(place, ()))
        for one, other in combinations(self._ties.get(place, {}).values(), 2):
            tests |= {test for test, options in one.items() if test in other and not options & other[test]}
        return tests


def _variable_of(test: object) -> str | None:
    """The variable that a test is about, None where it asks for something else."""
    return str(test[1]) if isinstance(test, tuple) and test[:1] == ("variable",) else None


def possible(m: Machine, module: Module, name: str) -> list[Value]:
    """All that a global may be when start-up is over; none where no run comes to it. Which one is there may hang on the
    environment: the run notes by which variables. A branch that sets it too, and that no run took, is unknown."""
    place = ("global", module.path, name)
    found = [m.world.force(m, value) for value in list(m.world.globals.get(module.path, {}).get(name, ()))]
    for variable in m.world.choices.variables(place):
        m.note("environment", None, name=variable)
    untried = m.world.choices.untried(place)
    if found and untried and len(found) < module.times_set(name):
        for variable in untried:
            m.note("environment", None, name=variable)
        found.append(Unknown(f"{name}, which {' or '.join(untried)} may choose"))
    return found


def implementations(m: Machine, options: Sequence[Value]) -> tuple[ClassValue, ...]:
    """The classes of the tree of which a place holds one object or another; none where it is no such choice."""
    kinds = dict.fromkeys(_class_of(m, option) for option in options)
    found = tuple(cls for cls in kinds if cls is not None)
    return found if len(found) == len(kinds) and 1 < len(kinds) <= MANY else ()


def note_implementation(
    m: Machine, key: object, among: tuple[ClassValue, ...], picked: Value, label: str, site: Site | None
) -> None:
    """Notes which of several implementations a run took for what it found."""
    m.note("implementation", site, key=key, of=_class_of(m, picked), label=label, among=among)


def picked(m: Machine, place: object, options: Sequence[Value], shown: str, site: Site | None) -> Value:
    """The one of several values in a place that this run takes for what is there: the same each time that it asks."""
    variables = m.world.choices.variables(place)
    label = f"{shown}, which {' and '.join(variables)} chooses" if variables else f"what {shown} is"
    for variable in variables:
        m.note("environment", None, name=variable)
    among = implementations(m, options)
    kind = "environment" if variables else "implementation" if among else "value"
    options = sorted(options, key=_is_nothing)  # where start-up fills a place, nothing is there before it has
    chosen = options[m.once(len(options), place, kind, label, site)]
    if among:
        note_implementation(m, place, among, chosen, label, site)
    return chosen


def _is_nothing(value: Value) -> bool:
    return isinstance(value, Const) and value.value is None


def _class_of(m: Machine, value: Value) -> ClassValue | None:
    of = m.object(value).of if isinstance(value, Ref) else None
    return of if isinstance(of, ClassValue) else None
