"""Which calls of a run lead to what it comes to, and which stand aside: a helper that logs, or that loads a setting.

A run that is cut short loses least where the questions of those that lead are answered otherwise first.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sselint.read.python.interpreter.values import Generator, Ref, Value, is_const

TELLING = frozenset(
    {"cursor", "stream", "start", "frame", "refuse", "plain", "guard", "lookup", "compare", "bound", "parse"}
    | {"read", "live"}
)
"""What a run does that has to do with the stream, or that ends it."""


@dataclass
class Ways:
    """The calls of one run, by number; 0 is what stands around them all."""

    count: int = 0
    open: list[int] = field(default_factory=lambda: [0])
    leading: set[int] = field(default_factory=lambda: {0})
    """Those of files that are about streams, in which something telling was done, that an exception left, whose
    value became the answer, or that said that there is nothing."""
    given: list[tuple[int, Value]] = field(default_factory=list)

    @property
    def within(self) -> int:
        """The innermost call that runs."""
        return self.open[-1]

    def begin(self, leads: bool) -> int:
        """A call begins: its number. `leads`: its file is about streams, so that other answers may come to one."""
        self.count += 1
        if leads:
            self.leading.add(self.count)
        self.open.append(self.count)
        return self.count

    def gave(self, number: int, value: Value) -> None:
        """A call gave a value."""
        if isinstance(value, Ref | Generator):
            self.given.append((number, value))

    def left(self, number: int) -> None:
        """An exception or the end of the run left a call."""
        self.leading.add(number)

    def said(self, value: Value) -> None:
        """What the innermost call gives is written down. Who asked it may well give up where it says that there is
        nothing."""
        if is_const(value, None, False):
            self.leading.add(self.within)

    def end(self) -> None:
        """The innermost call is over."""
        self.open.pop()

    def noted(self, kind: str) -> None:
        """Something was done."""
        if kind in TELLING:
            self.leading.update(self.open)

    def answered(self, value: Value) -> None:
        """A value is what the client gets: the calls that gave it lead there."""
        self.leading.update(number for number, given in self.given if given == value)
