"""Which way an undecided branch goes. A run asks; the explorer runs again while there are ways left and budget.

Each run is one path: the interpreter is an ordinary recursive evaluator, and exploring is running it again with other
answers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import process_time
from typing import TypeVar

from sselint.read.python.modules import Site


class OutOfBudget(Exception):  # noqa: N818 - a signal, not an error
    """The run took more steps than it may."""


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


@dataclass
class Oracle:
    """Answers the questions of one run: first those of `prefix`, then always the first option."""

    prefix: tuple[int, ...] = ()
    steps_left: int = 60_000
    decisions: list[Decision] = field(default_factory=list)

    def choose(self, options: int, key: object, kind: str, label: str = "", site: Site | None = None) -> int:
        """The option taken, 0 up to `options` - 1."""
        position = len(self.decisions)
        option = self.prefix[position] if position < len(self.prefix) else 0
        option = min(option, options - 1)
        self.decisions.append(Decision(key, option, options, kind, label, site))
        return option

    def step(self) -> None:
        """Counts a step. Raises OutOfBudget."""
        self.steps_left -= 1
        if self.steps_left < 0:
            raise OutOfBudget


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


class Explorer:
    """Runs a function path by path. `cover` stops once every option of every question was taken somewhere; otherwise
    all paths are run, those with something new first, until `limit`."""

    def __init__(self, budget: Budget, limit: int, cover: bool, steps: int = 60_000, total: int = 400_000) -> None:
        self.budget = budget
        self.left = total
        self.limit = limit
        self.cover = cover
        self.steps = steps
        self.complete = True

    def run(self, path: Callable[[Oracle], Result]) -> Iterator[tuple[Result, list[Decision]]]:
        """The results of all paths, each with the decisions that it took."""
        new: deque[tuple[int, ...]] = deque([()])
        old: deque[tuple[int, ...]] = deque()
        seen: set[tuple[object, int]] = set()
        count = 0
        while new or old:
            prefix = new.popleft() if new else old.popleft()
            if count >= self.limit or self.budget.spent or self.left <= 0:
                self.complete = False
                return
            count += 1
            oracle = Oracle(prefix, self.steps)
            result = path(oracle)
            taken = self.steps - max(oracle.steps_left, 0)
            self.budget.spend(taken)
            self.left -= taken
            decisions = oracle.decisions
            seen.update((d.key, d.option) for d in decisions)
            for position in range(len(prefix), len(decisions)):
                decision = decisions[position]
                head = tuple(d.option for d in decisions[:position])
                for option in range(decision.options):
                    if option == decision.option:
                        continue
                    fresh = (decision.key, option) not in seen
                    if fresh:
                        new.append((*head, option))
                        if self.cover:
                            seen.add((decision.key, option))
                    elif not self.cover:
                        old.append((*head, option))
            yield result, decisions
