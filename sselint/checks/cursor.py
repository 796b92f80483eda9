"""SSE2xx: what the handler does with a cursor that it has never issued."""

from __future__ import annotations

from collections.abc import Iterator

from sselint.checks.ids import PER_PROCESS, random_guard
from sselint.checks.registry import Part, deployment_check
from sselint.facts import Evidence, Outcome, Run, Scope, Stream, Truth
from sselint.findings import Judgement

TOLERANT = (Outcome.FROM_HEAD, Outcome.REPLAY_ALL, Outcome.COMPARED, Outcome.IGNORED, Outcome.EMPTY)


def _guarded(stream: Stream) -> str:
    guard = random_guard(stream)
    return f"the key `{guard.key}` is looked up first and is unknown to every other process" if guard else ""


def _places(run: Run, stream: Stream) -> Evidence:
    return run.evidence or stream.cursor.evidence or stream.evidence


def _foreign(judgement: Judgement, outcomes: tuple[Outcome, ...], says: str) -> Iterator[Part]:
    """A part where the run with a foreign cursor ends in one of `outcomes` although ids are minted per process."""
    stream = judgement.deployment.stream
    run = stream.on_foreign
    if run.outcome in outcomes and stream.ids.scope in PER_PROCESS:
        yield Part(f"{says}: {run.why}", _places(run, stream), harmless=_guarded(stream))


@deployment_check("SSE201")
def from_head(judgement: Judgement) -> Iterator[Part]:
    """An unknown cursor is answered with whatever is published from now on."""
    return _foreign(judgement, (Outcome.FROM_HEAD,), "an unknown cursor resumes from the head")


@deployment_check("SSE202")
def ignored(judgement: Judgement) -> Iterator[Part]:
    """Ids promise a resumption, and the cursor is ignored or never read."""
    stream = judgement.deployment.stream
    if stream.ids.scope is Scope.NONE or stream.on_foreign.outcome not in (Outcome.IGNORED, Outcome.NOT_READ):
        return
    never = stream.on_foreign.outcome is Outcome.NOT_READ
    says = "ids are sent, and nothing reads Last-Event-ID" if never else "Last-Event-ID is read and then ignored"
    places = stream.ids.evidence if never else _places(stream.on_foreign, stream)
    yield Part(f"{says}: {stream.on_foreign.why}", places)


@deployment_check("SSE203")
def compared(judgement: Judgement) -> Iterator[Part]:
    """An unknown cursor is compared with the own ids, and what compares greater is sent."""
    return _foreign(judgement, (Outcome.COMPARED,), "an unknown cursor is compared with this process's own ids")


@deployment_check("SSE204")
def malformed_swallowed(judgement: Judgement) -> Iterator[Part]:
    """A cursor that does not parse is answered 200 and business as usual. One that is refused late is SSE208's."""
    stream = judgement.deployment.stream
    run = stream.on_malformed
    if run is not None and run.outcome in TOLERANT and not run.late:
        yield Part(f"a malformed cursor is swallowed: {run.why}", _places(run, stream), harmless=_guarded(stream))


@deployment_check("SSE205")
def replays_everything(judgement: Judgement) -> Iterator[Part]:
    """An unknown cursor is answered with everything from the start."""
    return _foreign(judgement, (Outcome.REPLAY_ALL,), "an unknown cursor replays everything")


@deployment_check("SSE206")
def evicted(judgement: Judgement) -> Iterator[Part]:
    """The buffer is bounded, and a cursor that has fallen out of it is not told so."""
    stream = judgement.deployment.stream
    if stream.replay.evicts is Truth.YES and stream.ids.scope is not Scope.NONE:
        yield Part("events fall out of a bounded buffer without the client being told", stream.replay.evidence)


@deployment_check("SSE207")
def foreign_alias(judgement: Judgement) -> Iterator[Part]:
    """A cursor of another process that equals an own id is taken for the own one."""
    stream = judgement.deployment.stream
    run = stream.on_overlap
    if run is not None and run.outcome in TOLERANT and stream.ids.scope is Scope.OVERLAPPING:
        says = "an id of another process is taken for this process's own"
        yield Part(f"{says}: {run.why}", _places(run, stream), harmless=_guarded(stream))


@deployment_check("SSE208")
def refused_too_late(judgement: Judgement) -> Iterator[Part]:
    """The refusal comes when the response has begun: the client sees 200 and comes back with the same id."""
    stream = judgement.deployment.stream
    run = stream.on_foreign
    if not run.late and run.outcome is not Outcome.EMPTY:
        return
    if stream.ids.scope in PER_PROCESS:
        says = "an unknown cursor is refused only after the response has begun" if run.late else "200 and nothing"
        yield Part(f"{says}: {run.why}", _places(run, stream), harmless=_guarded(stream))
