"""Policies that are attached to Gateway API routes and Services, as far as they pin a client.

Session persistence of a Service (GEP-1619: XBackendTrafficPolicy, before that BackendLBPolicy), and the consistent hash
of Envoy Gateway's BackendTrafficPolicy, which is attached to a route or to all routes of a Gateway.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sselint.facts import Affinity
from sselint.read.kubernetes.affinity import documented, header_key, seconds_of
from sselint.read.kubernetes.objects import KubernetesObject, Objects, meets, symbol
from sselint.read.yaml_nodes import Node


def attached(route: KubernetesObject, backends: Sequence[str], objects: Objects) -> Affinity | None:
    """The affinity that a policy gives a route to these Services; None where none is attached."""
    for policy in objects.of("XBackendTrafficPolicy", "BackendLBPolicy"):
        written = policy.node.at("spec", "sessionPersistence")
        if written and meets(policy, route) and any(k == "Service" and n in backends for k, n in _targets(policy)):
            return persistence(written)
    parents = [symbol(parent["name"]) for parent in route.node.at("spec", "parentRefs")]
    for wanted in ([(route.kind, route.name)], [("Gateway", name) for name in parents]):
        for policy in objects.of("BackendTrafficPolicy"):
            hashed = policy.node.at("spec", "loadBalancer", "consistentHash")
            if hashed and meets(policy, route) and any(target in wanted for target in _targets(policy)):
                return _consistent_hash(hashed)
    return None


def persistence(written: Node) -> Affinity:
    """The affinity that a `sessionPersistence` is."""
    kind = (written["type"].text or "Cookie").lower()
    lifetimes = [seconds_of(written[k].text) for k in ("absoluteTimeout", "idleTimeout")]
    known = [s for s in lifetimes if s is not None]
    features = {"method": "persistence", "type": kind}
    name = written["sessionName"].text or "session"
    seconds = min(known) if known else None
    return documented("gateway_api", features, (written.span(),), key_name=name, seconds=seconds)


def _targets(policy: KubernetesObject) -> Iterator[tuple[str, str]]:
    spec = policy.node["spec"]
    for target in (*spec["targetRefs"], spec["targetRef"]):
        if target.is_mapping:
            yield target["kind"].text or "", symbol(target["name"])


def _consistent_hash(hashed: Node) -> Affinity:
    kind, evidence = hashed["type"].text, (hashed.span(),)
    if kind == "Cookie":
        cookie = hashed["cookie"]
        features = {"method": "hash", "carrier": "cookie"}
        # Without a ttl the cookie lives as long as the client's session.
        seconds = seconds_of(cookie["ttl"].text) or None
        return documented("gateway_api", features, evidence, key_name=cookie["name"].text or "", seconds=seconds)
    header = hashed.at("header", "name").text or next((h["name"].text for h in hashed["headers"]), None)
    if kind in ("Header", "Headers") and header:
        features = {"method": "hash", "issued_by": header_key(header).issued_by}
        return documented("gateway_api", features, evidence, key_name=header)
    if kind == "SourceIP":
        features = {"method": "hash", "carrier": "address"}
        return documented("gateway_api", features, evidence, key_name="client address")
    return documented("gateway_api", {}, evidence)
