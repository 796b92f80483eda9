"""Load balancer target groups as hops: who registers with them, which requests come, and what stickiness does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sselint.facts import (
    Affinity,
    Count,
    Evidence,
    KeyCarrier,
    KeyIssuer,
    Match,
    Pool,
    Route,
    RoutingKey,
    Span,
    Strength,
    Target,
)
from sselint.read.terraform.affinity import documented
from sselint.read.terraform.expressions import Unknown, Value, number_of, plain, references, text_of
from sselint.read.terraform.hcl import Block
from sselint.read.terraform.modules import Module
from sselint.read.terraform.services import Services

COOKIE_SECONDS = 86_400
"""`cookie_duration` where it is not written."""

_LAST = 1_000_000
"""The priority of a listener's default action: rules go up to 50,000."""


def routes(modules: Sequence[Module], services: Services) -> Iterator[Route]:
    """A route for each rule that forwards to a target group; one for a group that no rule of the tree names."""
    rules = [rule for module in modules for rule in _rules(module)]
    for module in modules:
        for address, block in module.resources("aws_lb_target_group", "aws_alb_target_group"):
            group = _route(module, address, block, services.behind(address))
            mine = [r for r in rules if address in r.groups]
            seen: set[tuple[Match, bool]] = set()
            for rule in mine:
                key = (rule.match, len(rule.groups) > 1)
                if key not in seen:
                    seen.add(key)
                    yield _by_rule(group, rule)
            if not mine:
                yield group


@dataclass(frozen=True)
class _Rule:
    """What a listener's action or rule forwards to, and which requests it takes."""

    name: str
    groups: tuple[str, ...]
    match: Match
    evidence: Evidence
    sticky: bool = False


def _rules(module: Module) -> Iterator[_Rule]:
    for address, block in module.resources("aws_lb_listener", "aws_alb_listener"):
        for action in block.of("default_action"):
            yield from _action(module, address, action, Match(priority=_LAST), (block.span,))
    for address, block in module.resources("aws_lb_listener_rule", "aws_alb_listener_rule"):
        priority = number_of(module.value(block, "priority"))
        match = replace(_match(module, block), priority=_LAST - 1 if priority is None else priority)
        for action in block.of("action"):
            yield from _action(module, address, action, match, (block.span,))


def _action(module: Module, address: str, action: Block, match: Match, evidence: Evidence) -> Iterator[_Rule]:
    groups = [r.address for r in references(module.value(action, "target_group_arn"))]
    sticky = False
    span = action.span_of("target_group_arn")
    for forward in action.of("forward"):
        span = forward.span
        groups += [r.address for g in forward.of("target_group") for r in references(module.value(g, "arn"))]
        sticky = any(plain(module.value(s, "enabled")) is not False for s in forward.of("stickiness"))
    if groups:
        yield _Rule(address, tuple(dict.fromkeys(groups)), match, (*evidence, span), sticky)


def _match(module: Module, block: Block) -> Match:
    paths: list[tuple[str, str]] = []
    hosts: list[str] = []
    headers: list[str] = []
    for condition in block.of("condition"):
        field = text_of(module.value(condition, "field"))
        for pattern in condition.of("path_pattern"):
            paths += [_path(t) for t in _texts(module.value(pattern, "values"))]
        if field == "path-pattern":
            paths += [_path(t) for t in _texts(module.value(condition, "values"))]
        for host in condition.of("host_header"):
            hosts += _texts(module.value(host, "values"))
        headers += [
            name.lower()
            for header in condition.of("http_header")
            if (name := text_of(module.value(header, "http_header_name")))
        ]
    return Match(tuple(paths), tuple(hosts), tuple(headers))


def _texts(value: Value) -> list[str]:
    value = plain(value)
    return [t for v in value if (t := text_of(v)) is not None] if isinstance(value, list) else []


def _path(pattern: str) -> tuple[str, str]:
    """`/mcp*` is a prefix; `*` and `?` anywhere else make a pattern."""
    head = pattern.removesuffix("*")
    if not re.search(r"[*?]", head):
        return ("prefix" if pattern.endswith("*") else "exact"), head
    expression = "".join({"*": ".*", "?": "."}.get(c, re.escape(c)) for c in pattern)
    return "regex", f"^{expression}$"


def _route(module: Module, address: str, block: Block, behind: Sequence[Pool]) -> Route:
    name = text_of(module.value(block, "name")) or block.labels[1]
    affinity = _affinity(module, block)
    port = number_of(module.value(block, "port"))
    targets = (Target(_address_of(pool), port, block.span) for pool in behind)
    return Route(
        path=block.span.path,
        line=block.span.line,
        format="terraform",
        name=f"target group {name}",
        pool=name,
        members=_members(behind),
        affinity=affinity,
        targets=tuple(targets),
        addresses=frozenset({address}),
        resolves="all",
        evidence=(block.span, *affinity.evidence),
    )


def _address_of(pool: Pool) -> str:
    return next((a for a in pool.addresses if "aws_" in a), "")


def _members(behind: Sequence[Pool]) -> Count:
    if not behind:
        return Count.unknown("nothing in the tree registers with the target group")
    counts = [p.processes for p in behind]
    highs = [c.high for c in counts]
    high = None if None in highs else sum(h for h in highs if h is not None)
    return Count(sum(c.low for c in counts), high, " and ".join(dict.fromkeys(c.why for c in counts)))


def _by_rule(group: Route, rule: _Rule) -> Route:
    """The group as it is reached by a rule. Weights over several groups choose anew unless that choice is sticky."""
    affinity = group.affinity
    if len(rule.groups) > 1 and not rule.sticky and affinity.strength is not Strength.NONE:
        affinity = replace(
            affinity,
            strength=Strength.NONE,
            why="the rule spreads requests over several target groups by weight before stickiness is looked at",
            undone_by=rule.evidence,
        )
    return replace(
        group,
        name=f"{rule.name} -> {group.name}",
        match=rule.match,
        affinity=affinity,
        evidence=(*rule.evidence, *group.evidence),
    )


def _affinity(module: Module, block: Block) -> Affinity:
    dynamic = next((b for b in block.of("dynamic") if b.labels == ("stickiness",)), None)
    stickiness = next(block.of("stickiness"), None)
    if stickiness is None:
        return (
            _unknown("a dynamic block decides on stickiness", dynamic.span)
            if dynamic
            else documented("alb", {}, (block.span,))
        )
    evidence: Evidence = (stickiness.span, *(stickiness.attributes[n].span for n in stickiness.attributes))
    enabled = plain(module.value(stickiness, "enabled"))
    if enabled in (False, "false"):
        return documented("alb", {}, evidence)
    if isinstance(enabled, Unknown):
        return _unknown(f"stickiness.enabled: {enabled.why}", stickiness.span)
    kind = text_of(module.value(stickiness, "type"))
    if kind in ("source_ip", "source_ip_dest_ip", "source_ip_dest_ip_proto"):
        return documented("alb", {"method": "address"}, evidence, key_name="source address")
    if kind not in ("lb_cookie", "app_cookie"):
        return _unknown("the type of stickiness is not known", stickiness.span)
    seconds = module.value(stickiness, "cookie_duration")
    lifetime = COOKIE_SECONDS if seconds is None else number_of(seconds)
    cookie = text_of(module.value(stickiness, "cookie_name")) if kind == "app_cookie" else "AWSALB"
    return documented("alb", {"method": "cookie", "type": kind}, evidence, key_name=cookie or "", seconds=lifetime)


def _unknown(why: str, span: Span) -> Affinity:
    return Affinity("ALB stickiness", Strength.UNKNOWN, RoutingKey(KeyIssuer.PROXY, KeyCarrier.COOKIE), why, (span,))
