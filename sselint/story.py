"""A corrupting run as the account of an incident: in the reader's own names and lines, one step a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from sselint.conditions import describe
from sselint.deployment import Deployment
from sselint.facts import Evidence, KeyCarrier, KeyIssuer, Outcome, RoutingEvent, Scope, Where
from sselint.findings import Step
from sselint.harm import Harm, harm, harms
from sselint.model import STORE, A, Action, Id, Situation, State, Witness, id_given
from sselint.routing import AFFINITY_FAILS, RELEASE, ROUTED_ON_CURSOR, Choice, Detour, Way, choices, senders, stripping
from sselint.situation import Completion

HAPPENS = {
    RoutingEvent.DRAIN.value: "{a} is drained",
    RoutingEvent.DOWN_DETECTED.value: "{a} goes down, and {hop} notices",
    RoutingEvent.CHECK_FAILS.value: "A health check of {a} fails",
    RoutingEvent.DOWN.value: "{a} goes down",
    RoutingEvent.MAINTENANCE.value: "{a} is taken out for maintenance",
    RoutingEvent.SCALE_OUT.value: "{hop} is given one member more",
    RoutingEvent.REMOVED.value: "{a} is removed from {hop}",
    RoutingEvent.MOVED.value: "{a} comes back under a new address",
    RoutingEvent.RELOAD.value: "{hop} is reloaded",
    RoutingEvent.RESTART.value: "{hop} is restarted",
    RoutingEvent.SECOND_PROXY.value: "A second proxy of {hop} takes over",
    RoutingEvent.KEY_LAPSED.value: "{key} lapses, although the stream was open until now",
    RELEASE: "A release starts {b} beside {a}",
    AFFINITY_FAILS: "{hop} does not find the client's process again: its affinity is best effort",
}
"""What happens before a reconnect that meets another process; nothing needs to where no affinity is at work."""

OTHERWISE = {
    "lost": "events are lost",
    "repeated": "events are received twice",
    "foreign": "events of another stream are taken for this one's",
}

MAKES_ANOTHER = (RELEASE, RoutingEvent.SCALE_OUT.value)
"""What brings the other process into being: told before anything that this one does."""


@dataclass(frozen=True)
class Story:
    """The steps; what they do to the client, in words; and the last turn of it in one clause, for a headline."""

    steps: tuple[Step, ...]
    damage: str
    turn: str


Telling = tuple[str, str, str, Evidence, tuple[str, ...]]
"""A step before it has its number: actor, event, text, places, what the client holds."""


class Names(NamedTuple):
    """What the two processes are called."""

    a: str
    b: str

    def of(self, process: int) -> str:
        """The name of a process of the model."""
        return self.a if process == A else self.b


def tell(deployment: Deployment, completion: Completion, situation: Situation, witness: Witness) -> Story:
    """The story of a witness. `situation` is what was searched: of a latent deployment, what may become of it."""
    return _Teller(deployment, completion.way, situation, witness).story()


@dataclass
class _Teller:
    deployment: Deployment
    way: Way
    situation: Situation
    witness: Witness

    def __post_init__(self) -> None:
        self.elsewhere = [a for a in self.witness.actions if a.kind == "reconnect" and a.process != A]
        self.event = self.elsewhere[0].after if self.elsewhere else ""
        self.detour = self._detour(self.event)
        self.names = _names(self.deployment, self.detour, self.situation.processes)
        self.ids: dict[str, tuple[Id, ...]] = {}

    def _detour(self, event: str) -> Detour:
        """The hop that brings the client elsewhere; where none does today, the one that will when it is scaled."""
        chain = choices(self.deployment)
        later = Detour(event, next((c for c in reversed(chain) if c.kind != "workers"), chain[-1]))
        return self.way.detour(event) or later

    def story(self) -> Story:
        told: list[Step] = []
        for step in self._steps():
            told.append(Step(len(told) + 1, *step))
        return Story(tuple(told), self._damage(), self._turn())

    def _steps(self) -> Iterator[Telling]:
        before, happened = self.witness.states[0], False
        for action, after in zip(self.witness.actions, self.witness.states[1:], strict=True):
            other = action.kind == "reconnect" and action.process != A
            makes = self.event in MAKES_ANOTHER and action.process != A
            if (other or makes) and not happened and self.event in HAPPENS:
                yield self._happening(before)
                happened = True
            yield from self._of(action, before, after)
            before = after

    def _of(self, action: Action, before: State, after: State) -> Iterator[Telling]:
        published = self._published(action, before, after) if action.kind == "publish" else None
        holds = tuple(self._id_of(e) for e in after.held)
        if published is not None:
            yield self.names.of(action.process), "publish", *published, holds
        elif action.kind == "open":
            yield "client", "open", self._opened(after), self._entry(), holds
        elif action.kind == "cut":
            yield "client", "cut", "The connection breaks off", (), holds
        elif action.kind == "restart":
            text = f"{_start(self.names.a)} is restarted: what it kept in memory is gone, and the connection with it"
            yield self.names.a, "restart", text, self.deployment.stream.replay.evidence[:1], holds
        elif action.kind == "reconnect":
            yield self._came_back(action, before)
            yield self._answered(action, before, after)

    # -- one step each

    def _opened(self, after: State) -> str:
        url = self.deployment.stream.url or "the stream"
        text = f"A client opens {url} and is served by {self.names.a}"
        affinity = self.detour.choice.affinity
        if affinity and affinity.key.carrier is KeyCarrier.COOKIE and affinity.key.issued_by is KeyIssuer.PROXY:
            text += f", which {self.detour.choice.name} notes in the cookie {_code(affinity.key.name)}"
        if after.held:
            text += f"; the response ends with {self._events(after.held)}"
        return text

    def _entry(self) -> Evidence:
        return self.deployment.stream.evidence[:1]

    def _published(self, action: Action, before: State, after: State) -> tuple[str, Evidence]:
        stream, s = self.deployment.stream, self.situation
        event = f"{'ab'[action.process]}{after.published[action.process]}"
        given = [p for p in (0, 1) if after.named[p] > before.named[p]]
        self.ids[event] = tuple(id_given(s, before, p) for p in given)
        shown = self._id_of(event)
        name = self.names.of(action.process)
        taken = any(shown == self._id_of(e) for e in self.ids if e != event)
        own = "an event" if action.process == A else "an event of its own"
        text = f"{_start(name)} publishes {own}, {'again with' if taken else 'with'} the id `{shown}`"
        if action.process == A and not taken:
            text = f"{_start(name)} publishes the event `{shown}`"
        if len(given) > 1 and s.scope is not Scope.SHARED:
            other = _shown(id_given(s, before, 1))
            text += f", which is `{other}` on {self.names.b}" if action.process == A else ""
        first = len(self.ids) == 1
        if first:
            text += f" ({stream.ids.why})"
        if len(after.held) > len(before.held):
            text += "; the client receives it"
        elif before.at is not None and after.since is not None and event in after.stream:
            text += f"; the client, who is with {self.names.of(before.at)} now, does not receive it"
        elif before.at is None and event in after.stream and before.opened:
            text += " while the client is away"
        return text, stream.ids.evidence[:1] if first or taken else ()

    def _happening(self, before: State) -> Telling:
        choice = self.detour.choice
        evidence = choice.rolling_evidence if self.event == RELEASE else ()
        holds = tuple(self._id_of(e) for e in before.held)
        return choice.name, self.event, _start(self._happens()), evidence[:1], holds

    def _happens(self) -> str:
        """What happens to the routing, as a sentence; nothing where no affinity is at work."""
        choice = self.detour.choice
        key = "the routing key"
        if choice.affinity and choice.affinity.key.name:
            key = f"the key {_code(choice.affinity.key.name)}"
        if choice.affinity and choice.affinity.key.seconds is not None:
            key += f" (it lives for {choice.affinity.key.seconds:.9g} s)"
        return HAPPENS.get(self.event, "").format(a=self.names.a, b=self.names.b, hop=choice.name, key=key)

    def _came_back(self, action: Action, before: State) -> Telling:
        cursor = before.cursor
        assert cursor is not None
        text = f"The client comes back with `Last-Event-ID: {_shown(cursor.id)}`"
        evidence: Evidence = ()
        if action.process == before.last:
            text += f" to {self.names.of(action.process)}"
        else:
            text += f" and is sent to {self.names.of(action.process)}{self._because()}"
            choice = self.detour.choice
            evidence = (*choice.evidence[:1], *(choice.affinity.undone_by[:1] if choice.affinity else ()))
        route = stripping(self.deployment) if self.situation.stripped else None
        if route is not None:
            text += f"; {route.name} removes the header on the way"
            evidence = (*evidence, *route.last_event_id_evidence[:1])
        return "client", "reconnect", text, evidence, tuple(self._id_of(e) for e in before.held)

    def _because(self) -> str:
        if self.way.detour(self.event) is None:
            return ", as it can be once nothing pins it" if self.way.several else ", as it will be when there are two"
        if self.event == ROUTED_ON_CURSOR:
            return f": {self.detour.choice.name} chooses by the cursor itself"
        undone = self.detour.choice.affinity.undone_by[:1] if self.detour.choice.affinity else ()
        if undone and self.event in HAPPENS:
            return f": {undone[0].note or 'what stands there undoes the affinity'}"
        return f": {describe(self.detour.choice, senders(self.deployment))}"

    def _answered(self, action: Action, before: State, after: State) -> Telling:
        name = self.names.of(action.process)
        clause, evidence = self._reading(action, before)
        received = after.held[len(before.held) :]
        nothing = "sends nothing of what came after it" if after.owed else "has nothing to send yet"
        gets = f"sends {self._events(received, action.process)}" if received else nothing
        text = f"{_start(name)} answers 200 and {gets}: {clause}"
        return name, "answer", text, evidence, tuple(self._id_of(e) for e in after.held)

    def _reading(self, action: Action, before: State) -> tuple[str, Evidence]:
        """What the process makes of the cursor, as a clause."""
        stream, s = self.deployment.stream, self.situation
        cursor = before.cursor
        assert cursor is not None
        if s.stripped:
            return "without a cursor this is a first connection", (stream.on_missing or stream.on_foreign).evidence
        if not s.reads_cursor:
            return stream.on_foreign.why or "nothing reads the cursor", stream.on_foreign.evidence
        if s.replay is Where.NONE:
            return f"nothing is kept that could be sent again ({stream.replay.why})", stream.replay.evidence
        log = before.logs[STORE if s.replay is Where.SHARED else action.process]
        own = next((e for e in log if e.id == cursor.id), None)
        shown, name = _shown(cursor.id), self.names.of(action.process)
        if own is None:
            lacks = self._lacks(shown, before, action)
            return f"{name} {lacks}; {stream.on_foreign.why}", stream.on_foreign.evidence[-1:]
        run = stream.on_overlap
        if s.on_held is Outcome.IGNORED:
            run = stream.on_foreign
        goes_on = run.why if run is not None else "it goes on behind it"
        whose = "another" if own.event != cursor.event else "the"
        return f"{name} has {whose} event `{shown}`; {goes_on}", run.evidence[-1:] if run is not None else ()

    def _lacks(self, shown: str, before: State, action: Action) -> str:
        """That a process does not have an event; where ids are counted, how far it is."""
        counted = before.named[action.process]
        if self.situation.scope is not Scope.OVERLAPPING:
            return f"has no event `{shown}`"
        return f"is at `{counted}` and has no event `{shown}`" if counted else f"has no event `{shown}` yet"

    # -- what it comes to

    def _damage(self) -> str:
        """What this run does to the client, and what other runs of the same facts do."""
        lost, repeated, foreign = done = harm(self.witness.states[-1])
        parts = []
        if lost:
            parts.append(f"lost: {self._events(lost)} of {self.names.of('ab'.index(lost[0][0]))}")
        if repeated:
            parts.append(f"received twice: {self._events(repeated)}")
        if foreign:
            parts.append(f"taken for the stream's: {self._events(foreign)} of {self.names.b}")
        others = [OTHERWISE[kind] for kind in Harm._fields if kind in harms(self.situation) - done.kinds]
        if others:
            parts.append(f"in other runs {' and '.join(others)}")
        return "; ".join(parts) or "events arrive out of order"

    def _turn(self) -> str:
        """Where it goes wrong, in one clause."""
        s, stream = self.situation, self.deployment.stream
        route = stripping(self.deployment) if s.stripped else None
        if route is not None:
            return f"{route.name} removes `Last-Event-ID` although ids are sent, so that every resumption begins anew"
        if not s.reads_cursor or s.on_held not in (Outcome.COMPARED, Outcome.FAIL_CLOSED):
            run = stream.on_overlap if s.reads_cursor and stream.on_overlap is not None else stream.on_foreign
            return f"ids are sent, and the cursor that comes back is not used: {run.why}"
        if s.replay is Where.NONE:
            return f"ids promise a resumption that nothing can serve: {stream.replay.why}"
        if s.replay is Where.SHARED and s.live_tail is Where.MEMORY and self.elsewhere:
            return f"a client that comes back hears no more of what other processes publish: {stream.replay.why}"
        if not self.elsewhere and any(a.kind == "restart" for a in self.witness.actions):
            return f"a client that comes back after a restart presents an id of the former life: {stream.ids.why}"
        if not self.elsewhere:
            return f"two events can have the same id: {stream.ids.why}"
        happens = self._happens()
        when = f" once {_small(happens)}" if happens else ""
        last = next(a for a in reversed(self.witness.actions) if a.kind == "reconnect")
        before = self.witness.states[self.witness.actions.index(last)]
        clause, _ = self._reading(last, before)
        return f"a client that comes back is sent to {self.names.b}{when}; {clause}"

    # -- words

    def _id_of(self, event: str, process: int = A) -> str:
        """The id under which this process sends an event; where only one knows it, under which that one does."""
        given = self.ids[event]
        return _shown(given[process] if len(given) > 1 else given[0])

    def _events(self, events: tuple[str, ...], process: int = A) -> str:
        shown = [f"`{self._id_of(e, process)}`" for e in events]
        return f"event{'s' if len(shown) > 1 else ''} {', '.join(shown)}"


def _names(deployment: Deployment, detour: Detour, processes: int) -> Names:
    choice = detour.choice
    if detour.event == RELEASE:
        return Names("the old process", "the new process")
    if processes == 1:
        return Names("the process", "another process")
    hosts = _hosts(choice)
    if len(hosts) > 1:
        return Names(*hosts[:2])
    replica = "pod" if any(h.pool.format == "kubernetes" for h in deployment.hops if h.pool) else "replica"
    kind = {"workers": "worker", "unknown": "process"}.get(choice.kind, replica)
    return Names(f"{kind} A", f"{kind} B")


def _hosts(choice: Choice) -> tuple[str, ...]:
    """The members as a route names them, where it names them one by one."""
    if choice.route is None:
        return ()
    targets = choice.route.targets
    hosts = tuple(dict.fromkeys(t.host for t in targets))
    if len(hosts) == 1:
        return tuple(dict.fromkeys(f"{t.host}:{t.port}" for t in targets))
    return hosts


def _shown(given: Id) -> str:
    """An id as the story writes it: numbers, and where ids name their process its letter in front."""
    if not given.namer:
        return str(given.number)
    life = "" if given.namer.endswith("0") else "'"
    return f"{given.namer[0]}{life}-{given.number}"


def _code(name: str) -> str:
    return f"`{name}`" if name else "of its own"


def _start(text: str) -> str:
    return text[:1].upper() + text[1:] if text.startswith(("the ", "worker", "replica", "process", "pod ")) else text


def _small(text: str) -> str:
    return text[:1].lower() + text[1:] if text.startswith(("A ", "The ")) else text
