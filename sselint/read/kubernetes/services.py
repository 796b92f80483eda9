"""Services as hops: a virtual address in front of the pods that a selector chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sselint.facts import Affinity, Count, Evidence, Pool, Route, Target
from sselint.read.kubernetes.affinity import documented, unknown
from sselint.read.kubernetes.objects import KubernetesObject, Objects, all_nearest, meets, symbols
from sselint.read.kubernetes.workloads import Workload
from sselint.read.yaml_nodes import Node

CLIENT_IP_SECONDS = 10_800
"""The default of sessionAffinityConfig.clientIP.timeoutSeconds."""


CLOUD_RUN_SECONDS = 30 * 86_400
"""How long the cookie of Cloud Run's session affinity lives."""


def services(objects: Objects) -> list[KubernetesObject]:
    """The core Services of a set (Knative has a kind of that name as well)."""
    return list(objects.of("Service", api=""))


def selected(service: KubernetesObject, workloads: Sequence[Workload]) -> list[Workload]:
    """The workloads whose pods the Service's selector chooses: those of its own file where it has any."""
    node = service.node.at("spec", "selector")
    selector = symbols(node)
    if not selector:
        return []
    chosen = [w for w in workloads if selector.items() <= w.labels.items() and meets(service, w.owner)]
    owners = all_nearest([w.owner for w in chosen], service)
    return [w for w in chosen if w.owner in owners]


def target_port(service: KubernetesObject) -> Node | None:
    """The port of the pod that the Service forwards to, where it has exactly one."""
    ports = list(service.node.at("spec", "ports"))
    if len(ports) != 1:
        return None
    port = ports[0].first("targetPort", "port")
    return port if port.text else None


def names(service: KubernetesObject) -> frozenset[str]:
    """The names under which the Service answers in the cluster."""
    found = set()
    for name in (service.name, service.deployed_name):
        space = service.namespace or "default"
        found |= {name, f"{name}.{space}", f"{name}.{space}.svc", f"{name}.{space}.svc.cluster.local"}
    return frozenset(found)


def is_headless(service: KubernetesObject) -> bool:
    """Whether the name resolves to the pods themselves: `clusterIP: None`, which YAML reads as text."""
    return (service.node.at("spec", "clusterIP").text or "") == "None"


def route(service: KubernetesObject, chosen: Sequence[Workload], pools: Mapping[int, Pool]) -> Route:
    """The Service as a hop in front of what it selects; `pools` are those of the workloads, by identity."""
    spec = service.node["spec"]
    span = service.span
    port = target_port(service)
    number = port.number if port else None
    targets = tuple(Target(w.address, number, spec.key("selector").line_span()) for w in chosen)
    external = spec["externalName"].text
    if external and not targets:
        targets = (Target(external, None, spec.key("externalName").line_span()),)
    evidence: Evidence = (span, *((spec.key("selector").line_span(),) if "selector" in spec else ()))
    return Route(
        path=span.path,
        line=span.line,
        format="kubernetes_service",
        name=f"Service {service.deployed_name}",
        pool=", ".join(w.owner.title for w in chosen) or service.deployed_name,
        members=members([pools[id(w)].processes for w in chosen]),
        affinity=_affinity(service),
        targets=targets,
        addresses=names(service),
        resolves="all",
        answers="each" if is_headless(service) else "one",
        evidence=evidence,
        variant=service.variant,
    )


def cloud_run(workload: Workload, pool: Pool) -> Route | None:
    """The hop in front of a Cloud Run service in Knative's form, where its annotation asks for session affinity."""
    annotations = workload.owner.node.at("spec", "template", "metadata", "annotations")
    sticky = annotations["run.googleapis.com/sessionAffinity"]
    if not sticky.truth:
        return None
    span = annotations.key("run.googleapis.com/sessionAffinity").line_span()
    return Route(
        path=pool.path,
        line=pool.line,
        format="cloud_run",
        name=f"Cloud Run {workload.owner.deployed_name}",
        pool=workload.owner.title,
        members=pool.processes,
        affinity=documented("cloud_run", {"method": "cookie"}, (span,), key_name="GAESA", seconds=CLOUD_RUN_SECONDS),
        targets=(Target(workload.address, None, span),),
        resolves="all",
        evidence=(workload.owner.span, span),
        variant=workload.owner.variant,
    )


def members(counts: Sequence[Count]) -> Count:
    """The pods behind a hop: those of all its pools, unknown where it selects nothing in sight."""
    if not counts:
        return Count.unknown("the selector chooses nothing that is in the tree")
    highs = [c.high for c in counts]
    high = None if None in highs else sum(h for h in highs if h is not None)
    return Count(sum(c.low for c in counts), high, " and ".join(dict.fromkeys(c.why for c in counts)))


def _affinity(service: KubernetesObject) -> Affinity:
    spec = service.node["spec"]
    node = spec["sessionAffinity"]
    if node.is_masked:
        found = documented("kubernetes", {}, (service.span,))
        return unknown(found, "sessionAffinity comes from a template", spec.key("sessionAffinity").line_span())
    if node.text != "ClientIP":
        return documented("kubernetes", {}, (service.span,))
    timeout = spec.at("sessionAffinityConfig", "clientIP", "timeoutSeconds")
    seconds = timeout.number if timeout.number is not None else CLIENT_IP_SECONDS
    evidence = (spec.key("sessionAffinity").line_span(), *((timeout.span(),) if timeout else ()))
    return documented("kubernetes", {"affinity": "client_ip"}, evidence, key_name="client address", seconds=seconds)
