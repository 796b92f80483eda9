"""Running checks over judgements: order, fingerprints, narrowing, and that one failure loses nothing else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sselint.checks import DEPLOYMENT_CHECKS
from sselint.deployment import Audit, Deployment
from sselint.facts import FileOutcome, FileReport, Span
from sselint.findings import Finding, Judgement, Report, Severity, Verdict
from sselint.judge import judge
from sselint.settings import Settings
from tests.report import builders


def named(judgement: Judgement, name: str) -> Judgement:
    return replace(judgement, deployment=replace(judgement.deployment, name=name))


def everywhere(thing: Any, change: Callable[[Span], Span]) -> Any:
    """The same facts with every place changed."""
    if isinstance(thing, Span):
        return change(thing)
    if isinstance(thing, tuple):
        return tuple(everywhere(item, change) for item in thing)
    if is_dataclass(thing) and not isinstance(thing, type):
        return replace(thing, **{f.name: everywhere(getattr(thing, f.name), change) for f in fields(thing)})
    return thing


def moved(judgement: Judgement, lines: int) -> Judgement:
    """The judgement with every place `lines` further down."""
    changed: Judgement = everywhere(
        judgement, lambda span: replace(span, line=span.line + lines, end_line=span.end_line + lines)
    )
    return changed


def fingerprints(report: Report) -> list[tuple[str, str]]:
    return [(finding.code, finding.fingerprint) for finding in report.findings]


# -- order -------------------------------------------------------------------------------------------------------------


def test_deployments_come_in_the_order_in_which_they_need_somebody() -> None:
    judgements = [builders.corrupt(verdict=verdict) for verdict in reversed(Verdict)]
    judgements = [named(judgement, f"d{n}") for n, judgement in enumerate(judgements)]
    told = [judgement.verdict for judgement in builders.report(*judgements).judgements]
    assert told[:4] == [Verdict.CORRUPT, Verdict.LATENT, Verdict.LOUD, Verdict.UNKNOWN]
    assert told[-1] is Verdict.NONE


def test_findings_of_a_deployment_come_worst_first() -> None:
    severities = [finding.severity for finding in builders.report(builders.corrupt()).findings]
    assert severities == sorted(severities, key=list(Severity).index, reverse=True)
    assert builders.report(builders.corrupt()).findings[0].code == "SSE001"


def test_the_same_facts_give_the_same_report() -> None:
    judgements = [named(builders.corrupt(), "b"), named(builders.safe(), "a")]
    one, other = builders.report(*judgements), builders.report(*reversed(judgements))
    assert (one.judgements, one.findings) == (other.judgements, other.findings)


# -- fingerprints ------------------------------------------------------------------------------------------------------


def test_a_fingerprint_survives_lines_that_are_added_above() -> None:
    before, after = builders.report(builders.corrupt()), builders.report(moved(builders.corrupt(), 40))
    assert [str(f.evidence[0]) for f in before.findings] != [str(f.evidence[0]) for f in after.findings]
    assert fingerprints(before) == fingerprints(after)


def test_every_finding_of_a_report_has_its_own() -> None:
    found = builders.report(named(builders.corrupt(), "a"), named(builders.corrupt(), "b"), builders.latent()).findings
    assert len({finding.fingerprint for finding in found}) == len(found)


@pytest.mark.parametrize(
    "change",
    [
        lambda j: named(j, "another deployment"),
        lambda j: replace(j, deployment=replace(j.deployment, stream=replace(j.deployment.stream, symbol="other"))),
    ],
    ids=["deployment", "handler"],
)
def test_another_deployment_or_handler_has_another(change: Any) -> None:
    before, after = builders.report(builders.corrupt()), builders.report(change(builders.corrupt()))
    assert not set(fingerprints(before)) & set(fingerprints(after))


# -- narrowing ---------------------------------------------------------------------------------------------------------


def narrowed(*files: str) -> Report:
    other = everywhere(builders.stream(path="other.py"), lambda span: replace(span, path="other.py"))
    elsewhere = builders.corrupt(deployment=builders.deployment(name="elsewhere", stream=other, hops=()), conditions=())
    settings = Settings(builders.HAPROXY_CASE, reported=files)
    return builders.report(builders.corrupt(), elsewhere, settings=settings, loose_routes=(builders.loose_route(),))


@pytest.mark.parametrize(
    "file, names",
    [
        ("other.py", ["elsewhere"]),
        ("app.py", ["app.py:feed behind haproxy.cfg"]),
        ("haproxy.cfg", ["app.py:feed behind haproxy.cfg"]),
        ("edge/nginx.conf", []),
    ],
)
def test_a_file_narrows_the_report_to_what_rests_on_it(file: str, names: list[str]) -> None:
    report = narrowed(file)
    assert [judgement.deployment.name for judgement in report.judgements] == names
    assert {finding.deployment for finding in report.findings} == set(names)
    assert [route.path for route in report.loose_routes] == (["edge/nginx.conf"] if file == "edge/nginx.conf" else [])
    assert report.exit == (1 if names else 0)


def test_the_image_of_a_pool_is_part_of_what_a_deployment_rests_on() -> None:
    built = builders.pool(path="compose.yaml", build_context="services/feed")
    judged = builders.corrupt(deployment=builders.deployment(hops=(builders.hop(built),)))
    for file, told in (("services/feed/Dockerfile", 1), ("compose.yaml", 1), ("Dockerfile", 0)):
        settings = Settings(builders.HAPROXY_CASE, reported=(file,))
        assert len(builders.report(judged, settings=settings).judgements) == told


# -- failures ----------------------------------------------------------------------------------------------------------


def of(code: str, report: Report) -> Finding:
    (finding,) = [f for f in report.findings if f.code == code]
    return finding


def test_a_check_that_fails_is_named_and_loses_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: Judgement) -> Iterator[Any]:
        raise RecursionError("too deep")

    monkeypatch.setitem(DEPLOYMENT_CHECKS, "SSE101", fails)
    report = builders.report(builders.safe())
    assert "check SSE101 of the deployment" in of("SSE904", report).message
    assert "RecursionError: too deep" in of("SSE904", report).message
    assert report.exit == 3
    assert {f.code for f in builders.report(builders.corrupt()).findings} >= {"SSE001", "SSE203", "SSE301", "SSE904"}


def test_a_deployment_that_makes_the_model_fail_loses_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def judge_deployment(deployment: Deployment) -> Judgement:
        if deployment.name == "bad":
            raise KeyError("no such row")
        return named(builders.safe(), deployment.name)

    policies = ModuleType("sselint.policies")
    policies.judge_deployment = judge_deployment  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sselint.policies", policies)
    deployments = (builders.deployment(name="bad"), builders.deployment(name="good"))
    files = (FileReport("app.py", FileOutcome.ANALYSED),)
    report = judge(Audit(root="app", deployments=deployments, files=files), Settings(Path()))
    assert [judgement.deployment.name for judgement in report.judgements] == ["good"]
    assert "judging the deployment bad failed: KeyError" in of("SSE904", report).message
    assert report.exit == 3


def test_a_policy_of_the_settings_is_declared_for_every_deployment_that_declares_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = []

    def judge_deployment(deployment: Deployment) -> Judgement:
        seen.append((deployment.name, deployment.declared_policy))
        return replace(builders.safe(), deployment=deployment)

    policies = ModuleType("sselint.policies")
    policies.judge_deployment = judge_deployment  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sselint.policies", policies)
    own = builders.deployment(name="own", declared_policy="no-resumption")
    audit = Audit(root="app", deployments=(own, builders.deployment(name="other")))
    judge(audit, Settings(Path(), policy=builders.Policy.SHARED_REPLAY))
    assert seen == [("own", "no-resumption"), ("other", "shared-replay")]
