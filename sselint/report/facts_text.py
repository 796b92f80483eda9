"""`sselint facts`: what was understood of the tree, and why, for people."""

from __future__ import annotations

from itertools import groupby

from sselint.deployment import Audit
from sselint.facts import Evidence, FileOutcome, Guard, Pool, Rolling, Route, Run, Stream
from sselint.report import Options
from sselint.report.layout import Page
from sselint.report.words import joined_places, needs_behind, plural, pool_words, route_words

LABEL = 14
ROLLING = {
    Rolling.SURGE_WRITTEN: "two generations overlap, as it is written",
    Rolling.SURGE_DEFAULT: "two generations overlap, by the platform's default",
    Rolling.REPLACED: "the old processes are gone before new ones start",
    Rolling.UNKNOWN: "not known",
}


def render_facts_text(audit: Audit, options: Options) -> str:
    """Streams, routes, pools, links and files that made trouble."""
    page = Page(options.width, options.colour)
    for stream in audit.streams:
        _write_stream(page, stream)
    for route in audit.routes:
        _write_route(page, route, loose=route in audit.loose_routes)
    for pool in audit.pools:
        _write_pool(page, pool)
    _write_links(page, audit)
    _write_files(page, audit)
    return page.text()


def _head(page: Page, kind: str, path: str, line: int, name: str) -> None:
    page.paragraph(f"{path}:{line} {name}", first=f"{kind} ", first_style="bold")


def _fact(page: Page, label: str, value: str, why: str = "", places: tuple[str, ...] = ()) -> None:
    text = value + (f": {why}" if why and value else why)
    where = f" ({', '.join(dict.fromkeys(places))})" if places else ""
    page.paragraph(text + where, indent=4, first=f"{label:<{LABEL}}", first_style="dim")


def _write_stream(page: Page, stream: Stream) -> None:
    page.blank()
    _head(page, "stream", stream.path, stream.line, " ".join(filter(None, (stream.symbol, stream.url))))
    ids = stream.ids
    _fact(page, "ids", f"{ids.kind.value}, {ids.scope.value}", ids.why, _short(ids.evidence))
    replay = stream.replay
    where = f"from {replay.where.value}, live tail {replay.live_tail.value}"
    _fact(page, "replay", where, replay.why, _short(replay.evidence))
    read = f"read: {stream.cursor.read.value}" + (f", {stream.cursor.how}" if stream.cursor.how else "")
    _fact(page, "cursor", read, stream.cursor.why, _short(stream.cursor.evidence))
    runs = (
        ("foreign id", stream.on_foreign),
        ("equal id", stream.on_overlap),
        ("no cursor", stream.on_missing),
        ("malformed", stream.on_malformed),
    )
    for label, run in runs:
        if run is not None:
            _fact(page, label, _outcome(run), run.why, _short(run.evidence))
    for guard in stream.guards:
        _write_guard(page, guard)
    if not stream.apps:
        _fact(page, "mounted", "by no application: library code, no verdict")
    elif not stream.deployable:
        _fact(page, "deployed", "only if a configuration starts it: tests, examples or docs")


def _outcome(run: Run) -> str:
    words = run.outcome.value.replace("_", " ")
    return f"{words} ({run.status})" if run.status else words


def _write_guard(page: Page, guard: Guard) -> None:
    status = f", {guard.status}" if guard.status else ""
    _fact(page, "guard", f"{guard.key}, {guard.origin.value}{status}", guard.why, _short(guard.evidence))


def _write_route(page: Page, route: Route, loose: bool) -> None:
    page.blank()
    _head(page, "route", route.path, route.line, f"{route.name} ({route.format})")
    _fact(page, "members", route_words(route), route.members.why)
    _fact(page, "affinity", route.affinity.strength.value, route.affinity.why, _short(route.affinity.evidence))
    if route.affinity.undone_by:
        _fact(page, "undone by", "", _noted(route.affinity.undone_by))
    _fact(page, "Last-Event-ID", route.last_event_id.value.replace("_", " "))
    if loose:
        _fact(page, "server", "none in this tree; one behind this route needs")
        for policy, need in needs_behind(route).items():
            page.paragraph(need, indent=4 + LABEL, first=f"policy {policy.number}: ")


def _write_pool(page: Page, pool: Pool) -> None:
    page.blank()
    _head(page, "pool", pool.path, pool.line, f"{pool.name} ({pool.format})")
    _fact(page, "processes", pool_words(pool), pool.processes.why, _short(pool.evidence))
    if pool.workers:
        _fact(page, "workers", "", pool.workers.processes.why, _short(pool.workers.evidence))
    _fact(page, "on release", ROLLING[pool.rolling], "", _short(pool.rolling_evidence))
    if pool.starts:
        _fact(page, "starts", pool.starts)


def _write_links(page: Page, audit: Audit) -> None:
    for deployment in audit.deployments:
        page.blank()
        page.paragraph(deployment.name, first="deployment ", first_style="bold")
        for hop in deployment.hops:
            assumed = "assumed: " if hop.assumed else ""
            why = f"{assumed}{hop.why}"
            _fact(page, "through", "" if why.startswith(f"{hop.name} ") else hop.name, why)
        stream = deployment.stream
        _fact(page, "to", f"{stream.path}:{stream.symbol}")
        for client in deployment.clients:
            _fact(page, "client", client.name, client.why)


def _write_files(page: Page, audit: Audit) -> None:
    page.blank()
    analysed = sum(file.outcome is FileOutcome.ANALYSED for file in audit.files)
    page.line(f"{plural(analysed, 'file')} analysed, {plural(len(audit.files), 'file')} looked at")
    for file in audit.files:
        if file.outcome not in (FileOutcome.ANALYSED, FileOutcome.IRRELEVANT):
            page.paragraph(f"{file.outcome.value.replace('_', ' ')}: {file.why}", indent=2, first=f"{file.path} ")


def _short(evidence: Evidence) -> tuple[str, ...]:
    return (joined_places(evidence[:3]),) if evidence else ()


def _noted(evidence: Evidence) -> str:
    """What the spans say, with their places: "a backup server takes over (nginx.conf:10, :11)"."""
    groups = groupby(evidence, lambda span: span.note)
    return ", ".join(f"{note} ({joined_places(spans)})" if note else joined_places(spans) for note, spans in groups)
