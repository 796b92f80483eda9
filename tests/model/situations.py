"""Every combination of the facts that the model reads, and the closed form of what it finds in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from sselint.conditions import (
    DEFINITIONS,
    client_honours_last_event_id,
    lb_can_route_elsewhere,
    unknown_id_tolerated,
)
from sselint.facts import Outcome, Scope, Where
from sselint.model import Situation

SCOPES = (Scope.SHARED, Scope.UNIQUE_LOCAL, Scope.ORDERED_LOCAL, Scope.OVERLAPPING, Scope.NONE)
PLACES = tuple(p for p in product((Where.MEMORY, Where.SHARED, Where.NONE), repeat=2) if p != (Where.NONE, Where.NONE))
"""(replay, live tail): a stream with neither sends nothing that anybody could lose."""

HANDLERS = {
    "refuses what it does not hold": (Outcome.FAIL_CLOSED, Outcome.COMPARED, True),
    "refuses every cursor": (Outcome.FAIL_CLOSED, Outcome.FAIL_CLOSED, True),
    "from the head": (Outcome.FROM_HEAD, Outcome.COMPARED, True),
    "everything": (Outcome.REPLAY_ALL, Outcome.COMPARED, True),
    "what compares greater": (Outcome.COMPARED, Outcome.COMPARED, True),
    "200 and nothing": (Outcome.EMPTY, Outcome.COMPARED, True),
    "reads and ignores it": (Outcome.IGNORED, Outcome.IGNORED, True),
    "does not read it": (Outcome.NOT_READ, Outcome.NOT_READ, False),
}
"""What a handler does with a foreign cursor, with one that equals an id of its own, and whether it reads it at all."""

ROUTING = {
    "one process": (1, ()),
    "several, strict affinity": (2, ()),
    "several, the key lapses": (2, ("key_lapsed",)),
    "several, best effort": (2, ("drain",)),
    "several, no affinity": (2, ("plain",)),
}


def every_situation(restarts: bool = False) -> Iterator[Situation]:
    """All combinations of the facts."""
    for scope, (replay, tail), handler, missing, guarded, stripped, sends, routing in product(
        SCOPES,
        PLACES,
        HANDLERS.values(),
        (Outcome.FROM_HEAD, Outcome.REPLAY_ALL),
        (False, True),
        (False, True),
        (True, False),
        ROUTING.values(),
    ):
        yield Situation(
            scope=scope,
            replay=replay,
            live_tail=tail,
            on_foreign=handler[0],
            on_held=handler[1],
            reads_cursor=handler[2],
            on_missing=missing,
            guarded=guarded,
            stripped=stripped,
            client_sends=sends,
            processes=routing[0],
            elsewhere=routing[1],
            restarts=restarts,
        )


def all_five(s: Situation) -> bool:
    return all(holds(s) for holds in DEFINITIONS.values())


# -- the exceptions: a stream that corrupts although one of the five conditions is false


def _answered(s: Situation) -> bool:
    """The cursor reaches a handler that reads it and continues where it holds it."""
    return s.reads_cursor and not s.stripped and s.on_held is Outcome.COMPARED


def never_read(s: Situation) -> bool:
    """The cursor is not read, or read and ignored, although published ids promise that it is."""
    return not s.reads_cursor or s.on_held is Outcome.IGNORED


def stripped(s: Situation) -> bool:
    """A hop removes the header while ids are sent."""
    return s.stripped


def nothing_kept(s: Situation) -> bool:
    """The replay is empty by design, and a cursor is answered all the same."""
    return s.replay is Where.NONE and s.on_foreign is not Outcome.FAIL_CLOSED


def overlapping_under_fail_closed(s: Situation) -> bool:
    """Unknown ids are refused, but another process's id is not unknown: it is somebody else's."""
    fails_closed = s.on_foreign is Outcome.FAIL_CLOSED and _answered(s) and not s.guarded
    local = s.replay is Where.MEMORY
    return s.scope is Scope.OVERLAPPING and fails_closed and local and lb_can_route_elsewhere(s)


def shared_replay_local_tail(s: Situation) -> bool:
    """The replay comes from a shared store, and what follows on the connection from one process only."""
    local_tail = s.replay is Where.SHARED and s.live_tail is Where.MEMORY
    return local_tail and _answered(s) and not s.guarded and lb_can_route_elsewhere(s)


def shared_ids_local_replay(s: Situation) -> bool:
    """A store hands out the ids, but each process keeps only the events that it has published itself."""
    local = s.replay is Where.MEMORY and s.live_tail is not Where.SHARED
    return s.scope is Scope.SHARED and local and unknown_id_tolerated(s) and lb_can_route_elsewhere(s)


def one_log_two_counters(s: Situation) -> bool:
    """The log is shared, the numbers on the wire are counted by each process: two events have the same id."""
    one_log = s.replay is Where.SHARED and s.live_tail is not Where.MEMORY
    return s.scope is Scope.OVERLAPPING and one_log and s.processes > 1 and _answered(s) and not s.guarded


EXCEPTIONS: dict[str, Callable[[Situation], bool]] = {
    "never_read": never_read,
    "stripped": stripped,
    "nothing_kept": nothing_kept,
    "overlapping_under_fail_closed": overlapping_under_fail_closed,
    "shared_replay_local_tail": shared_replay_local_tail,
    "shared_ids_local_replay": shared_ids_local_replay,
    "one_log_two_counters": one_log_two_counters,
}


def exceptions(s: Situation) -> list[str]:
    """The names of the exceptions that a situation falls under. All of them need a client that sends a cursor."""
    if not client_honours_last_event_id(s):
        return []
    return [name for name, holds in EXCEPTIONS.items() if holds(s)]
