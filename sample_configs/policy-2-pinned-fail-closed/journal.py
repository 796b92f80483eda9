"""What this process has told, in order. Ids are random: nobody else's can be mistaken for one of them."""

import uuid
from dataclasses import dataclass, field


class UnknownEvent(LookupError):
    """This process has not told any event of that id."""


@dataclass(frozen=True)
class Event:
    text: str
    id: str = field(default_factory=lambda: uuid.uuid4().hex)


class Journal:
    def __init__(self) -> None:
        self.events: list[Event] = []

    def add(self, text: str) -> Event:
        event = Event(text)
        self.events.append(event)
        return event

    def position_after(self, last_event_id: str | None) -> int:
        if last_event_id is None:
            return 0
        for position, event in enumerate(self.events):
            if event.id == last_event_id:
                return position + 1
        raise UnknownEvent(last_event_id)


journal = Journal()
