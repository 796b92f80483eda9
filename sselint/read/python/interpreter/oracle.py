"""Which way an undecided branch goes. A run asks; the explorer runs again while there are ways left and budget.

Each run is one path: the interpreter is an ordinary recursive evaluator, and exploring is running it again with other
answers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from time import process_time
from typing import Any, TypeVar

from sselint.read.python.source.modules import Site

TRIED_FIRST = 4
"""So many other answers to one question are tried before those to the questions ahead of it, as long as all fail: which
of many settings is read, say, and none of them is a number."""
SOUGHT = 30
"""Of so many paths one is to come to what the runs are for; if none does, it is sought no longer."""
KEYS_TURN = 8
"""One path in so many asks whether a key is known that was asked for before all else: what it guards is never refused
otherwise where much of what follows is open."""


class OutOfBudget(Exception):  # noqa: N818 - a signal, not an error
    """The run took more steps than it may."""


class TooLong(Exception):  # noqa: N818 - a signal, not an error
    """A call took more steps than it is worth."""


@dataclass(frozen=True)
class Decision:
    """A branch that was taken: `key` names the question, `kind` what sort of question (condition, lookup, failure,
    value, iteration, opaque, environment), `label` says it in words."""

    key: object
    option: int
    options: int
    kind: str
    label: str
    site: Site | None
    within: int = 0
    """The call in which the question came up, by the number that the run gives its calls."""


@dataclass
class Oracle:
    """Answers the questions of one run: first those of `prefix`, then as `usual`, else with the option that the run
    tries first."""

    prefix: tuple[int, ...] = ()
    steps_left: int = 60_000
    usual: Mapping[object, int] = field(default_factory=dict)
    floor: int = 0
    """What must be left at the end of the call that has an allowance."""
    decisions: list[Decision] = field(default_factory=list)

    def choose(
        self,
        options: int,
        key: object,
        kind: str,
        label: str = "",
        site: Site | None = None,
        within: int = 0,
        first: int = 0,
    ) -> int:
        """The option taken, 0 up to `options` - 1; `first` where no path has said another yet."""
        position = len(self.decisions)
        option = self.prefix[position] if position < len(self.prefix) else self.usual.get(key, first)
        option = min(option, options - 1)
        self.decisions.append(Decision(key, option, options, kind, label, site, within))
        return option

    def step(self) -> None:
        """Counts a step. Raises OutOfBudget, or TooLong within an allowance."""
        self.steps_left -= 1
        if self.steps_left < self.floor:
            raise TooLong if self.floor and self.steps_left >= 0 else OutOfBudget

    @contextmanager
    def allowance(self, steps: int) -> Iterator[None]:
        """Lets what is done within take so many steps. Raises TooLong where it takes more."""
        outer, self.floor = self.floor, max(self.steps_left - steps, self.floor)
        try:
            yield
        finally:
            self.floor = outer


Result = TypeVar("Result")


@dataclass
class Budget:
    """What all runs together may take: steps, and seconds where steps turn out to be slow."""

    steps: int = 3_000_000
    seconds: float = 40.0
    started: float = field(default_factory=process_time)

    def spend(self, steps: int) -> None:
        """Takes steps off."""
        self.steps -= steps

    @property
    def spent(self) -> bool:
        """Whether nothing is left."""
        return self.steps <= 0 or process_time() - self.started > self.seconds


class Nearness(IntEnum):
    """How near a question is to what a run is asked for."""

    NEAR = 0
    LEADING = 1
    ASIDE = 2
    """It came up in a call of which nothing is seen but its value, if that: a helper that logs or loads a setting."""


@dataclass
class Waiting:
    """Ways that branch off the paths so far: into what is new by nearness, and again at questions answered before."""

    near: deque[tuple[int, ...]] = field(default_factory=deque)
    new: deque[tuple[int, ...]] = field(default_factory=lambda: deque([()]))
    aside: deque[tuple[int, ...]] = field(default_factory=deque)
    again: deque[tuple[int, ...]] = field(default_factory=deque)
    old: deque[tuple[int, ...]] = field(default_factory=deque)
    keys: deque[tuple[int, ...]] = field(default_factory=deque)
    """Where a key that was looked up, far from the sign, is there or not: a guard that was not missed yet."""

    def __bool__(self) -> bool:
        return bool(self.fresh or self.again or self.old)

    @property
    def fresh(self) -> deque[tuple[int, ...]]:
        """The nearest ways into what is new."""
        return self.near or self.new or self.keys or self.aside

    def pop(self, turn: int) -> tuple[int, ...]:
        """The next way: what is new and farther takes turns with near questions that are asked again."""
        turns = (self.again, self.new, self.keys, self.aside)
        turns = turns if turn % 2 else (*turns[1:], self.again)
        ahead = (self.keys, self.near) if turn % KEYS_TURN == KEYS_TURN - 1 else (self.near,)
        queues: tuple[deque[tuple[int, ...]], ...] = (*ahead, *turns, self.old)
        return next(queue for queue in queues if queue).popleft()

    def add(self, way: tuple[int, ...], nearness: Nearness, fresh: bool, key: bool) -> None:
        """Adds a way behind those of its kind. `key`: the question is whether a key is there."""
        if fresh:
            far = self.keys if key else self.new
            (self.near, far, self.aside)[nearness].append(way)
        else:
            (self.again, self.old, self.old)[nearness].append(way)

    def add_first(self, way: tuple[int, ...], nearness: Nearness) -> None:
        """Adds a way into what is new before all others."""
        (self.aside if nearness is Nearness.ASIDE else self.near).appendleft(way)

    def reached(self) -> None:
        """What was put first to find a path that does not fail is far from now on."""
        self.new.extend(self.near)
        self.near.clear()


class Explorer:
    """Runs a function path by path. `cover` stops once every option of every question was taken somewhere; otherwise
    all paths are run, those with something new first, until `limit`. As long as all `failed`, the last question that a
    path came to is answered otherwise first, for it is the nearest to what made it fail. Then come the questions by
    their nearness: `near` is told the result, the question and how many came before it. Those that are not near are
    from then on answered as on the first path that did not fail, unless it is their turn."""

    def __init__(
        self,
        budget: Budget,
        limit: int,
        cover: bool,
        steps: int = 60_000,
        total: int = 400_000,
        failed: Callable[[Any], bool] = lambda _: False,
        near: Callable[[Any, Decision, int], Nearness] = lambda *_: Nearness.LEADING,
        arrives: Callable[[Any], bool] = lambda _: True,
    ) -> None:
        self.budget = budget
        self.left = total
        self.limit = limit
        self.cover = cover
        self.steps = steps
        self.failed = failed
        self.near = near
        self.arrives = arrives
        self.complete = True
        self.covered = True
        """Whether each answer that was seen to be possible was taken on some path."""
        self.near_left = False
        """Whether the number of paths ended where near questions had answers that no path had taken."""
        self.cut = False
        """Whether a path was broken off, or none was begun any more, because there were no steps left."""

    def run(self, path: Callable[[Oracle], Result]) -> Iterator[tuple[Result, list[Decision]]]:
        """The results of all paths, each with the decisions that it took."""
        waiting = Waiting()
        seen: set[tuple[object, int]] = set()
        served: set[tuple[object, int]] = set()
        usual: dict[object, int] = {}
        count, reached, arrived = 0, False, False
        while waiting:
            if count >= self.limit or self.budget.spent or self.left <= 0:
                self.complete, self.covered = False, not waiting.fresh
                self.near_left = bool(waiting.near)
                self.cut = self.cut or count < self.limit
                return
            prefix = waiting.pop(count)
            count += 1
            oracle = Oracle(prefix, self.steps, usual)
            result = path(oracle)
            self.cut = self.cut or oracle.steps_left < 0
            taken = self.steps - max(oracle.steps_left, 0)
            self.budget.spend(taken)
            self.left -= taken
            decisions = oracle.decisions
            seen.update((d.key, d.option) for d in decisions)
            failed = self.failed(result)
            if not failed and not reached:
                reached = True
                waiting.reached()
                far = (d for n, d in enumerate(decisions) if self.near(result, d, n) is not Nearness.NEAR)
                usual = {d.key: d.option for d in far}
            arrived = arrived or (not failed and self.arrives(result)) or count >= SOUGHT
            served.update((d.key, d.option) for d in decisions if not failed)
            for decision, other, fresh in self._others(decisions, len(prefix), seen):
                near = self.near(result, decision, len(other) - 1)
                seeking = not reached or (not arrived and not failed and near is Nearness.NEAR)
                if fresh and seeking and self._is_among_first(decision, other[-1]):
                    waiting.add_first(other, near)
                else:
                    waiting.add(other, near, fresh, decision.kind == "lookup" and not self.cover)
            if not failed:
                waiting.near.extend(self._unserved(result, decisions[: len(prefix)], served))
            yield result, decisions

    @staticmethod
    def _is_among_first(decision: Decision, option: int) -> bool:
        """Whether an answer is one of the few to its question that come before all else: the last ones, as they are
        taken from the end."""
        return option >= decision.options - TRIED_FIRST

    def _unserved(
        self, result: Any, decisions: list[Decision], served: set[tuple[object, int]]
    ) -> Iterator[tuple[int, ...]]:
        """Other ways at the near questions that led to a path that came through, where they were only seen on paths
        that did not."""
        for position, decision in enumerate(decisions):
            for option in range(decision.options):
                new = (decision.key, option) not in served
                if new and self.near(result, decision, position) is Nearness.NEAR:
                    served.add((decision.key, option))
                    yield (*(d.option for d in decisions[:position]), option)

    def _others(
        self, decisions: list[Decision], begin: int, seen: set[tuple[object, int]]
    ) -> Iterator[tuple[Decision, tuple[int, ...], bool]]:
        """Where other ways branch off a path behind its first `begin` decisions, and whether into what is new."""
        for position in range(begin, len(decisions)):
            decision = decisions[position]
            head = tuple(d.option for d in decisions[:position])
            for option in range(decision.options):
                fresh = (decision.key, option) not in seen
                if option == decision.option or (self.cover and not fresh):
                    continue
                if self.cover:
                    seen.add((decision.key, option))
                yield decision, (*head, option), fresh
