"""Envoy clusters: members, how their names resolve, the balancing policy, health, and what else decides at this level.

Source: envoy.config.cluster.v3.Cluster and envoy.config.endpoint.v3.ClusterLoadAssignment of the API reference.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sselint.facts import Count, Evidence, Span, Target
from sselint.read.envoy.fields import field, has, is_template, line, typed
from sselint.read.envoy.resources import Names
from sselint.read.yaml_nodes import Node

_HTTP_OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"

_DISCOVERY_BY_NUMBER = {"0": "STATIC", "1": "STRICT_DNS", "2": "LOGICAL_DNS", "3": "EDS", "4": "ORIGINAL_DST"}
_POLICY_BY_NUMBER = {"0": "ROUND_ROBIN", "1": "LEAST_REQUEST", "2": "RING_HASH", "3": "RANDOM", "5": "MAGLEV"}
"""Protobuf's JSON mapping takes enum numbers too."""

_POLICY_BY_MESSAGE = {
    "RoundRobin": "ROUND_ROBIN",
    "LeastRequest": "LEAST_REQUEST",
    "Random": "RANDOM",
    "RingHash": "RING_HASH",
    "Maglev": "MAGLEV",
    "ClientSideWeightedRoundRobin": "ROUND_ROBIN",
    "LoadAwareLocality": "ROUND_ROBIN",
}
"""The extensions of `load_balancing_policy` and the classic policy that each behaves like."""

_WRAPPERS = {"Subset": "subset_lb_policy", "WrrLocality": "endpoint_picking_policy"}

PANIC_BELOW = 50.0
"""Per cent of healthy hosts below which health is ignored, where `healthy_panic_threshold` is not written."""

HASHING = frozenset({"RING_HASH", "MAGLEV"})
SPREADING = frozenset({"ROUND_ROBIN", "LEAST_REQUEST", "RANDOM"})


@dataclass(frozen=True)
class Policy:
    """How a cluster chooses a host. `name` is a classic policy's name, or "" where nothing here knows (then `why`).

    `bounded` says that a load bound may move a key to another host; `hash_policies` are those of the policy itself,
    which replace the route's.
    """

    name: str
    span: Span
    why: str = ""
    bounded: Span | None = None
    hash_policies: tuple[Node, ...] = ()


@dataclass(frozen=True)
class Cluster:
    """What a route needs to know of a cluster. `node` is None for one that is not in the tree."""

    name: str
    node: Node | None
    policy: Policy | None
    members: Count
    targets: tuple[Target, ...] = ()
    resolves: str = "all"
    checked: Span | None = None
    """Where active health checks are configured."""
    ejects: Span | None = None
    """Where outlier detection is configured."""
    states: frozenset[str] = frozenset({"UNKNOWN"})
    """The health status of its hosts as it is written; a host without one is UNKNOWN."""
    honoured: frozenset[str] | None = None
    """`override_host_status`; None is Envoy's default."""
    honoured_span: Span | None = None
    forgets_removed: bool = False
    """`ignore_health_on_host_removal`: a removed host is gone, although it may still pass its check."""
    panic_below: float = PANIC_BELOW
    subsets: bool = False
    options: Node | None = None
    """Its HttpProtocolOptions, which may hold a retry policy, hash policies and limits of its own."""
    evidence: Evidence = ()

    @property
    def panics_over_one(self) -> bool:
        """Whether a single unhealthy host is enough for panic mode, in which health is ignored."""
        hosts = self.members.high if self.members.high == self.members.low else None
        return self.panic_below > (100 * (hosts - 1) / hosts if hosts else 99)


class Clusters:
    """The clusters of a tree, read when a route asks for one."""

    def __init__(self, clusters: Names, assignments: Names) -> None:
        self._clusters = clusters
        self._assignments = assignments
        self._known: dict[int, Cluster] = {}

    def find(self, name: str | None, near: Node) -> Cluster:
        """The cluster of that name as `near` sees it; one without a node where the tree holds none."""
        node = self._clusters.find(name, near)
        if node is None:
            why = f"cluster {name} is not in the tree" if name else "which cluster is decided at run time"
            return Cluster(name or "", None, None, Count.unknown(why))
        if id(node.raw) not in self._known:
            self._known[id(node.raw)] = self.read(node)
        return self._known[id(node.raw)]

    def read(self, node: Node, depth: int = 0) -> Cluster:
        """The facts of a cluster."""
        name = node["name"].text or ""
        discovery = _discovery(node)
        members, targets, resolves = self._members(node, discovery, depth)
        states = {field(e, "health_status").text or "UNKNOWN" for e in _endpoints(self._assignment(node, discovery))}
        options = field(node, "typed_extension_protocol_options")[_HTTP_OPTIONS]
        statuses = field(node, "common_lb_config", "override_host_status", "statuses")
        return Cluster(
            name=name,
            node=node,
            policy=read_policy(node),
            members=members,
            targets=targets,
            resolves=resolves,
            checked=_written(node, "health_checks", "health checks"),
            ejects=_written(node, "outlier_detection", "outlier detection"),
            states=frozenset(states or {"UNKNOWN"}),
            honoured=frozenset(s.text or "?" for s in statuses) if statuses.is_sequence else None,
            honoured_span=statuses.span("which states of a host the session may still reach") if statuses else None,
            forgets_removed=bool(field(node, "ignore_health_on_host_removal").truth),
            panic_below=_panic_below(field(node, "common_lb_config")),
            subsets=bool(field(node, "lb_subset_config")),
            options=options if options else None,
            evidence=_evidence(node, discovery),
        )

    def _members(self, node: Node, discovery: str, depth: int) -> tuple[Count, tuple[Target, ...], str]:
        if discovery == "AGGREGATE":
            return self._aggregated(node, depth)
        endpoints = list(_endpoints(self._assignment(node, discovery)))
        endpoints += [e for e in node["hosts"] if e.is_mapping]
        targets = tuple(t for e in endpoints if (t := _target(e)) is not None)
        if not endpoints or discovery not in {"STATIC", "STRICT_DNS", "LOGICAL_DNS", "EDS"}:
            return Count.unknown(_unseen(discovery)), targets, "all"
        return _count(discovery, endpoints, targets), targets, "one" if discovery == "LOGICAL_DNS" else "all"

    def _assignment(self, node: Node, discovery: str) -> Node:
        assignment = field(node, "load_assignment")
        if discovery == "EDS":
            service = field(node, "eds_cluster_config", "service_name").text or node["name"].text
            return self._assignments.find(service, node) or assignment
        return assignment

    def _aggregated(self, node: Node, depth: int) -> tuple[Count, tuple[Target, ...], str]:
        """An aggregate cluster fails over from one cluster to the next: all their hosts are its members."""
        _, config = typed(field(node, "cluster_type"))
        names = [n.text for n in config["clusters"]]
        inner = [c for n in names if (c := self._clusters.find(n, node)) is not None]
        parts = [self.read(c, depth + 1) for c in inner] if depth < 3 else []
        if not parts or len(parts) < len(names):
            return Count.unknown("members of an aggregate cluster"), (), "all"
        highs = [p.members.high for p in parts]
        high = None if None in highs else sum(h for h in highs if h is not None)
        why = "the members of " + ", ".join(p.name for p in parts)
        return Count(sum(p.members.low for p in parts), high, why), tuple(t for p in parts for t in p.targets), "all"


def read_policy(node: Node) -> Policy:
    """The balancing policy of a cluster: `load_balancing_policy` wins over `lb_policy`, absent is ROUND_ROBIN."""
    extension = field(node, "load_balancing_policy")
    if extension.raw is not None:
        return _extension(extension, line(node, "load_balancing_policy", "load_balancing_policy"), 0)
    written = field(node, "lb_policy")
    if is_template(written):
        return Policy("", line(node, "lb_policy"), "lb_policy is filled in by a template")
    name = (written.text or "ROUND_ROBIN").upper()
    name = _POLICY_BY_NUMBER.get(name, name)
    note = f"lb_policy {name}" if written else "no lb_policy: ROUND_ROBIN"
    span = line(node, "lb_policy" if written else "name", note)
    if name not in HASHING | SPREADING:
        return Policy("", span, f"lb_policy {name} chooses by rules that are not in this file")
    bounded = field(node, "common_lb_config", "consistent_hashing_lb_config")
    return Policy(name, span, bounded=_bounded(bounded) if name in HASHING else None)


def _extension(policy: Node, span: Span, depth: int) -> Policy:
    """The first policy that Envoy supports is taken; all that this knows are supported."""
    first = next(iter(policy["policies"]), Node(policy.source, None))
    entry = field(first, "typed_extension_config")
    name, config = typed(entry)
    known = _POLICY_BY_MESSAGE.get(name)
    if known is None and name in _WRAPPERS and depth < 3:
        return _extension(field(config, _WRAPPERS[name]), span, depth + 1)
    place = line(entry, "name", f"load_balancing_policy {name}") if entry else span
    if known is None:
        return Policy("", place, f"load_balancing_policy {name or '?'} chooses by rules that are not in this file")
    consistent = field(config, "consistent_hashing_lb_config")
    bounded = _bounded(consistent) if known in HASHING else None
    return Policy(known, place, bounded=bounded, hash_policies=tuple(field(consistent, "hash_policy")))


def _bounded(consistent: Node) -> Span | None:
    factor = field(consistent, "hash_balance_factor")
    return line(consistent, "hash_balance_factor", "a load bound moves keys") if factor and factor.text != "0" else None


def _discovery(node: Node) -> str:
    """The discovery type: STATIC, STRICT_DNS, LOGICAL_DNS, EDS, ORIGINAL_DST, AGGREGATE or CUSTOM."""
    custom = field(node, "cluster_type")
    if custom:
        name, config = typed(custom)
        name = name or custom["name"].text or ""
        if name in {"DnsCluster", "envoy.clusters.dns"}:
            single = field(config, "all_addresses_in_single_endpoint").truth
            return "LOGICAL_DNS" if single else "STRICT_DNS"
        by_name = {"strict_dns": "STRICT_DNS", "logical_dns": "LOGICAL_DNS", "static": "STATIC", "eds": "EDS"}
        short = (custom["name"].text or "").rsplit(".", 1)[-1]
        return "AGGREGATE" if short == "aggregate" else by_name.get(short, "CUSTOM")
    written = node["type"]
    if is_template(written):
        return "CUSTOM"
    text = (written.text or "STATIC").upper()
    return _DISCOVERY_BY_NUMBER.get(text, text)


def _unseen(discovery: str) -> str:
    return {
        "EDS": "EDS names the members at run time",
        "ORIGINAL_DST": "the member is where the client's connection was going",
    }.get(discovery, f"a {discovery} cluster finds its members at run time")


def _endpoints(assignment: Node) -> Iterator[Node]:
    for locality in field(assignment, "endpoints"):
        yield from field(locality, "lb_endpoints")


def _target(entry: Node) -> Target | None:
    """The address of an endpoint (or of a v2 `hosts` item); None for one that a template fills in."""
    address = field(entry, "endpoint", "address") or entry
    socket = field(address, "socket_address")
    host = field(socket, "address")
    if host.text is not None:
        return Target(host.text, field(socket, "port_value").number, host.span())
    named = field(address, "pipe")["path"] or field(address, "envoy_internal_address", "server_listener_name")
    return Target(named.text, None, named.span()) if named.text is not None else None


def _count(discovery: str, endpoints: list[Node], targets: tuple[Target, ...]) -> Count:
    number = len(endpoints)
    if any(e.raw is not None and e.source.in_loop(e.raw.start_mark.index) for e in endpoints):
        return Count(1, None, "endpoints in a template loop: one or more")
    if discovery == "LOGICAL_DNS":
        return Count.exactly(1, "LOGICAL_DNS connects to one address of the name at a time")
    if discovery == "STRICT_DNS" and any(not _is_address(t.host) for t in targets):
        plural = "name" if number == 1 else "names"
        return Count(number, None, f"{number} STRICT_DNS {plural}: every address behind one is a member")
    plural = "endpoint" if number == 1 else "endpoints"
    return Count.exactly(number, f"{number} {plural} in load_assignment")


def _is_address(host: str) -> bool:
    return ":" in host or host.replace(".", "").isdigit()


def _panic_below(common: Node) -> float:
    """The panic threshold in per cent; a Percent without a value is 0, which switches panic mode off."""
    percent = field(common, "healthy_panic_threshold")
    if not percent.is_mapping or is_template(percent):
        return PANIC_BELOW
    try:
        return float(percent["value"].text or 0)
    except ValueError:
        return PANIC_BELOW


def _written(node: Node, name: str, note: str) -> Span | None:
    value = field(node, name)
    if not has(node, name) or value.is_null or (value.is_sequence and not list(value)):
        return None
    return line(node, name, note)


def _evidence(node: Node, discovery: str) -> Evidence:
    name = node["name"].text or "?"
    lines = [line(node, "name", f"cluster {name}")]
    if has(node, "type"):
        lines.append(line(node, "type", f"type {discovery}"))
    return tuple(lines)
