"""`sselint check --format json`: version 1 of the contract (`rules/schema/check.json`)."""

from __future__ import annotations

import json
from collections import Counter

from sselint.deployment import Hop
from sselint.facts import Route
from sselint.findings import Condition, Finding, Judgement, Policy, Report, WayOut
from sselint.report.json_items import Json, count_item, evidence_items
from sselint.report.words import needs_behind


def check_document(report: Report) -> Json:
    """The report as the contract says."""
    return {
        "version": 1,
        "tool": {"name": "sselint", "version": report.version},
        "root": report.root,
        "exit": report.exit,
        "deployments": [_deployment(judgement) for judgement in report.judgements],
        "findings": [_finding(finding) for finding in report.findings],
        "loose_routes": [_loose_route(route) for route in report.loose_routes],
        "files": dict(sorted(Counter(file.outcome.value for file in report.files).items())),
        "notes": list(report.notes),
    }


def render_check_json(report: Report) -> str:
    """The report as JSON text."""
    return json.dumps(check_document(report), indent=2) + "\n"


def _deployment(judgement: Judgement) -> Json:
    deployment = judgement.deployment
    stream = deployment.stream
    return {
        "name": deployment.name,
        "verdict": judgement.verdict.value,
        "why": judgement.why,
        "declared_policy": deployment.declared_policy,
        "streams": [
            {
                "path": stream.path,
                "line": stream.line,
                "symbol": stream.symbol,
                "url": stream.url,
                "protocol": stream.protocol,
            }
        ],
        "hops": [_hop(hop) for hop in deployment.hops],
        "conditions": {condition.name: _condition(condition) for condition in judgement.conditions},
        "witness": None
        if judgement.witness is None
        else [
            {
                "n": step.n,
                "actor": step.actor,
                "event": step.event,
                "text": step.text,
                "holds": list(step.holds),
                "evidence": evidence_items(step.evidence),
            }
            for step in judgement.witness
        ],
        "damage": judgement.damage,
        "decides": list(judgement.decides),
        "advertises": judgement.advertises,
        "implements": judgement.implements,
        "assumes": judgement.assumes,
        "ways_out": {policy.value: [_way_out(way) for way in judgement.ways_out.get(policy, ())] for policy in Policy},
        "assumptions": list(deployment.assumptions),
        "candidates": list(deployment.candidates),
    }


def _way_out(way: WayOut) -> Json:
    return {"text": way.text, "evidence": evidence_items(way.evidence)}


def _condition(condition: Condition) -> Json:
    item: Json = {
        "value": condition.value.value,
        "why": condition.why,
        "evidence": evidence_items(condition.evidence),
    }
    if condition.scope is not None:
        item["scope"] = condition.scope.value
    return item


def _hop(hop: Hop) -> Json:
    thing = hop.route or hop.pool
    item: Json = {
        "kind": "route" if hop.route else "pool",
        "name": hop.name,
        "path": thing.path if thing else None,
        "line": thing.line if thing else None,
        "format": thing.format if thing else None,
        "why": hop.why,
        "assumed": hop.assumed,
        "evidence": evidence_items(hop.evidence or (thing.evidence if thing else ())),
    }
    if hop.route:
        item |= {
            "members": count_item(hop.route.members),
            "mechanism": hop.route.affinity.mechanism,
            "strength": hop.route.affinity.strength.value,
        }
    elif hop.pool:
        workers = hop.pool.workers
        item |= {
            "processes": count_item(hop.pool.processes),
            "workers": count_item(workers.processes) if workers else None,
            "rolling": hop.pool.rolling.value,
        }
    return item


def _finding(finding: Finding) -> Json:
    primary = finding.evidence[0] if finding.evidence else None
    suppressed = finding.suppressed
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "message": finding.text,
        "doc": f"docs/rules.md#{finding.code.lower()}",
        "path": primary.path if primary else None,
        "line": primary.line if primary else None,
        "column": primary.column if primary else None,
        "end_line": primary.end_line if primary else None,
        "end_column": primary.end_column if primary else None,
        "note": primary.note if primary else "",
        "deployment": finding.deployment or None,
        "related": evidence_items(finding.evidence[1:]),
        "policies": {policy.value: finding.policies[policy] for policy in Policy if policy in finding.policies},
        "fingerprint": finding.fingerprint,
        "suppressed": None
        if suppressed is None
        else {
            "by": suppressed.by,
            "reason": suppressed.reason,
            "path": suppressed.path,
            "line": suppressed.line,
        },
    }


def _loose_route(route: Route) -> Json:
    return {
        "path": route.path,
        "line": route.line,
        "name": route.name,
        "mechanism": route.affinity.mechanism,
        "strength": route.affinity.strength.value,
        "needs": {policy.value: text for policy, text in needs_behind(route).items()},
    }
