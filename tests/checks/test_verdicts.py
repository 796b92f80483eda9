"""SSE0xx: each verdict has its code, and no other deployment gets it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sselint.facts import Count
from sselint.findings import Confidence, Judgement, Policy, Severity, Verdict
from tests.checks.helpers import found, only
from tests.report import builders

OF_VERDICT = {
    Verdict.CORRUPT: "SSE001",
    Verdict.LATENT: "SSE002",
    Verdict.UNKNOWN: "SSE004",
    Verdict.LOUD: "SSE005",
}


def judged(verdict: Verdict) -> Judgement:
    return builders.corrupt(verdict=verdict)


def test_a_corrupt_deployment_is_an_error() -> None:
    finding = only("SSE001", builders.corrupt())
    assert (finding.severity, finding.confidence) == (Severity.ERROR, Confidence.HIGH)
    assert finding.evidence[0] == builders.COUNTER
    assert set(finding.policies.values()) == {"contradicts"}


def test_a_latent_deployment_is_a_warning() -> None:
    assert only("SSE002", builders.latent()).severity is Severity.WARNING


def test_an_unknown_verdict_is_a_note() -> None:
    """It is never reported as bad with confidence, so it contradicts no policy either."""
    finding = only("SSE004", builders.unknown())
    assert (finding.severity, finding.confidence) == (Severity.NOTE, Confidence.LOW)
    assert set(finding.policies.values()) == {"allows"}


def test_a_loud_deployment_is_a_warning() -> None:
    assert only("SSE005", builders.loud()).severity is Severity.WARNING


@pytest.mark.parametrize(
    ("elsewhere", "confidence"),
    [
        (True, Confidence.HIGH),  # a hop without affinity is there to see
        (None, Confidence.LOW),  # of no hop is anything known
    ],
)
def test_a_refusal_behind_nothing_that_is_known_is_told_with_low_confidence(
    elsewhere: bool | None, confidence: Confidence
) -> None:
    values = (True, True, True, elsewhere, False)
    judgement = replace(builders.loud(), conditions=builders.conditions(values))
    assert only("SSE005", judgement).confidence is confidence


@pytest.mark.parametrize("verdict", Verdict)
def test_a_verdict_has_its_code_and_no_other(verdict: Verdict) -> None:
    told = {f.code for f in builders.report(judged(verdict)).findings if f.code.startswith("SSE0")}
    assert told == ({OF_VERDICT[verdict]} if verdict in OF_VERDICT else set())


def test_a_declared_policy_that_is_not_kept_is_an_error() -> None:
    declared = builders.deployment(declared_policy="shared-replay")
    finding = only("SSE003", builders.corrupt(deployment=declared))
    assert finding.severity is Severity.ERROR
    assert finding.message.startswith("declared policy 1 (shared-replay), but the verdict is corrupt")


def test_a_policy_that_is_kept_and_one_that_was_not_declared_are_silent() -> None:
    safe = builders.safe()
    kept = replace(safe, deployment=replace(safe.deployment, declared_policy="pinned-fail-closed"))
    assert not found("SSE003", kept)
    assert not found("SSE003", builders.corrupt())


@pytest.mark.parametrize("verdict", [Verdict.UNKNOWN, Verdict.NONE])
def test_what_is_not_known_contradicts_no_declared_policy(verdict: Verdict) -> None:
    """SSE004 says that it is not known; a stream that nobody can resume has no policy to break."""
    declared = builders.deployment(declared_policy="shared-replay")
    assert not found("SSE003", builders.corrupt(deployment=declared, verdict=verdict))


def test_keeping_another_policy_than_the_declared_one_is_an_error() -> None:
    safe = builders.safe()
    other = replace(safe, deployment=replace(safe.deployment, declared_policy="no-resumption"))
    finding = only("SSE003", other)
    assert finding.policies[Policy.PINNED_FAIL_CLOSED] == "allows"
    assert finding.policies[Policy.NO_RESUMPTION] == "contradicts"


def test_a_verdict_on_an_assumed_link_is_less_sure() -> None:
    assumed = builders.hop(builders.route(), assumed=True)
    judgement = builders.corrupt(deployment=builders.deployment(hops=(assumed,)))
    assert only("SSE001", judgement).confidence is Confidence.MEDIUM


def test_evidence_leads_from_the_id_to_the_routing() -> None:
    places = [str(s) for s in only("SSE001", builders.corrupt()).evidence]
    assert places == ["app.py:8", "app.py:21", "app.py:9", "haproxy.cfg:13"]


def test_two_deployments_of_one_name_keep_their_findings_apart() -> None:
    """Findings name their deployment, so that two of the same name are told apart before."""
    one = builders.corrupt()
    other = builders.corrupt(
        deployment=builders.deployment(hops=(builders.hop(builders.pool(processes=Count.exactly(2, "two"))),))
    )
    report = builders.report(one, other)
    names = [j.deployment.name for j in report.judgements]
    assert len(set(names)) == 2
    assert sorted(f.deployment for f in report.findings if f.code == "SSE001") == sorted(names)
    assert {f.deployment for f in report.findings if f.code == "SSE301"} == {one.deployment.name}
