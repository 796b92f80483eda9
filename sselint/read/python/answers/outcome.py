"""What a paper run ended in: from the trace of each path to one outcome for each hypothesis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from sselint.facts import Evidence, Outcome, Run, Span
from sselint.read.python.interpreter.machine import Hypothesis
from sselint.read.python.interpreter.oracle import Decision
from sselint.read.python.interpreter.trace import ASKS, Event
from sselint.read.python.interpreter.values import Const, Cursor, Minted, Remembered, Reply, Unknown, Value, leaves
from sselint.read.python.libraries.wire import Frame
from sselint.read.python.source.modules import Site

TOLERANT_FIRST = (Outcome.COMPARED, Outcome.REPLAY_ALL, Outcome.FROM_HEAD, Outcome.EMPTY, Outcome.IGNORED)
FOR_WHO_IT_IS = (401, 403, 407)
UNDERSTOOD = frozenset({"condition", "lookup", "empty", "failure", "value", "implementation"})


@dataclass
class Path:
    """One path of a paper run."""

    hypothesis: Hypothesis
    trace: list[Event]
    decisions: list[Decision]
    refusal_words: tuple[str, ...] = ()
    raw_frames: list[Frame] = field(init=False)

    def __post_init__(self) -> None:
        self.raw_frames = [e.data["frame"] for e in self.trace if e.kind == "frame"]

    def events(self, *kinds: str) -> list[Event]:
        """The events of these kinds, in order."""
        return [e for e in self.trace if e.kind in kinds]

    @property
    def frames(self) -> list[Frame]:
        """The frames that carry an event: comments, retry times and the like left out."""
        return [f for f in self.raw_frames if f.is_event]

    @property
    def end(self) -> Event | None:
        """How it ended."""
        return next((e for e in reversed(self.trace) if e.kind == "end"), None)

    @property
    def how(self) -> str:
        """closed, open, aborted or budget."""
        return str(self.end.data["how"]) if self.end is not None else "budget"

    @property
    def refusal(self) -> Event | None:
        """The refusal, where a status other than 200 is sent."""
        for event in self.trace:
            if event.kind == "refuse":
                return event
            if event.kind == "start" and (event.data["status"] >= 300 or event.data["status"] == 204):
                return event
        return None

    @property
    def turned_away(self) -> Event | None:
        """The event that says in a response of status 200 that the request failed, where it is all that is sent before
        the response ends, and no store had to fail for it."""
        sent = [e for e in self.trace if e.kind == "frame" and e.data["frame"] in self.frames]
        failed = any(d.kind == "failure" and d.option == 1 for d in self.decisions)
        if not sent or failed or self.how != "closed" or self.refusal is not None:
            return None
        return sent[0] if all(self._says_no(e.data["frame"]) for e in sent) else None

    def _says_no(self, frame: Frame) -> bool:
        name = frame.fields.get("event")
        told = isinstance(name, Const) and any(w in str(name.value).lower() for w in self.refusal_words)
        return told and frame.id is None and (frame.item is None or not frame.item.source)

    @property
    def is_stream(self) -> bool:
        """Whether the answer is an event stream."""
        return any(e.begins_stream or e.kind == "frame" for e in self.trace)

    @property
    def asks_cursor(self) -> bool:
        """Whether the path looks the cursor up or compares it."""
        return bool(self.events(*ASKS))

    @property
    def uses_cursor(self) -> bool:
        """Whether the path does anything with the cursor but read it: what fails then may fail for the cursor."""
        return self.asks_cursor or bool(self.events("parse", "handled"))

    @property
    def by_query(self) -> bool:
        """Whether something else that the client put into its query led there."""
        return any(d.kind == "condition" and d.label.startswith("query ") and d.option == 0 for d in self.decisions)

    @property
    def replayed(self) -> list[Frame]:
        """The frames that hold what was kept."""
        return [f for f in self.frames if not f.live and f.item is not None and f.item.source]

    @property
    def state(self) -> tuple[int, ...]:
        """What is sent as it stands, where every event that has an id holds it and none tells of one change alone: a
        number of this process says how far it has come."""
        named = [f for f in self.frames if f.id is not None]
        whole = named and all(f.state and not f.live and f.item is None and _numbered(f.id) for f in named)
        return tuple(dict.fromkeys(n for f in named for n in f.state)) if whole else ()

    @property
    def known_to_store(self) -> set[int]:
        """The stores that had the cursor when they were asked for it by its name: when last, for a store that knows a
        session of that name need not know such an event."""
        last = {e.data["container"]: e.data["hit"] for e in self.events("lookup") if e.data.get("stored")}
        return {store for store, hit in last.items() if hit}

    @property
    def goes_on_from_store(self) -> bool:
        """Whether all that is replayed is of the stores that knew the cursor, or of places that all share."""
        shared = {e.data["container"] for e in self.events("read") if e.data.get("shared")} | self.known_to_store
        from_store = all(f.item is not None and f.item.source in shared for f in self.replayed)
        return bool(self.replayed or self.looked_up) and from_store

    @property
    def looked_up(self) -> list[Frame]:
        """The frames that hold entries of a store which was asked for the cursor by its name, or that event again."""
        stores = self.known_to_store
        sent = [(frame, leaf) for frame in self.frames for value in frame.fields.values() for leaf in leaves(value)]
        return [frame for frame, leaf in sent if stores and _from(stores, leaf)]

    @property
    def missed_guard(self) -> Event | None:
        """The lookup of another key that failed, where the path ends in a refusal for it."""
        ending = self.refusal or self.turned_away
        if ending is None:
            return None
        before = self.trace[: self.trace.index(ending)]
        missed = next((e for e in reversed(before) if e.kind == "guard" and not e.data["hit"]), None)
        if missed is None:
            return None
        after = before[before.index(missed) :]
        adopted = any(e.kind == "adopt" and e.data["container"] == missed.data["container"] for e in after)
        return None if adopted else missed

    @property
    def is_empty(self) -> bool:
        """Whether the path assumes that a container is empty."""
        return any(d.kind == "empty" and d.option == 1 for d in self.decisions)

    def options(self, kind: str) -> dict[object, Decision]:
        """The decisions of a kind."""
        return {d.key: d for d in self.decisions if d.kind == kind}


def _numbered(id: Value | None) -> bool:
    """Whether an id is a number that the process counts, whoever is connected."""
    parts = leaves(id) if id is not None else []
    return any(isinstance(p, Remembered) or (isinstance(p, Minted) and not p.local) for p in parts)


def _from(stores: set[int], leaf: Value) -> bool:
    return isinstance(leaf, Cursor) or (isinstance(leaf, Reply) and leaf.source in stores)


@dataclass(frozen=True)
class Result:
    """What one path ended in."""

    path: Path
    outcome: Outcome
    why: str
    sites: tuple[tuple[Site | None, str], ...]
    status: int | None = None
    reset: bool = False
    late: bool = False


def result_of(path: Path, reset_words: Sequence[str]) -> Result | None:
    """The outcome of a path, or None where the path says nothing of the stream."""
    refusal = path.refusal
    asked = _asked(path)
    if refusal is not None:
        status = int(refusal.data["status"])
        return Result(
            path, Outcome.FAIL_CLOSED, f"answers {status}", (*asked, (refusal.site, f"{status} is sent here")), status
        )
    if not path.is_stream:
        if path.events("plain") and path.asks_cursor:
            where = path.events("plain")[0].site
            return Result(
                path,
                Outcome.FAIL_CLOSED,
                "answers with something that is no event stream",
                (*asked, (where, "no event stream")),
                200,
            )
        if path.how == "open" and path.asks_cursor:
            return Result(path, Outcome.UNKNOWN, "a loop before the answer is not understood", asked)
        return None
    if path.how == "budget":
        return Result(path, Outcome.UNKNOWN, "the path is too long to follow", asked)
    if path.how == "aborted" and not (path.uses_cursor or path.hypothesis is Hypothesis.MISSING):
        return None  # whatever failed, it was not for the cursor
    if path.how == "aborted":
        end = path.end
        site = end.site if end is not None else None
        late = end.data.get("status") if end is not None else None
        why = f"refuses ({late}) when the response has begun, so that the client is told 200 and nothing follows"
        return Result(
            path, Outcome.EMPTY, why, (*asked, (site, "raised after the response has begun")), late, late=True
        )
    reset = _reset(path, reset_words)
    if reset is not None:
        return Result(
            path,
            Outcome.FAIL_CLOSED,
            "an event tells the client to start again",
            (*asked, (reset.site, "the reset event")),
            reset=True,
        )
    refused = path.turned_away
    if refused is not None and path.asks_cursor:
        why = "an event says that it failed, and the response ends"
        sites = (*asked, (refused.site, "the event that says so"))
        return Result(path, Outcome.FAIL_CLOSED, why, sites, reset=True)
    return _by_frames(path, asked)


def _asked(path: Path) -> tuple[tuple[Site | None, str], ...]:
    notes = {
        "cursor": "the cursor is read here",
        "lookup": "looked up here",
        "compare": "compared here",
        "bound": "compared here",
        "parse": "parsed here",
        "handled": "handled here",
    }
    found: dict[object, tuple[Site | None, str]] = {}
    for event in path.trace:
        if event.kind in notes and event.site is not None and event.kind != "parse":
            found.setdefault((event.kind, event.site), (event.site, notes[event.kind]))
    return tuple(found.values())[:5]


def _reset(path: Path, words: Sequence[str]) -> Frame | None:
    for frame in path.raw_frames:
        name = frame.fields.get("event")
        told = frame.kind if path.asks_cursor and frame.item is None else ""
        told = str(name.value) if isinstance(name, Const) else told
        marked = any(word in told.lower() for word in words)
        identity = frame.fields.get("id")
        forgets = isinstance(identity, Const) and str(identity.value).strip() == ""
        if marked or (forgets and path.asks_cursor):
            return frame
    return None


def _by_frames(path: Path, asked: tuple[tuple[Site | None, str], ...]) -> Result:
    replayed = path.replayed
    phases = {f.item.phase for f in replayed if f.item is not None}
    sites = (*asked, *((f.site, "sent here") for f in (replayed or path.frames)[:1]))
    earlier = {"before", "low", "one"}
    if path.hypothesis is not Hypothesis.MISSING and not path.asks_cursor:
        doubt = doubtful(path)
        if doubt is not None:
            why = f"what is sent turns on the cursor in a way that is not understood: {doubt.why}"
            return Result(path, Outcome.UNKNOWN, why, sites)
        if path.events("cursor"):
            return Result(path, Outcome.IGNORED, "the cursor is read, and nothing depends on it", sites)
        return Result(path, Outcome.NOT_READ, "nothing reads the cursor", sites)
    if phases & earlier:
        return Result(path, Outcome.REPLAY_ALL, "everything is sent from the start", sites)
    if phases or path.looked_up or written_down(path) or _in_one(path):
        return Result(path, Outcome.COMPARED, "what comes after that id here is sent", sites)
    doubt = doubtful(path)
    if doubt is not None:
        return Result(path, Outcome.UNKNOWN, f"what is sent behind the cursor is not understood: {doubt.why}", sites)
    if path.how == "open" and not path.frames and _asked_again(path):
        why = "what is counted beyond that id here is sent, once there is so much"
        return Result(path, Outcome.COMPARED, why, sites)
    if path.asks_cursor and path.state:
        why = "how things stand in this process is sent, which holds what came after that id here"
        return Result(path, Outcome.COMPARED, why, sites)
    if path.how == "open":
        return Result(path, Outcome.FROM_HEAD, "only what is published from now on is sent", sites)
    plainly = any(f.id is not None and _is_plain(f) for f in path.frames)
    if path.hypothesis is Hypothesis.MISSING and (plainly or path.state):
        return Result(path, Outcome.REPLAY_ALL, "everything is sent from the start", sites)
    return Result(path, Outcome.EMPTY, "nothing is sent, and the response ends", sites)


def _in_one(path: Path) -> bool:
    """Whether an event holds all at once that a store has behind the cursor, or is named by the last of it."""
    if any(frame.later and not frame.live for frame in path.frames):
        return True
    sent = [frame.fields[name] for frame in path.frames for name in ("id", "data") if name in frame.fields]
    parts = [leaf for value in sent for leaf in leaves(value)]
    return any(isinstance(leaf, Reply) and leaf.selection == "compared" and not leaf.live for leaf in parts)


def _asked_again(path: Path) -> bool:
    """Whether a cursor beyond the end of what is here is held against that end again after each wait."""
    sites = [event.site for event in path.events("bound")]
    return len(sites) > len(set(sites))


def doubtful(path: Path) -> Unknown | None:
    """What a path sends of which nobody knows where it is from, although the cursor had a say in it: was it asked for
    with the cursor, or sent behind a comparison with it."""
    if path.hypothesis is Hypothesis.MISSING:
        return None
    for frame in path.frames:
        placed = frame.live or (frame.item is not None and frame.item.source)
        sent = [frame.fields[name] for name in ("id", "data", "text", "event") if name in frame.fields]
        for leaf in (*(leaf for value in sent for leaf in leaves(value)), *frame.inside):
            if isinstance(leaf, Unknown) and (leaf.cursor or (path.asks_cursor and not placed)):
                return leaf
    return None


def written_down(path: Path) -> bool:
    """Whether a path that asks for the cursor sends events that stand in the source with their ids: a table that is
    the same on every process."""
    nothing = Const.of("")  # an event without data only sets the id: no client is told of it (HTML, 9.2.6)
    named = [f for f in path.frames if f.id is not None and nothing not in (f.id, f.fields.get("data"))]
    asked = path.asks_cursor and path.hypothesis is not Hypothesis.MISSING
    return asked and bool(named) and all(map(_is_plain, named))


def _is_plain(frame: Frame) -> bool:
    """Whether an event stands in the source as it is sent."""
    parts = [leaf for value in frame.fields.values() for leaf in leaves(value)]
    return all(isinstance(leaf, Const) and not isinstance(leaf, Remembered) for leaf in parts)


# -- all paths together --------------------------------------------------------------------------------------------


def run_of(paths: Iterable[Path], reset_words: Sequence[str], complete: bool) -> Run:
    """One run: if one path is tolerant the handler is, and that path is the evidence."""
    results = [r for r in (result_of(p, reset_words) for p in paths if p.missed_guard is None) if r is not None]
    if not results:
        return Run(Outcome.UNKNOWN, "no path that was followed reaches the event stream")
    results = _of_those_let_in(results)
    doubt = _doubt(results)
    if doubt is not None:
        return doubt
    results = _that_say_something(_by_its_address(_unknown_to_all(results)))
    results = [_reconsidered(r, results) for r in results]
    tolerant = [r for r in results if r.outcome not in (Outcome.FAIL_CLOSED, Outcome.UNKNOWN)]
    if any(r.path.events("cursor") for r in results if r.outcome is Outcome.UNKNOWN):
        tolerant = [r for r in tolerant if r.outcome is not Outcome.NOT_READ]  # it did not come to where it is read
    unknown = next((r for r in results if r.outcome is Outcome.UNKNOWN), None)
    if not tolerant:
        if unknown is not None:
            return _run(unknown)
        return _run(max(results, key=lambda r: (r.path.asks_cursor, r.reset, r.status != 500)))
    found = min(tolerant, key=_rank)
    if found.outcome is Outcome.IGNORED and unknown is not None:
        return _run(unknown)  # something may depend on the cursor there
    open_one = None if complete else _not_asked_otherwise(found, results)
    if open_one is not None:
        span = (open_one.site.span("decided here"),) if open_one.site is not None else ()
        return Run(Outcome.UNKNOWN, f"depends on {open_one.label}, and not all ways were followed", span)
    return _run(found)


def _of_those_let_in(results: list[Result]) -> list[Result]:
    """Without the paths on which a client is turned away for who it is before anything is done with the cursor: one
    that comes back is who it was when it was let in. Whether that is asked at all may hang on a setting."""
    return [r for r in results if r.status not in FOR_WHO_IT_IS or _turns_on_cursor(r.path)] or results


def _turns_on_cursor(path: Path) -> bool:
    return path.uses_cursor or bool(path.options("opaque"))


def _not_asked_otherwise(result: Result, results: Sequence[Result]) -> Decision | None:
    """What the environment decided on a path on which nothing depends on the cursor, where no path that came as far
    went the other way: a store that is not configured asks for nothing."""
    if result.outcome is not Outcome.IGNORED:
        return None
    others = [r.path.options("environment") for r in results if r.path.how == result.path.how]
    for key, decision in result.path.options("environment").items():
        if all(other[key].option == decision.option for other in others if key in other):
            return decision
    return None


def _that_say_something(results: list[Result]) -> list[Result]:
    """Without the paths on which the response ends at once, with no event and no look at the cursor, where others do
    look at it: a stream that is over says nothing of what a cursor meets. Nor does one that only waits, or has nothing
    to send, where others send what is not understood behind the cursor."""
    if not any(r.path.asks_cursor for r in results):
        return results
    over = [r for r in results if r.outcome is Outcome.IGNORED and r.path.how == "closed" and not r.path.raw_frames]
    if any(r.outcome is Outcome.UNKNOWN and r.path.asks_cursor and r.path.raw_frames for r in results):
        silent = [r for r in results if not r.path.raw_frames and not r.late]
        over += [r for r in silent if r.outcome in (Outcome.FROM_HEAD, Outcome.EMPTY)]
    return [r for r in results if r not in over] or results


def _reconsidered(result: Result, results: Sequence[Result]) -> Result:
    """A path that seems to ignore the cursor, although a question about it that is not understood led there, and not
    where the other answer leads."""
    opaque = list(result.path.options("opaque").values())
    if result.outcome is not Outcome.IGNORED or not opaque or all(r.outcome is Outcome.IGNORED for r in results):
        return result
    why = f"what is sent turns on the cursor in a way that is not understood: {opaque[0].label}"
    return replace(result, outcome=Outcome.UNKNOWN, why=why)


def _unknown_to_all(results: list[Result]) -> list[Result]:
    """Without the paths on which a store that all share knew the cursor and went on behind it: there it was no foreign
    one. What goes on from the memory of one process, or does not go on, stays."""
    known = [r for r in results if r.path.hypothesis is not Hypothesis.KNOWN and r.path.known_to_store]
    if not any(r.path.goes_on_from_store for r in known):
        return results
    return [r for r in results if r not in known or (r.path.replayed and not r.path.goes_on_from_store)] or results


def _by_its_address(results: list[Result]) -> list[Result]:
    """Without the paths on which the client's own query asks for something in the place of the cursor, where it is read
    otherwise: a client that comes back asks for what it asked for before, and one that comes first asks for nothing."""
    if any(r.path.hypothesis in (Hypothesis.MISSING, Hypothesis.MALFORMED) for r in results):
        plain = [r for r in results if not r.path.by_query]
        refused = all(r.outcome is Outcome.FAIL_CLOSED and not r.path.events("cursor") for r in plain)
        return results if refused else plain
    if not any(r.path.events("cursor") for r in results):
        return results
    return [r for r in results if r.path.events("cursor") or not r.path.by_query] or results


def _rank(result: Result) -> tuple[int, ...]:
    order = TOLERANT_FIRST.index(result.outcome) if result.outcome in TOLERANT_FIRST else 9
    if result.path.hypothesis is Hypothesis.MISSING and result.outcome is Outcome.REPLAY_ALL:
        order = -1  # what is asked for then is what comes behind that
    failed = any(d.kind == "failure" and d.option == 1 for d in result.path.decisions)
    ignored = result.outcome in (Outcome.IGNORED, Outcome.NOT_READ)
    return (ignored, result.path.is_empty, failed, not result.path.asks_cursor, order)


def _doubt(results: Sequence[Result]) -> Run | None:
    """Whether the outcome turns on something that nobody can know: the environment, or a question not understood."""
    for kind, says in (("environment", "depends on"), ("opaque", "turns on")):
        keys = {key: d for r in results for key, d in r.path.options(kind).items()}
        for key, decision in keys.items():
            by_option: dict[int, set[bool]] = {}
            for result in results:
                taken = result.path.options(kind).get(key)
                if taken is not None and not _breaks_down(result):
                    refuses = result.outcome is Outcome.FAIL_CLOSED
                    by_option.setdefault(taken.option, set()).add(refuses)
            if (
                len(by_option) > 1
                and len({frozenset(v) for v in by_option.values()}) > 1
                and all(len(v) == 1 for v in by_option.values())
            ):
                span = (decision.site.span("decided here"),) if decision.site is not None else ()
                return Run(Outcome.UNKNOWN, f"{says} {decision.label}", span)
    return None


def _breaks_down(result: Result) -> bool:
    """Whether a handler fails of itself before it asks more of the cursor than whether it is there: what it refuses
    then is everybody, as where a setting is not well formed."""
    asked = result.path.events(*ASKS)
    there = all(isinstance(e.data.get("other"), Const) for e in asked)
    return result.outcome is Outcome.FAIL_CLOSED and result.status == 500 and there


def _run(result: Result) -> Run:
    return Run(result.outcome, result.why, evidence_of(result.sites), result.status, result.reset, result.late)


def evidence_of(sites: Iterable[tuple[Site | None, str]]) -> Evidence:
    """Spans of sites, each place once."""
    found: dict[tuple[str, int, int], Span] = {}
    for site, note in sites:
        if site is not None and site.module.path:
            span = site.span(note)
            found.setdefault((span.path, span.line, span.column), span)
    return tuple(found.values())


def mentions(value: Value, kind: type) -> bool:
    """Whether a value of a kind is among the leaves."""
    return any(isinstance(leaf, kind) for leaf in leaves(value))
