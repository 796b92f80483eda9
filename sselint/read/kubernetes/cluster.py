"""A set of objects that are deployed together, as pools and routes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sselint.facts import Count, Pool, Reading, Route
from sselint.read.kubernetes import gateway, ingress, services
from sselint.read.kubernetes.objects import KubernetesObject, Objects
from sselint.read.kubernetes.workloads import Workload, autoscaled_pools, pool, workloads
from sselint.source import Tree


def reading_of(objects: Sequence[KubernetesObject], tree: Tree) -> Reading:
    """The pools and routes of a set of objects."""
    return _Cluster(Objects(tuple(objects)), tree).reading()


class _Cluster:
    def __init__(self, objects: Objects, tree: Tree) -> None:
        self._objects = objects
        self._tree = tree
        self._workloads = list(workloads(objects))
        self._services = services.services(objects)
        self._selected = {id(s): services.selected(s, self._workloads) for s in self._services}

    def reading(self) -> Reading:
        pools = {id(w): self._pool(w) for w in self._workloads}
        scaled = list(autoscaled_pools(self._objects))
        routes = [r for s in self._services for r in self._service_routes(s, pools)]
        routes += [r for w in self._workloads if (r := services.cloud_run(w, pools[id(w)]))]
        self._all_pools = [*pools.values(), *scaled]
        self._counts = self._service_counts(pools)
        routes += self._outer_routes()
        named = frozenset(t.host for r in routes for t in r.targets)
        return Reading(routes=tuple(routes), pools=tuple(self._answering(p, named) for p in self._all_pools))

    def _pool(self, workload: Workload) -> Pool:
        """The workload's pool; a Service with one port decides which of several containers serves."""
        port = next((services.target_port(s) for s in self._services if workload in self._selected[id(s)]), None)
        return pool(workload, self._objects, self._tree, port)

    def _service_routes(self, service: KubernetesObject, pools: Mapping[int, Pool]) -> Iterator[Route]:
        """The Service's route; one for each variant where the workloads that it selects are alternatives."""
        chosen = self._selected[id(service)]
        variants = sorted({w.owner.variant for w in chosen} - {""})
        if service.variant or len(variants) < 2:
            found = services.route(service, chosen, pools)
            yield replace(found, variant=service.variant or (variants[0] if variants else ""))
            return
        for variant in variants:
            mine = [w for w in chosen if w.owner.variant in ("", variant)]
            yield replace(services.route(service, mine, pools), variant=variant)

    def _outer_routes(self) -> list[Route]:
        found: list[Route] = []
        for o in self._objects.of("Ingress"):
            found.extend(ingress.routes(o, self._objects, self._members_of))
        for o in self._objects.of("HTTPRoute", "GRPCRoute"):
            found.extend(gateway.http_routes(o, self._objects, self._members_of))
        for o in self._objects.of("VirtualService"):
            found.extend(gateway.virtual_services(o, self._objects, self._members_of))
        routed = frozenset(t.host for r in found if r.format == "istio" for t in r.targets)
        found.extend(gateway.destination_rules(self._objects, routed, self._members_of))
        for o in self._objects.of("IngressRoute"):
            found.extend(gateway.ingress_routes(o, self._members_of))
        return found

    def _service_counts(self, pools: Mapping[int, Pool]) -> dict[int, Count]:
        counts = {}
        for service in self._services:
            chosen = [pools[id(w)].processes for w in self._selected[id(service)]]
            counts[id(service)] = services.members(chosen)
        return counts

    def _members_of(self, name: str, near: KubernetesObject) -> Count:
        found = self._objects.named("Service", name, near)
        if found is not None and id(found) in self._counts:
            return self._counts[id(found)]
        namesakes = [p.processes for p in self._pools_named(name) if near.variant in ("", p.variant)]
        return namesakes[0] if len(namesakes) == 1 else Count.unknown(f"the Service {name} is not in the tree")

    def _pools_named(self, name: str) -> list[Pool]:
        return [p for p in self._all_pools if p.name.rpartition(" ")[2] == name]

    def _answering(self, pool: Pool, named: frozenset[str]) -> Pool:
        """A pool whose own name an outer hop uses for a Service that is not in the tree: it is taken to be that one."""
        name = pool.name.rpartition(" ")[2]
        missing = not any(s.name == name and _meets_variant(s, pool) for s in self._services)
        wanted = {n for n in named if n == name or n.startswith(f"{name}.")}
        return replace(pool, addresses=pool.addresses | wanted) if missing and wanted else pool


def _meets_variant(service: KubernetesObject, pool: Pool) -> bool:
    return service.variant == pool.variant or not service.variant or not pool.variant
