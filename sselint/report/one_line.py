"""The one line for a tree in which nobody has anything to mend."""

from __future__ import annotations

from collections.abc import Sequence

from sselint.facts import IdKind, Route, Scope, Stream
from sselint.findings import Report, Verdict
from sselint.report.words import plural, verdict_words


def one_line(report: Report) -> str:
    """Why there is nothing to tell, and which routes have no server."""
    return _why(report) + _routes(report.loose_routes)


def _why(report: Report) -> str:
    judged = {(j.deployment.stream.path, j.deployment.stream.symbol): j.deployment.stream for j in report.judgements}
    if judged:
        return f"no resumable stream here: {_judged(tuple(judged.values()))}{_policy(report)}"
    if report.narrowed:
        return "no deployment rests on what was named"
    if report.streams:
        return f"no deployment here: {_not_deployed(report.streams)}"
    return "no event stream here"


def _judged(streams: Sequence[Stream]) -> str:
    if len(streams) > 1:
        return f"{len(streams)} event streams, none with ids to come back with"
    ids = streams[0].ids
    silent = ids.kind is IdKind.NONE or ids.scope is Scope.NONE
    return f"{_named(streams[0])} sends {'no ids' if silent else 'ids that name nothing outside one connection'}"


def _policy(report: Report) -> str:
    kept = any(judgement.verdict is Verdict.NO_RESUMPTION for judgement in report.judgements)
    return f"; {verdict_words(Verdict.NO_RESUMPTION)}" if kept else ""


def _not_deployed(streams: Sequence[Stream]) -> str:
    """Streams that are facts without a verdict."""
    library = [stream for stream in streams if stream.deployable]
    if not library:
        return f"{plural(len(streams), 'event stream')} in tests, examples or docs only"
    if len(library) == 1:
        return f"{_named(library[0])} is library code that no application mounts"
    return f"{len(library)} event streams in library code that no application mounts"


def _named(stream: Stream) -> str:
    return f"{stream.symbol} ({stream.path}:{stream.line})"


def _routes(routes: Sequence[Route]) -> str:
    if not routes:
        return ""
    where = f"{routes[0].path}:{routes[0].line}" if len(routes) == 1 else "`sselint facts` lists them"
    return f"; {plural(len(routes), 'route')} without a server in this tree ({where}); `--facts` brings a server"
