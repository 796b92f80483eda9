"""What this process has told, in order."""

import itertools
from dataclasses import dataclass


@dataclass(frozen=True)
class Event:
    id: int
    text: str


class Journal:
    def __init__(self) -> None:
        self.events: list[Event] = []
        self._ids = itertools.count(1)

    def add(self, text: str) -> Event:
        event = Event(next(self._ids), text)
        self.events.append(event)
        return event

    def position_after(self, last_event_id: str | None) -> int:
        if last_event_id is None:
            return 0
        for position, event in enumerate(self.events):
            if str(event.id) == last_event_id:
                return position + 1
        # An id that we do not know: degrade gracefully, continue from the current head.
        return len(self.events)


journal = Journal()
