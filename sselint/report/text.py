"""The report for people: what corrupts and why, told so that a tired reader of a CI log gets it.

A corrupt deployment is told in full: the code, the five conditions, the witness, and the three ways out. A safe one
gets a short paragraph, and a tree without a resumable stream one line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from sselint.facts import Evidence, FileOutcome, Route, Span, Truth
from sselint.findings import Finding, Judgement, Policy, Report, Severity, Suppression, Verdict
from sselint.report import Options
from sselint.report.frame import Load, loader, quoted, write_frame
from sselint.report.layout import Page
from sselint.report.one_line import one_line
from sselint.report.words import (
    counted_verdicts,
    joined_places,
    needs_behind,
    plural,
    pool_words,
    route_words,
    verdict_words,
)

HEADLINES = {
    Verdict.CORRUPT: ("SSE001", "A resumed stream continues as another one, and nothing says so:"),
    Verdict.LATENT: ("SSE002", "Latent: it corrupts on the day that it is scaled or restarted:"),
    Verdict.UNKNOWN: ("SSE004", "Unknown: the tree does not tell whether resumed streams are correct:"),
    Verdict.LOUD: ("SSE005", "Loud: correct, and it fails often, because nothing brings a client back:"),
}
LOUD_AT_MOST = "Loud: correct, and it fails on every other process; nothing is known to bring a client back:"
VERDICT_STYLES = {
    Verdict.CORRUPT: "error",
    Verdict.LATENT: "warning",
    Verdict.LOUD: "warning",
    Verdict.UNKNOWN: "note",
}
NOT_RESUMABLE = (Verdict.NONE, Verdict.NO_RESUMPTION)
MOST_LOOSE_ROUTES = 8
MOST_PLACES = 4


def render_text(report: Report, options: Options) -> str:
    """The report as text, with code frames from the files under the root."""
    page = Page(options.width, options.colour)
    load = loader(options.root)
    told = [finding for finding in report.findings if not finding.suppressed]
    if _nothing_to_tell(report, told):
        page.line(("ok", "ok"), f"  {one_line(report)}")
    else:
        for judgement in report.judgements:
            page.blank()
            of_it = [finding for finding in report.findings if finding.deployment == judgement.deployment.name]
            _write_judgement(page, judgement, of_it, load)
        _write_inputs(page, [finding for finding in told if not finding.deployment])
        _write_loose_routes(page, report.loose_routes)
    if options.show_suppressed:
        _write_suppressed(page, [finding for finding in report.findings if finding.suppressed])
    if options.statistics:
        _write_statistics(page, report)
    for note in report.notes:
        page.paragraph(note, style="dim")
    if not _nothing_to_tell(report, told):
        page.blank()
        _write_overview(page, report.judgements)
        _write_summary(page, report, told)
    return page.text()


# -- nothing to tell ---------------------------------------------------------------------------------------------------


def _nothing_to_tell(report: Report, told: Sequence[Finding]) -> bool:
    """Without a resumable stream notes are for the other formats: nobody has anything to mend."""
    only_notes = report.exit == 0 and all(finding.severity is Severity.NOTE for finding in told)
    return only_notes and all(judgement.verdict in NOT_RESUMABLE for judgement in report.judgements)


# -- one deployment ----------------------------------------------------------------------------------------------------


def _write_judgement(page: Page, judgement: Judgement, findings: Sequence[Finding], load: Load) -> None:
    told = [finding for finding in findings if not finding.suppressed]
    accepted = _accepted(judgement, findings)
    if accepted is not None:
        _write_accepted(page, judgement, accepted)
    elif judgement.verdict in HEADLINES:
        _write_in_full(page, judgement, told, load)
    else:
        _write_safe(page, judgement, told)


def _accepted(judgement: Judgement, findings: Sequence[Finding]) -> Suppression | None:
    """The suppression of the verdict itself, unless the deployment breaks a declared policy at that."""
    code, _ = HEADLINES.get(judgement.verdict, ("", ""))
    if any(finding.code == "SSE003" and not finding.suppressed for finding in findings):
        return None
    return next((finding.suppressed for finding in findings if finding.suppressed and finding.code == code), None)


def _write_accepted(page: Page, judgement: Judgement, accepted: Suppression) -> None:
    name = f"{judgement.deployment.name}: {judgement.verdict.value}, and accepted"
    page.paragraph(name, first="ignored  ", first_style="warning", style="bold")
    page.paragraph(_sentence(judgement.why), indent=4)
    page.paragraph(f"{accepted.reason} ({accepted.path}:{accepted.line})", indent=4, first="Accepted: ")


def _write_safe(page: Page, judgement: Judgement, findings: Sequence[Finding]) -> None:
    words = "no resumable stream" if judgement.verdict is Verdict.NONE else f"keeps {verdict_words(judgement.verdict)}"
    page.paragraph(f"{judgement.deployment.name}: {words}", first="ok  ", first_style="ok", style="bold")
    page.paragraph(_sentence(judgement.why), indent=4)
    page.paragraph(" -> ".join(_chain(judgement)), indent=4, style="dim")
    _write_assumptions(page, judgement, indent=4)
    for finding in findings:
        if not finding.harmless:
            _write_finding(page, finding, indent=4)
    for reason in dict.fromkeys(finding.harmless for finding in findings if finding.harmless):
        page.paragraph(f"Harmless here, since {reason}:", indent=4, style="dim")
        for finding in findings:
            if finding.harmless == reason:
                _write_finding(page, replace(finding, harmless=""), indent=6)


def _write_in_full(page: Page, judgement: Judgement, findings: Sequence[Finding], load: Load) -> None:
    code, headline = HEADLINES[judgement.verdict]
    main = next((finding for finding in findings if finding.code == code), None)
    severity = main.severity.value if main else "note"
    page.line((f"{severity}[{code}]" if main else code, severity), " ", (judgement.deployment.name, "bold"))
    page.paragraph(_told_of_an_open_way(judgement) or headline, indent=2, style="bold")
    page.paragraph(_sentence(judgement.why), indent=2)
    if judgement.damage:
        page.paragraph(_sentence(judgement.damage), indent=2, first="Damage  ", first_style="bold")
    for finding in findings:
        if finding.code == "SSE003":
            page.paragraph(_sentence(finding.message), indent=2, first="error[SSE003] ", first_style="error")
    page.blank()
    _write_chain(page, judgement, indent=2)
    _write_code(page, judgement, main, load, severity)
    _write_decisive(page, judgement)
    _write_conditions(page, judgement, load)
    _write_witness(page, judgement)
    _write_claims(page, judgement)
    _write_ways_out(page, judgement)
    _write_parts(page, [f for f in findings if f is not main and f.code != "SSE003"])
    _write_assumptions(page, judgement, indent=2)


def _told_of_an_open_way(judgement: Judgement) -> str:
    """The headline of a deployment that refuses, and of which nobody knows whether a client is brought back."""
    if judgement.verdict is not Verdict.LOUD:
        return ""
    return LOUD_AT_MOST if judgement.condition("lb_can_route_elsewhere").value is Truth.UNKNOWN else ""


def _write_chain(page: Page, judgement: Judgement, indent: int) -> None:
    client, *others = _chain(judgement)
    page.paragraph(client, indent=indent, style="dim")
    for piece in others:
        page.paragraph(piece, indent=indent + 2, first="-> ", style="dim")


def _chain(judgement: Judgement) -> list[str]:
    """The way of a request: the client, each hop with its affinity or its processes, the handler."""
    pieces = ["client"]
    for hop in judgement.deployment.hops:
        if hop.route:
            pieces.append(f"{hop.name} [{route_words(hop.route)}; {hop.route.path}:{hop.route.line}]")
        elif hop.pool:
            pieces.append(f"{hop.name} [{pool_words(hop.pool, hop.per_member)}; {hop.pool.path}:{hop.pool.line}]")
    stream = judgement.deployment.stream
    url = f"{stream.url} " if stream.url else ""
    return [*pieces, f"{url}{stream.symbol} [{stream.path}:{stream.line}]"]


def _write_code(page: Page, judgement: Judgement, main: Finding | None, load: Load, severity: str) -> None:
    ids = judgement.deployment.stream.ids
    evidence = tuple(span.noted(ids.why) for span in ids.evidence[:1]) or (main.evidence if main else ())
    if evidence:
        page.blank()
        write_frame(page, evidence[0], load, indent=2, style="caret" if severity == "error" else severity)


def _write_decisive(page: Page, judgement: Judgement) -> None:
    decides = judgement.decides + judgement.deployment.candidates
    if decides:
        _title(page, "What it turns on" if judgement.verdict is Verdict.LATENT else "What would settle it")
        for fact in decides:
            page.paragraph(_sentence(fact), indent=4, first="- ")


def _write_conditions(page: Page, judgement: Judgement, load: Load) -> None:
    values = [condition.value for condition in judgement.conditions]
    yes, unknown = values.count(Truth.YES), values.count(Truth.UNKNOWN)
    open_ones = f", {unknown} {'is' if unknown == 1 else 'are'} unknown" if unknown else ""
    _title(page, "All five conditions hold" if yes == 5 else f"{yes} of the five conditions hold{open_ones}")
    for condition in judgement.conditions:
        style = {"yes": "error", "no": "ok"}.get(condition.value.value, "warning")
        scope = f" ({condition.scope.value})" if condition.scope else ""
        page.line((f"{condition.value.value:<8}", style), (condition.name + scope, "bold"), indent=4)
        page.paragraph(_sentence(condition.why), indent=12)
        _write_places(page, condition.evidence, load, indent=12)


def _write_places(page: Page, evidence: Evidence, load: Load, indent: int) -> None:
    """The places in their order, with the code there; what is said of one place stands together, and so do places of
    one kind: "nginx.conf:10, :11 a backup server takes over"."""
    places = [(spans, _notes_of(spans)) for spans in _by_place(evidence)]
    groups = [(note, [span for spans, _ in same for span in spans]) for note, same in groupby(places, lambda p: p[1])]
    for note, spans in groups[:MOST_PLACES]:
        code = quoted(spans[0], load) if len(_by_place(spans)) == 1 else ""
        said = note if not code or code in note else f"`{code}` {note}"
        page.paragraph(said, indent=indent, first=f"{joined_places(spans)} ", first_style="place", style="dim")
    left = sum(len(spans) for _, spans in groups[MOST_PLACES:])
    if left:
        page.paragraph(f"and {left} more", indent=indent, style="dim")


def _by_place(evidence: Iterable[Span]) -> list[list[Span]]:
    return [list(spans) for _, spans in groupby(evidence, lambda span: (span.path, span.line))]


def _notes_of(spans: Iterable[Span]) -> str:
    return ", ".join(dict.fromkeys(span.note for span in spans if span.note))


def _write_witness(page: Page, judgement: Judgement) -> None:
    if not judgement.witness:
        return
    _title(page, "How it happens" if judgement.verdict is Verdict.CORRUPT else "How it would happen")
    for step in judgement.witness:
        page.paragraph(_with_places(step.text, step.evidence), indent=4, first=f"{step.n}. ")


def _write_claims(page: Page, judgement: Judgement) -> None:
    claims = {
        "advertises": judgement.advertises,
        "implements": judgement.implements,
        "assumes": judgement.assumes,
    }
    if any(claims.values()):
        _title(page, "What the deployment says, does and relies on")
        for word, claim in claims.items():
            if claim:
                page.paragraph(_sentence(claim), indent=4, first=f"{word:<12}", first_style="bold")


def _write_ways_out(page: Page, judgement: Judgement) -> None:
    if not any(judgement.ways_out.values()):
        return
    _title(page, "Three ways out, the least change to each")
    for policy in Policy:
        page.line((verdict_words(policy), "bold"), indent=4)
        for way in judgement.ways_out.get(policy, ()):
            page.paragraph(_with_places(way.text, way.evidence), indent=6, first="- ")


def _write_parts(page: Page, findings: Sequence[Finding]) -> None:
    if findings:
        _title(page, "Found on the way")
        for finding in findings:
            _write_finding(page, finding, indent=4)


def _write_finding(page: Page, finding: Finding, indent: int) -> None:
    style = finding.severity.value
    place = str(finding.evidence[0]) if finding.evidence else ""
    page.line((f"{finding.code} {style}", style), "  ", (place, "place"), indent=indent)
    page.paragraph(_sentence(finding.text), indent=indent + 2)


def _write_assumptions(page: Page, judgement: Judgement, indent: int) -> None:
    if judgement.deployment.assumptions and judgement.verdict in HEADLINES:
        page.blank()
    for assumption in judgement.deployment.assumptions:
        page.paragraph(_sentence(assumption), indent=indent, first="Assumed: ", style="dim", first_style="dim")


# -- the whole run -----------------------------------------------------------------------------------------------------


def _write_inputs(page: Page, findings: Sequence[Finding]) -> None:
    if findings:
        page.blank()
    for finding in findings:
        style = finding.severity.value
        place = f"{finding.evidence[0].path}:{finding.evidence[0].line} " if finding.evidence else ""
        page.paragraph(place + finding.text, first=f"{style}[{finding.code}] ", first_style=style)


def _write_loose_routes(page: Page, routes: Sequence[Route]) -> None:
    """Routes without a server: what one would need under policies 1 and 3 once, and under policy 2 for each route."""
    if not routes:
        return
    page.blank()
    page.line(("Routes without a server in this tree", "bold"))
    page.paragraph(
        "A server behind any of them keeps policy 1 with ids, replay and live tail from a store that all processes "
        "share, and policy 3 without ids. What it needs for policy 2 depends on the route:",
        indent=2,
    )
    for route in routes[:MOST_LOOSE_ROUTES]:
        page.paragraph(
            f"{route.name} ({route_words(route)}): {needs_behind(route)[Policy.PINNED_FAIL_CLOSED]}",
            indent=4,
            first=f"{route.path}:{route.line} ",
            first_style="place",
        )
    if len(routes) > MOST_LOOSE_ROUTES:
        page.paragraph(f"and {len(routes) - MOST_LOOSE_ROUTES} more: `sselint facts` lists them", indent=4)


def _write_suppressed(page: Page, findings: Sequence[Finding]) -> None:
    if not findings:
        return
    page.blank()
    page.line(("Suppressed", "bold"))
    for finding in findings:
        by = finding.suppressed
        place = f"{finding.evidence[0]} " if finding.evidence else ""
        if by:
            page.paragraph(f"{place}{finding.message}", indent=2, first=f"{finding.code} ", style="dim")
            page.paragraph(f"{by.path}:{by.line} ({by.by}): {by.reason}", indent=4, style="dim")


def _write_statistics(page: Page, report: Report) -> None:
    page.blank()
    page.line(("Statistics", "bold"))
    for verdict, number in counted_verdicts(report.judgements).items():
        page.line(f"{number:>5}  {verdict_words(verdict)}", indent=2)
    codes = Counter((f.code, f.severity.value) for f in report.findings if not f.suppressed)
    for (code, severity), number in sorted(codes.items()):
        page.line(f"{number:>5}  {code} {severity}", indent=2)
    outcomes = Counter(file.outcome for file in report.files)
    for outcome in FileOutcome:
        if outcomes[outcome]:
            page.line(f"{outcomes[outcome]:>5}  files {outcome.value.replace('_', ' ')}", indent=2)


def _write_overview(page: Page, judgements: Sequence[Judgement]) -> None:
    """One line a deployment, at the end of the log, where people begin to read."""
    if len(judgements) < 2:
        return
    width = max(len(verdict_words(judgement.verdict)) for judgement in judgements)
    for judgement in judgements:
        style = VERDICT_STYLES.get(judgement.verdict, "ok")
        word = f"{verdict_words(judgement.verdict):<{width}}  "
        page.paragraph(judgement.deployment.name, first=word, first_style=style)
    page.blank()


def _write_summary(page: Page, report: Report, told: Sequence[Finding]) -> None:
    verdict_counts = counted_verdicts(report.judgements)
    # Without the numbers of the policies, which a reader would take for more counts.
    verdicts = ", ".join(f"{number} {verdict.value}" for verdict, number in verdict_counts.items())
    counts = Counter(finding.severity for finding in told)
    severities = [plural(counts[s], s.value) for s in reversed(Severity) if counts[s]]
    suppressed = len(report.findings) - len(told)
    if suppressed:
        severities.append(f"{suppressed} suppressed")
    parts = [
        f"{plural(len(report.judgements), 'deployment')}: {verdicts}" if report.judgements else "no deployment",
        ", ".join(severities) or "no findings",
        f"exit {report.exit}",
    ]
    page.paragraph(" | ".join(parts), style="bold")
    worst = next((f.code for f in told if f.severity is not Severity.NOTE), None)
    if worst:
        page.paragraph(f"`sselint explain {worst}` says what it means and how to mend it.", style="dim")


# -- small pieces ------------------------------------------------------------------------------------------------------


def _title(page: Page, text: str) -> None:
    page.blank()
    page.line((text, "bold"), indent=2)


def _sentence(text: str) -> str:
    """Reasons carry no full stop; in a paragraph they get one."""
    text = text.strip()
    return text if not text or text[-1] in ".!?" else text + "."


def _with_places(text: str, evidence: Evidence) -> str:
    """A step or a change as a sentence, with the places that it does not name itself."""
    unnamed = [span for span in evidence if str(span) not in text]
    return _sentence(text.rstrip(". ") + (f" ({joined_places(unnamed)})" if unnamed else ""))
