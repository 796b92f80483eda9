"""The model: two processes, one client with a cursor, a balancer; the search for the shortest corrupting run.

The story: the client opens the stream at process A, receives events, is cut off, and comes back with the id of the last
event that it holds. It *corrupts* when the answer is 2xx and what the client holds after its cursor is not the logical
stream after that cursor, in order, once each. `search` tries every order of events, breadth first, and returns the
first story that ends so, or `Safe`. It reads a `Situation` and nothing else: no files, no clock, no chance.

Words: an event has a name of its own ("a2": the second that A published), which tells events apart whatever ids they
carry. Its *id* is what is on the wire, and depends on who named it. The *stream* is what a subscriber would get if
there were one process for ever. docs/model.md has the assumptions and the bounds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from sselint.facts import Outcome, Scope, Where

A, B, STORE = 0, 1, 2
PUBLICATIONS, RECONNECTS = 3, 2
"""The bound: events published, and connections after the first, in one story."""


@dataclass(frozen=True)
class Situation:
    """Everything that the model reads, each fact concrete. `situation.py` makes them from a deployment.

    `live_tail` NONE: the response ends after the replay, and the client asks again. `on_held`: the answer to a cursor
    that equals an id of this process (COMPARED: continues behind it); `on_foreign`: to one that does not. `guarded`: a
    key minted at random in one process is looked up first. `elsewhere`: after which routing events a reconnect may meet
    another process; empty where it meets its own or an error. The last two facts ask what *could* happen besides what
    is written down: a restart, and events dropped from a bounded buffer.
    """

    scope: Scope
    replay: Where = Where.MEMORY
    live_tail: Where = Where.MEMORY
    on_foreign: Outcome = Outcome.FROM_HEAD
    on_held: Outcome = Outcome.COMPARED
    on_missing: Outcome = Outcome.FROM_HEAD
    reads_cursor: bool = True
    guarded: bool = False
    stripped: bool = False
    client_sends: bool = True
    processes: int = 2
    elsewhere: tuple[str, ...] = ("plain",)
    restarts: bool = False
    evicts: bool = False


class Id(NamedTuple):
    """An id on the wire: `namer` is empty where another process may give the same name."""

    namer: str
    number: int


class Entry(NamedTuple):
    """An event as it is kept and sent."""

    event: str
    id: Id


class State(NamedTuple):
    """A moment of the story. `logs`: what A, B and the shared store can replay; `named`: ids given out by A and B in
    this life. `since`: where in `held` the latest answer begins (None: the client has not come back yet), and `cursor`
    what it will present next. `behind`: where in `stream` the presented cursor stands."""

    logs: tuple[tuple[Entry, ...], ...] = ((), (), ())
    named: tuple[int, ...] = (0, 0)
    published: tuple[int, ...] = (0, 0)
    life: int = 0
    stream: tuple[str, ...] = ()
    opened: bool = False
    at: int | None = None
    last: int = A
    held: tuple[str, ...] = ()
    cursor: Entry | None = None
    since: int | None = None
    behind: int = 0
    reconnects: int = 0
    refused: bool = False

    @property
    def answer(self) -> tuple[str, ...]:
        """What the client has received since it came back."""
        return self.held[self.since :] if self.since is not None else ()

    @property
    def owed(self) -> tuple[str, ...]:
        """What the logical stream has after the cursor that the client presented."""
        return self.stream[self.behind :]


class Action(NamedTuple):
    """One thing that happens: open, publish, cut, reconnect, restart or evict; where; after which routing event."""

    kind: str
    process: int
    after: str = ""


Move = tuple[Action, State]


class Witness(NamedTuple):
    """A corrupting story: `states[0]` is the start, `states[n + 1]` what `actions[n]` leads to."""

    actions: tuple[Action, ...]
    states: tuple[State, ...]


class Safe(NamedTuple):
    """No corrupting story up to the bound, and what happened in its stead. `returns`: the process that a cursor came
    from continued it; `continues`: another process did, rightly; `refuses`: a cursor that was presented was refused."""

    returns: bool
    continues: bool
    refuses: bool
    states: int


@cache
def search(s: Situation) -> Witness | Safe:
    """The shortest corrupting run of the situation, or why there is none. Deterministic: ties go to the first found."""
    came_from: dict[State, tuple[State, Action] | None] = dict.fromkeys(starts(s))
    queue = deque(came_from)
    returns = continues = refuses = False
    while queue:
        state = queue.popleft()
        for action, after in moves(s, state):
            if after in came_from:
                continue
            came_from[after] = (state, action)
            if corrupted(action, after):
                return _retraced(came_from, after)
            if action.kind == "reconnect":
                refuses |= after.refused
                returns |= not after.refused and action.process == state.last
                continues |= not after.refused and action.process != state.last
            queue.append(after)
    return Safe(returns, continues, refuses, len(came_from))


def starts(s: Situation) -> tuple[State, ...]:
    """Where a story begins: nothing has been published, though A may have been up for longer than B."""
    return (State(), State(named=(1, 0))) if s.processes > 1 else (State(),)


def corrupted(action: Action, after: State) -> bool:
    """Whether the client, told 2xx, holds something other than the stream after its cursor. A client that is away is
    owed nothing until it asks."""
    told = after.at is not None or action.kind == "reconnect"
    return told and after.since is not None and not after.refused and after.answer != after.owed


def moves(s: Situation, state: State) -> Iterator[Move]:
    """All that can happen next, in the order in which stories are best told."""
    if state.refused or not s.client_sends or s.scope is Scope.NONE:
        return
    if not state.opened and (s.live_tail is not Where.NONE or _log(s, state, A)):
        yield Action("open", A), _opened(s, state)
    if sum(state.published) < PUBLICATIONS:
        for process in (A, B) if _b_publishes(s) else (A,):
            yield Action("publish", process), _published(s, state, process)
    if s.evicts and any(state.logs):
        logs = tuple(log[1:] for log in state.logs)
        yield Action("evict", A), state._replace(logs=logs)
    if s.restarts and state.opened and not state.life:
        logs = ((), *state.logs[1:])
        at = None if state.at == A else state.at
        yield Action("restart", A), state._replace(logs=logs, named=(0, state.named[B]), life=1, at=at)
    if state.at is not None:
        yield Action("cut", state.at), state._replace(at=None)
    elif state.cursor and state.reconnects < RECONNECTS:
        yield from _reconnects(s, state, state.cursor)


# -- publishing


def _b_publishes(s: Situation) -> bool:
    """Not where a guard ties the stream to A, and not where B would put into a shared log what only its own listeners
    hear: such a stream is published by one process."""
    return s.processes > 1 and not s.guarded and not (s.replay is Where.SHARED and s.live_tail is Where.MEMORY)


def _published(s: Situation, state: State, process: int) -> State:
    """The process publishes an event. It enters the shared log under one id; or the memory of each process that hears
    of it, which gives it an id of its own."""
    event = f"{'ab'[process]}{state.published[process] + 1}"
    by_all = s.live_tail is Where.SHARED
    hearing = [process] if s.replay is Where.SHARED or not by_all else [A, B][: s.processes]
    entries = {p: Entry(event, id_given(s, state, p)) for p in hearing}
    named, logs = list(state.named), list(state.logs)
    for p, entry in entries.items():
        named[p] += 1
        if s.replay is not Where.NONE:
            place = STORE if s.replay is Where.SHARED else p
            logs[place] = (*logs[place], entry)
    published = tuple(n + (p == process) for p, n in enumerate(state.published))
    if process == A or by_all or s.replay is Where.SHARED:
        state = state._replace(stream=(*state.stream, event))  # else: another client's
    state = state._replace(named=tuple(named), logs=tuple(logs), published=published)
    hears = state.at is not None and (by_all or state.at == process) and s.live_tail is not Where.NONE
    return _received(state, (entries.get(state.at or A, entries[hearing[0]]),)) if hears else state


def id_given(s: Situation, state: State, namer: int) -> Id:
    """The id that a process gives to the event being published."""
    clock = sum(state.published) + 1
    if s.scope is Scope.UNIQUE_LOCAL:
        return Id(f"{'ab'[namer]}{state.life if namer == A else 0}", state.named[namer] + 1)
    if s.scope is Scope.ORDERED_LOCAL:
        return Id("", 2 * clock + namer)  # clocks agree, but never to the tick
    return Id("", clock if s.scope is Scope.SHARED else state.named[namer] + 1)


# -- connections


def _opened(s: Situation, state: State) -> State:
    """The first connection, at A: what it lacks or repeats does not count."""
    if s.live_tail is Where.NONE:
        return _received(state._replace(opened=True), _log(s, state, A))
    return state._replace(opened=True, at=A)


def _received(state: State, entries: tuple[Entry, ...]) -> State:
    held = (*state.held, *(e.event for e in entries))
    return state._replace(held=held, cursor=entries[-1] if entries else state.cursor)


def _reconnects(s: Situation, state: State, cursor: Entry) -> Iterator[Move]:
    """The client presents its cursor, to the process it came from or, where the balancer may, to the other."""
    ways = [(state.last, "plain")] + [(1 - state.last, event) for event in s.elsewhere if s.processes > 1]
    for process, event in ways:
        back = state._replace(last=process, since=len(state.held), reconnects=state.reconnects + 1)
        back = back._replace(behind=state.stream.index(cursor.event) + 1)
        for entries, stays in _answers(s, state, process, cursor.id):
            if entries is None:
                yield Action("reconnect", process, event), back._replace(refused=True)
            else:
                at = process if stays and s.live_tail is not Where.NONE else None
                yield Action("reconnect", process, event), _received(back._replace(at=at), entries)


def _answers(s: Situation, state: State, process: int, cursor: Id) -> Iterator[tuple[tuple[Entry, ...] | None, bool]]:
    """What the process may answer: the entries replayed (None: a refusal), and whether the connection then stays."""
    log = _log(s, state, process)
    place = next((n for n, entry in enumerate(log) if entry.id == cursor), None)
    outcome = s.on_foreign if place is None else s.on_held
    if s.stripped or not s.reads_cursor or outcome in (Outcome.IGNORED, Outcome.NOT_READ):
        outcome = s.on_missing
    if (s.guarded and (process != A or state.life)) or outcome is Outcome.FAIL_CLOSED:
        yield None, False
    elif outcome is Outcome.REPLAY_ALL:
        yield log, True
    elif outcome is not Outcome.COMPARED:
        yield (), outcome is Outcome.FROM_HEAD
    elif place is not None:
        yield log[place + 1 :], True
    elif s.scope is Scope.UNIQUE_LOCAL:  # not made to be compared: the order can turn out either way
        yield from (((), True), (log, True))
    else:
        yield tuple(e for e in log if e.id.number > cursor.number), True


def _log(s: Situation, state: State, process: int) -> tuple[Entry, ...]:
    return state.logs[STORE if s.replay is Where.SHARED else process]


def _retraced(came_from: dict[State, tuple[State, Action] | None], end: State) -> Witness:
    """The story that led to `end`, from its start."""
    actions: deque[Action] = deque()
    states = deque([end])
    while step := came_from[states[0]]:
        states.appendleft(step[0])
        actions.appendleft(step[1])
    return Witness(tuple(actions), tuple(states))
