"""Which Envoy resources a document holds, wherever they stand in it, and how they find each other by name.

A bootstrap, a `static_resources` block, a bare list of xDS resources, a DiscoveryResponse, a config dump, a filter
chain and a piece of `http_filters` are all the same to this: every mapping is looked at for what it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from pathlib import PurePosixPath

from sselint.read.envoy.fields import field as at
from sselint.read.envoy.fields import has, message, typed
from sselint.read.yaml_nodes import Node

_CLUSTER_FIELDS = (
    "load_assignment",
    "lb_policy",
    "eds_cluster_config",
    "cluster_type",
    "load_balancing_policy",
    "connect_timeout",
    "dns_lookup_family",
    "common_lb_config",
    "typed_extension_protocol_options",
)
_MANAGER_FIELDS = ("http_filters", "rds", "scoped_routes")
_BESIDE = ("listeners", "clusters")
"""What a file of hand-picked pieces holds beside its routes or filters; no resource has fields of these names."""

_ROUTE_ACTIONS = ("route", "redirect", "direct_response", "filter_action", "non_forwarding_action")


@dataclass
class Resources:
    """The resources of one or more documents, in the order in which they stand there. Managers, hosts, routes and
    filters are only those that stand outside a listener, a route configuration and so on."""

    listeners: list[Node] = field(default_factory=list)
    managers: list[Node] = field(default_factory=list)
    """HttpConnectionManager configurations, or mappings that hold `http_filters` and nothing else of one."""
    tables: list[Node] = field(default_factory=list)
    """RouteConfigurations."""
    hosts: list[Node] = field(default_factory=list)
    """VirtualHosts, or mappings with a bare `routes` list."""
    clusters: list[Node] = field(default_factory=list)
    assignments: list[Node] = field(default_factory=list)
    """ClusterLoadAssignments."""
    sessions: list[Node] = field(default_factory=list)
    """Entries of an HTTP filter chain, out of it, that keep sessions."""

    def add(self, other: Resources) -> None:
        """Takes in the resources of another document."""
        for own in fields(self):
            getattr(self, own.name).extend(getattr(other, own.name))


def collect(documents: Iterable[Node]) -> Resources:
    """All resources in the documents."""
    found = Resources()
    seen: set[int] = set()
    stack = list(documents)[::-1]
    while stack:
        node = stack.pop()
        if id(node.raw) in seen:
            continue
        seen.add(id(node.raw))
        if node.is_mapping:
            kept = _kept_in(found, node)
            if kept is None:
                stack.extend([value for _, value in node.items()][::-1])
            else:
                kept.append(node)
                stack.extend(at(node, name) for name in _BESIDE)
        elif node.is_sequence:
            stack.extend(list(node)[::-1])
    return found


def _kept_in(found: Resources, node: Node) -> list[Node] | None:
    """The list that a resource of this kind is kept in; None for a mapping that is no resource."""
    by_type = {
        "Listener": found.listeners,
        "HttpConnectionManager": found.managers,
        "RouteConfiguration": found.tables,
        "VirtualHost": found.hosts,
        "Cluster": found.clusters,
        "ClusterLoadAssignment": found.assignments,
    }.get(message(node))
    if by_type is not None:
        return by_type
    if has(node, "filter_chains", "default_filter_chain"):
        return found.listeners
    if has(node, *_MANAGER_FIELDS):
        return found.managers
    if has(node, "virtual_hosts"):
        return found.tables
    if _is_host(node):
        return found.hosts
    if has(node, "cluster_name") and at(node, "endpoints").is_sequence:
        return found.assignments
    if node["name"] and has(node, *_CLUSTER_FIELDS):
        return found.clusters
    if typed(node)[0] == "StatefulSession":
        return found.sessions
    return None


def _is_host(node: Node) -> bool:
    """A VirtualHost, or a piece of one: `routes` in which every item has a match and an action."""
    routes = list(node["routes"])
    return bool(routes) and all(r["match"].is_mapping and has(r, *_ROUTE_ACTIONS) for r in routes if r.is_mapping)


class Names:
    """Resources of one kind by name. A name can stand in several files of a tree: the nearest one is meant."""

    def __init__(self, nodes: Iterable[Node], *name_fields: str) -> None:
        self._by_name: dict[str, list[Node]] = {}
        for node in nodes:
            name = next((text for f in name_fields if (text := at(node, f).text)), None)
            if name is not None:
                self._by_name.setdefault(name, []).append(node)

    def __iter__(self) -> Iterator[Node]:
        for nodes in self._by_name.values():
            yield from nodes

    def find(self, name: str | None, near: Node) -> Node | None:
        """The resource of that name: in the same file, else under the same file stem, else in the same folder, else
        anywhere; None where there is none, or where several are equally near."""
        candidates = self._by_name.get(name or "", [])
        here = near.source.path
        for is_near in (_same_file, _same_stem, _same_folder, _anywhere):
            nearest = [n for n in candidates if is_near(n.source.path, here)]
            if nearest:
                return nearest[-1] if is_near is _same_file or len(nearest) == 1 else None
        return None


def _same_file(one: str, other: str) -> bool:
    return one == other


def _same_stem(one: str, other: str) -> bool:
    """`edge.routes.yaml` and `edge.clusters.yaml`: how generators split one configuration over files."""
    a, b = PurePosixPath(one), PurePosixPath(other)
    return a.parent == b.parent and a.name.split(".")[0] == b.name.split(".")[0]


def _same_folder(one: str, other: str) -> bool:
    return PurePosixPath(one).parent == PurePosixPath(other).parent


def _anywhere(one: str, other: str) -> bool:
    return True
