"""What an Envoy route does with a reconnect: features of what is written, and the measured row that speaks of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sselint import catalogue
from sselint.affinity import Features, find_row, judge_row
from sselint.facts import Affinity, Evidence, KeyCarrier, KeyIssuer, Meets, RoutingEvent, RoutingKey, Span, Strength
from sselint.read.envoy.clusters import HASHING, Cluster
from sselint.read.envoy.fields import field, has, is_template, line
from sselint.read.envoy.keys import Key, Session, hash_key
from sselint.read.yaml_nodes import Node

RETRIES_A_REFUSED_CONNECTION = frozenset({"5xx", "gateway-error", "reset", "connect-failure", "reset-before-request"})
"""The words of `retry_on` under which a refused connection is retried (x-envoy-retry-on in the router's reference)."""

USUAL_STATES = frozenset({"UNKNOWN", "HEALTHY", "DEGRADED"})
"""`override_host_status` where nothing is written. A host without a health status of its own is UNKNOWN."""


NO_KEY = RoutingKey(KeyIssuer.NONE)

_HASH_KEYS = {
    "cookie": (KeyIssuer.PROXY, KeyCarrier.COOKIE),
    "cookie_of_others": (KeyIssuer.SERVER, KeyCarrier.COOKIE),
    "server": (KeyIssuer.SERVER, KeyCarrier.HEADER),
    "client": (KeyIssuer.CLIENT, KeyCarrier.HEADER),
    "per_request": (KeyIssuer.CLIENT, KeyCarrier.HEADER),
    "query": (KeyIssuer.CLIENT, KeyCarrier.QUERY),
    "address": (KeyIssuer.ADDRESS, KeyCarrier.ADDRESS),
}


@dataclass(frozen=True)
class Retry:
    """A retry policy that retries refused connections. `elsewhere`: hosts already tried are rejected; `unknown`: a
    template decides what is retried."""

    span: Span
    elsewhere: bool = False
    unknown: bool = False


@dataclass(frozen=True)
class Choice:
    """All that decides where a request of one route goes. `clusters` are several where the route splits its requests
    (`split` is the line that does); `metadata_match` selects a subset of the hosts."""

    clusters: tuple[Cluster, ...]
    session: Session | None = None
    hash_policies: tuple[Node, ...] = ()
    retry: Retry | None = None
    split: Span | None = None
    split_by_hash: bool = False
    metadata_match: bool = False
    tcp: bool = False


def read_retry(policy: Node) -> Retry | None:
    """What a retry policy says of refused connections; None where it retries none (`num_retries: 0` does not)."""
    if not policy:
        return None
    words, number = field(policy, "retry_on"), field(policy, "num_retries")
    if is_template(words) or is_template(number):
        return Retry(line(policy, "retry_on"), unknown=True)
    asked = {w.strip() for w in (words.text or "").split(",")}
    if not asked & RETRIES_A_REFUSED_CONNECTION or number.text == "0":
        return None
    predicates = [p["name"].text or "" for p in field(policy, "retry_host_predicate")]
    elsewhere = any(name.rsplit(".", 1)[-1] == "previous_hosts" for name in predicates)
    return Retry(line(policy, "retry_on", f"retry_on {words.text}"), elsewhere)


def judge(choice: Choice) -> Affinity:
    """The affinity of a route."""
    session = choice.session
    if session is not None:
        return _by_session(choice, session)
    first = choice.clusters[0]
    for cluster in choice.clusters:
        if cluster.policy is None:
            return unknown("load balancing", cluster.members.why, ())
        if not cluster.policy.name:
            return unknown("load balancing", cluster.policy.why, (cluster.policy.span,))
        if cluster.subsets and choice.metadata_match:
            return unknown("subset", "a subset of the cluster's hosts is chosen by metadata", (cluster.policy.span,))
    assert first.policy is not None
    if choice.retry is not None and choice.retry.unknown:
        return unknown(first.policy.name, "a template decides what is retried", (choice.retry.span,))
    return _by_policy(choice, first)


def _by_session(choice: Choice, session: Session) -> Affinity:
    evidence = tuple(dict.fromkeys([session.span, session.key.span]))
    mechanism = f"stateful session ({session.state})" if session.state else "stateful session"
    retry = choice.retry
    if not session.state:
        return unknown(mechanism, session.why, evidence)
    if session.strict is None or session.key.kind == "unknown":
        return unknown(mechanism, "a template decides what the session rests on", evidence)
    if retry is not None and retry.unknown:
        return unknown(mechanism, "a template decides what is retried", (*evidence, retry.span))
    cluster = choice.clusters[0]
    features: dict[str, str | bool | int] = {
        "method": "session",
        "state": session.state,
        "strict": session.strict,
        "replaces_id": session.state == "header" and session.key.kind == "server",
        "retried": retry is not None,
        "check": cluster.checked is not None,
        "ejects": cluster.ejects is not None,
        "split": choice.split is not None,
        **_states(cluster),
    }
    undone: list[Span] = [retry.span] if retry is not None else []
    undone += [choice.split] if choice.split is not None else []
    undone += [cluster.honoured_span] if features["own_state_ignored"] and cluster.honoured_span else []
    return _of_cluster(_judged(features, _key_of_session(session), evidence, tuple(undone)), features, cluster)


def _states(cluster: Cluster) -> dict[str, str | bool | int]:
    honoured = USUAL_STATES if cluster.honoured is None else cluster.honoured
    return {
        "own_state_ignored": bool((cluster.states & USUAL_STATES) - honoured) and "?" not in honoured,
        "draining_honoured": "DRAINING" in honoured,
        "unhealthy_honoured": "UNHEALTHY" in honoured,
    }


def _by_policy(choice: Choice, cluster: Cluster) -> Affinity:
    policy = cluster.policy
    assert policy is not None
    written = policy.hash_policies or choice.hash_policies or _of_options(cluster)
    key = hash_key(written)
    hashing = all(c.policy is not None and c.policy.name in HASHING for c in choice.clusters)
    evidence: Evidence = (policy.span, *((key.span,) if key and hashing else ()))
    if hashing and key is not None and key.kind == "unknown":
        return unknown("hash", "what is hashed is filled in by a template or set by another filter", evidence)
    no_effect: tuple[Span, ...] = ()
    if key is not None and not hashing:
        no_effect = (key.span.noted(f"{key.span.note} has no effect under {policy.name}"),)
    elif hashing and key is None:
        no_effect = (policy.span.noted(f"{policy.name} without a hash_policy hashes a random value"),)
    elif key is not None and key.kind == "cookie_of_others":
        no_effect = (key.span.noted(f"without a ttl Envoy never issues the cookie {key.name}"),)
    features: dict[str, str | bool | int] = {
        "method": "hash" if hashing else "spread",
        "policy": policy.name,
        "key": key.kind if key and hashing else "none",
        "bounded": policy.bounded is not None,
        "retried_elsewhere": choice.retry is not None and choice.retry.elsewhere,
        "check": cluster.checked is not None,
        "ejects": cluster.ejects is not None,
        "split": choice.split is not None and not (choice.split_by_hash and hashing and key is not None),
    }
    undone: list[Span] = []
    if hashing and key is not None:
        undone += [choice.retry.span] if choice.retry is not None and choice.retry.elsewhere else []
        undone += [policy.bounded] if policy.bounded is not None else []
        undone += [choice.split] if features["split"] and choice.split is not None else []
    affinity = _judged(features, _key_of_hash(key if hashing else None), evidence, tuple(undone), no_effect)
    return _of_cluster(affinity, features, cluster)


def _of_options(cluster: Cluster) -> tuple[Node, ...]:
    return written(cluster.options, "hash_policy") if cluster.options is not None else ()


def _judged(
    features: Features, routing_key: RoutingKey, evidence: Evidence, undone: Evidence = (), no_effect: Evidence = ()
) -> Affinity:
    """The measured row for the features, with the key as it is written here: what a row measured for one key holds for
    every key that the same mechanism rests on."""
    row = find_row(catalogue.affinity_rows("envoy"), features)
    if row is None:
        return unknown(str(features["method"]), "no measurement speaks of this combination", evidence)
    seconds = routing_key.seconds
    why = "" if seconds is None else f"{row.why}; the cookie lapses after {seconds:.9g} s, also during an open stream"
    affinity = judge_row(row, why=why, evidence=evidence, undone_by=undone, no_effect=no_effect)
    if routing_key.issued_by is KeyIssuer.NONE:
        return affinity
    events = tuple((e, m) for e, m in affinity.events if e is not RoutingEvent.KEY_LAPSED or seconds is not None)
    return replace(affinity, key=routing_key, events=events)


def _of_cluster(affinity: Affinity, features: Features, cluster: Cluster) -> Affinity:
    """The row's table after what the cluster changes in single cells (tests/premises/test_envoy_clusters.py): removal
    without regard to health checks, and panic mode, in which they count for nothing."""
    changed: dict[RoutingEvent, Meets] = {}
    if cluster.forgets_removed and cluster.checked is not None:
        unchecked = find_row(catalogue.affinity_rows("envoy"), {**features, "check": False})
        removed = dict(unchecked.events).get(RoutingEvent.REMOVED) if unchecked is not None else None
        changed.update({RoutingEvent.REMOVED: removed} if removed is not None else {})
    if features["method"] == "hash" and cluster.panics_over_one:
        changed.update({RoutingEvent.DOWN_DETECTED: Meets.ERROR, RoutingEvent.CHECK_FAILS: Meets.SAME})
    if features["method"] == "route" and cluster.checked is not None and not cluster.panics_over_one:
        changed.update({RoutingEvent.CHECK_FAILS: Meets.ERROR})
    return replace(affinity, events=tuple((event, changed.get(event, meets)) for event, meets in affinity.events))


def _key_of_session(session: Session) -> RoutingKey:
    carrier = KeyCarrier.COOKIE if session.state == "cookie" else KeyCarrier.HEADER
    return _routing_key(session.key, KeyIssuer.PROXY, carrier)


def _key_of_hash(key: Key | None) -> RoutingKey:
    if key is None:
        return NO_KEY
    issuer, carrier = _HASH_KEYS[key.kind]
    return _routing_key(key, issuer, carrier)


def _routing_key(key: Key, issuer: KeyIssuer, carrier: KeyCarrier) -> RoutingKey:
    lifetime = "expires" if key.seconds is not None else "session" if carrier is KeyCarrier.COOKIE else "none"
    return RoutingKey(issuer, carrier, key.name, lifetime, key.seconds)


def told_apart(header: str, kind: str, cluster: Cluster, evidence: Evidence) -> Affinity:
    """The affinity of a route that is taken on a header's value and leads to one replica of several, the `cluster`.
    `kind` says who makes the value (keys.header_kind)."""
    issuer = KeyIssuer.SERVER if kind == "server" or header == "cookie" else KeyIssuer.CLIENT
    carrier = KeyCarrier.COOKIE if header == "cookie" else KeyCarrier.HEADER
    features: Features = {"method": "route", "key": kind}
    return _of_cluster(_judged(features, RoutingKey(issuer, carrier, header), evidence), features, cluster)


def unknown(mechanism: str, why: str, evidence: Evidence) -> Affinity:
    """An affinity that the text does not decide."""
    return Affinity(mechanism, Strength.UNKNOWN, NO_KEY, why, evidence)


def written(node: Node, name: str) -> tuple[Node, ...]:
    """A repeated field's items; one that is not a list is one item."""
    value = field(node, name)
    return tuple(value) if value.is_sequence else (value,) if has(node, name) and value else ()
