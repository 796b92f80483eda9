"""Runs the model and the checks over what was linked; orders, grades and fingerprints what they say."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from sselint import __version__
from sselint.deployment import Audit, Deployment
from sselint.facts import Evidence, FileOutcome, FileReport, Pool, Truth
from sselint.findings import CONDITION_NAMES, Finding, Judgement, Report, Severity, Verdict
from sselint.settings import Settings
from sselint.waive import suppression_by_settings, waive

BADNESS = (
    Verdict.CORRUPT,
    Verdict.LATENT,
    Verdict.LOUD,
    Verdict.UNKNOWN,
    Verdict.PINNED_FAIL_CLOSED,
    Verdict.SHARED_REPLAY,
    Verdict.NO_RESUMPTION,
    Verdict.NONE,
)
"""The order in which deployments are told: what needs a person first."""

SAFE = (Verdict.SHARED_REPLAY, Verdict.PINNED_FAIL_CLOSED, Verdict.NO_RESUMPTION, Verdict.NONE, Verdict.LOUD)
ANALYSED = (FileOutcome.ANALYSED, FileOutcome.IRRELEVANT)


def judge(audit: Audit, settings: Settings) -> Report:
    """The report on an audit: judgements and findings in the order in which they are told, and the exit code.

    A deployment or a check that fails is told as an internal error (SSE904) and loses nothing else.
    """
    judgements, failures = _judgements(audit, settings)
    return judge_judgements(judgements, replace(audit, files=audit.files + failures), settings)


def judge_judgements(judgements: Sequence[Judgement], audit: Audit, settings: Settings) -> Report:
    """The report on deployments that the model has judged."""
    ordered = tuple(sorted(_told_apart(judgements), key=lambda j: (BADNESS.index(j.verdict), j.deployment.name)))
    findings, failures = _findings(ordered)
    files = audit.files + failures
    findings = waive(
        [*findings, *_input_findings(files, settings)],
        settings.root,
        [file.path for file in audit.files if file.outcome in (FileOutcome.ANALYSED, FileOutcome.PARTLY)],
    )
    report = Report(
        root=audit.root,
        version=__version__,
        exit=0,
        judgements=ordered,
        findings=tuple(_fingerprinted(findings, ordered)),
        streams=audit.streams,
        routes=audit.routes,
        pools=audit.pools,
        loose_routes=audit.loose_routes,
        files=files,
        notes=_notes(settings),
    )
    report = _narrowed(report, settings.reported)
    return replace(report, exit=exit_code(report, settings))


def exit_code(report: Report, settings: Settings) -> int:
    """1 for a finding at or above `fail_on`, 3 where something that a deployment needs was not analysed, else 0.

    What could not be analysed decides 3 and never 1: the two must stay apart in a pipeline. `exit_zero` takes away the
    1 and leaves the 3, which says that the findings are not all there is.
    """
    if not settings.exit_zero and any(_counts(finding, settings) for finding in report.findings):
        return 1
    return 3 if is_incomplete(report.files, settings) else 0


def is_incomplete(files: Sequence[FileReport], settings: Settings) -> bool:
    """Whether something that a deployment needs could not be analysed, and nobody has waived it."""
    waived = {finding.evidence[0].path for finding in _input_findings(files, settings) if finding.suppressed}
    return any(file.needed and file.outcome not in ANALYSED and file.path not in waived for file in files)


def _counts(finding: Finding, settings: Settings) -> bool:
    if finding.suppressed or _is_unanalysed(finding.code):
        return False
    if settings.fail_on_unknown and finding.code == "SSE004":
        return True
    return list(Severity).index(finding.severity) >= list(Severity).index(settings.fail_on)


def _is_unanalysed(code: str) -> bool:
    return code in ("SSE901", "SSE902", "SSE903", "SSE904")


def _judgements(audit: Audit, settings: Settings) -> tuple[tuple[Judgement, ...], tuple[FileReport, ...]]:
    judgements: list[Judgement] = []
    failures: list[FileReport] = []
    for deployment in audit.deployments:
        if deployment.declared_policy is None and settings.policy is not None:
            deployment = replace(deployment, declared_policy=settings.policy.value)
        try:
            from sselint.policies import judge_deployment

            judgements.append(judge_deployment(deployment))
        except Exception as error:  # one deployment that makes the model fail must not lose the others
            failures.append(_failure(deployment, "judging", error))
    return tuple(judgements), tuple(failures)


def _told_apart(judgements: Iterable[Judgement]) -> Iterator[Judgement]:
    """Findings name their deployment, so no two deployments may have one name."""
    taken: Counter[str] = Counter()
    for judgement in judgements:
        deployment = judgement.deployment
        taken[deployment.name] += 1
        if taken[deployment.name] > 1:
            name = f"{deployment.name} ({taken[deployment.name]})"
            judgement = replace(judgement, deployment=replace(deployment, name=name))
        yield judgement


def _failure(deployment: Deployment, doing: str, error: Exception) -> FileReport:
    why = f"{doing} the deployment {deployment.name} failed: {type(error).__name__}: {error}"
    return FileReport(deployment.stream.path, FileOutcome.INTERNAL_ERROR, why, needed=True)


def _findings(judgements: Iterable[Judgement]) -> tuple[list[Finding], tuple[FileReport, ...]]:
    findings: list[Finding] = []
    failures: list[FileReport] = []
    for judgement in judgements:
        of_deployment: list[Finding] = []
        from sselint.checks import DEPLOYMENT_CHECKS

        for code, check in DEPLOYMENT_CHECKS.items():
            try:
                of_deployment.extend(_graded(code, judgement, check(judgement)))
            except Exception as error:  # a check that fails is a fault of sselint, named and survived
                failures.append(_failure(judgement.deployment, f"check {code} of", error))
        of_deployment.sort(key=_order)
        findings.extend(of_deployment)
    return findings, tuple(failures)


def _order(finding: Finding) -> tuple[int, str, Evidence]:
    return -list(Severity).index(finding.severity), finding.code, finding.evidence


def _graded(code: str, judgement: Judgement, parts: Iterable[object]) -> Iterator[Finding]:
    """Findings of the parts at the severity that the deployment gives them; silent ones are left out."""
    from sselint.catalogue import finding_rules
    from sselint.checks import Part

    for part in parts:
        assert isinstance(part, Part)
        rule = finding_rules()[code]
        severity = rule.severity.get(judgement.verdict.value)
        if severity is None:
            continue
        reason = part.harmless
        if judgement.verdict in SAFE and severity is Severity.NOTE and not rule.harms_alone:
            reason = reason or _why_harmless(judgement)
        if reason:
            severity = Severity.NOTE
        yield Finding(
            code=code,
            severity=severity,
            confidence=part.confidence,
            message=part.message,
            evidence=part.evidence,
            deployment=judgement.deployment.name,
            policies=part.policies or rule.policies,
            harmless=reason,
        )


BECAUSE = {
    "no_shared_replay": "every process replays the same events",
    "per_process_ids": "ids mean the same on every process",
    "lb_can_route_elsewhere": "a client comes back to its own process",
    "unknown_id_tolerated": "a cursor of another process is refused",
}
"""What a condition that is false says about the deployment."""


def _why_harmless(judgement: Judgement) -> str:
    """What the first condition that is false says, with its reason: any one of them is enough."""
    for name in reversed(CONDITION_NAMES):
        for condition in judgement.conditions:
            if condition.name == name and condition.value is Truth.NO:
                return f"{BECAUSE[name]}: {condition.why}" if name in BECAUSE else condition.why
    return ""


def _input_findings(files: Sequence[FileReport], settings: Settings) -> list[Finding]:
    """SSE901 to SSE904; those that the settings waive are suppressed, with the reason."""
    troubled = [file for file in files if file.outcome not in ANALYSED]
    if not troubled:
        return []
    from sselint.catalogue import finding_rules
    from sselint.checks import INPUT_CHECKS

    findings = []
    for file in troubled:
        for code, check in INPUT_CHECKS.items():
            for part in check(file):
                rule = finding_rules()[code]
                finding = Finding(
                    code=code,
                    severity=rule.severity["needed" if file.needed else "other"],
                    confidence=part.confidence,
                    message=part.message,
                    evidence=part.evidence,
                    deployment="",
                    policies=rule.policies,
                    suppressed=suppression_by_settings(code, file.path, settings.waivers),
                    harmless=part.harmless,
                )
                findings.append(finding)
    return sorted(findings, key=_order)


def _fingerprinted(findings: Iterable[Finding], judgements: Iterable[Judgement]) -> Iterator[Finding]:
    """Each finding with what tells it from all others and survives edits elsewhere in its files: no line numbers."""
    symbols = {j.deployment.name: j.deployment.stream.symbol for j in judgements}
    seen: Counter[str] = Counter()
    for finding in findings:
        first = finding.evidence[0] if finding.evidence else None
        path, note = (first.path, first.note) if first else ("", "")
        parts = (finding.code, finding.deployment, symbols.get(finding.deployment, ""), path, _without_lines(note))
        identity = "\0".join(parts)
        ordinal = seen[identity]
        seen[identity] += 1
        digest = hashlib.sha256(f"{identity}\0{ordinal}".encode("utf-8", "surrogateescape")).hexdigest()
        yield replace(finding, fingerprint=digest[:32])


def _without_lines(text: str) -> str:
    return re.sub(r"(:\d+)+\b|\blines? \d+", "", text)


def _narrowed(report: Report, reported: Sequence[str]) -> Report:
    """The report on the deployments, findings and files that the named files take part in."""
    if not reported:
        return report
    named = frozenset(reported)
    judgements = tuple(j for j in report.judgements if named & _paths_of(j.deployment))
    names = {j.deployment.name for j in judgements}
    return replace(
        report,
        judgements=judgements,
        findings=tuple(
            f for f in report.findings if f.deployment in names or any(span.path in named for span in f.evidence)
        ),
        loose_routes=tuple(route for route in report.loose_routes if route.path in named),
        files=tuple(file for file in report.files if file.path in named or file.needed),
        narrowed=True,
    )


def _paths_of(deployment: Deployment) -> frozenset[str]:
    """The files that a deployment rests on."""
    stream = deployment.stream
    evidence = [*stream.ids.evidence, *stream.replay.evidence, *stream.on_foreign.evidence, *stream.evidence]
    paths = {stream.path}
    for hop in deployment.hops:
        evidence += hop.evidence
        if hop.route is not None:
            paths.add(hop.route.path)
            evidence += hop.route.evidence
        if hop.pool is not None:
            paths |= _paths_of_pool(hop.pool)
    return frozenset(paths | {span.path for span in evidence})


def _paths_of_pool(pool: Pool) -> set[str]:
    """Where the pool, its workers, its settings and its image stand."""
    spans = [*pool.evidence, *(span for setting in pool.environment for span in setting.evidence)]
    paths = {pool.path, *(span.path for span in spans)}
    if pool.dockerfile or pool.build_context:
        paths.add(pool.dockerfile or str(PurePosixPath(pool.build_context or ".") / "Dockerfile"))
    return paths | (_paths_of_pool(pool.workers) if pool.workers else set())


def _notes(settings: Settings) -> tuple[str, ...]:
    """Premises that the caller has set and that the tree does not show."""
    notes = []
    if settings.assume.replicas is not None:
        low, high = settings.assume.replicas.low, settings.assume.replicas.high
        number = str(low) if high == low else f"{low} or more" if high is None else f"{low} to {high}"
        notes.append(f"assumed: {number} processes wherever the tree leaves the number open (--assume)")
    if settings.assume.stream is not None:
        stream = settings.assume.stream
        notes.append(
            f"assumed: behind each route without a server, one with {stream.ids.value} ids and unknown cursors "
            f"{stream.unknown.value} (--assume)"
        )
    if settings.clients:
        notes.append(f"clients, as {settings.path or 'the settings'} names them: {', '.join(settings.clients)}")
    return tuple(notes)
