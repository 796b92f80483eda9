"""What this process has told, in order."""

import itertools
from dataclasses import dataclass


@dataclass(frozen=True)
class Event:
    number: int
    text: str


class Journal:
    def __init__(self) -> None:
        self.events: list[Event] = []
        self._numbers = itertools.count(1)

    def add(self, text: str) -> Event:
        event = Event(next(self._numbers), text)
        self.events.append(event)
        return event


journal = Journal()
