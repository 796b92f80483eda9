"""Workloads as pools: how many pods, what a release does to them, and what the serving container runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sselint.facts import Count, Evidence, Pool, Rolling, Span
from sselint.read.images import started
from sselint.read.kubernetes import containers
from sselint.read.kubernetes.containers import PodSpec
from sselint.read.kubernetes.helm import values_behind
from sselint.read.kubernetes.objects import KubernetesObject, Objects, meets, nearest, symbol, symbols
from sselint.read.yaml_nodes import Node
from sselint.source import Tree

_NOT_SERVING = frozenset({"Job", "CronJob", "PodTemplate", "Workflow", "CronWorkflow"})
_KNATIVE = "serving.knative.dev"
_POD_NAMES = 10
"""Pods of a StatefulSet whose own names are listed."""


@dataclass(frozen=True)
class Workload:
    """A workload and its pods."""

    owner: KubernetesObject
    pod: PodSpec
    labels: dict[str, str]

    @property
    def address(self) -> str:
        """The name that Services target it by."""
        return address(self.owner.kind, self.owner.name, self.owner.namespace)


def address(kind: str, name: str, namespace: str) -> str:
    """`deployment/app`, or `deployment/app.shop` where the namespace is written."""
    return f"{kind.lower() or 'workload'}/{name}" + (f".{namespace}" if namespace else "")


def workloads(objects: Objects) -> Iterator[Workload]:
    """The workloads of a set: whatever has a pod template with containers."""
    for owner in objects.all:
        if owner.kind in _NOT_SERVING:
            continue
        template = owner.node.at("spec", "template")
        spec = owner.node["spec"] if owner.kind == "Pod" else template["spec"]
        if not spec["containers"].is_sequence:
            continue
        metadata = owner.node["metadata"] if owner.kind == "Pod" else template["metadata"]
        yield Workload(owner, PodSpec(spec, owner, objects), symbols(metadata["labels"]))


def pool(workload: Workload, objects: Objects, tree: Tree, port: Node | None = None) -> Pool:
    """The pods of a workload. `port` is the target port of the Service in front, where one decides the container."""
    owner = workload.owner
    container = workload.pod.serving(port)
    environment, settled = workload.pod.environment(container)
    processes, evidence = _processes(owner, objects)
    rolling, rolling_evidence = _rolling(owner)
    words = containers.expanded_words(containers.words(container), environment)
    entrypoint = containers.expanded_words(containers.entrypoint(container), environment)
    span = owner.span
    folder = container["workingDir"].text
    found = Pool(
        path=span.path,
        line=span.line,
        format="kubernetes",
        kind="replicas",
        name=owner.title,
        processes=processes,
        rolling=rolling,
        rolling_evidence=rolling_evidence,
        addresses=frozenset(_addresses(owner)),
        answers="each",
        command=words,
        entrypoint=entrypoint,
        image=container["image"].text,
        environment=environment,
        settles_environment=settled,
        volumes=tuple(workload.pod.volumes(container)),
        variant=owner.variant,
        evidence=(*evidence, span),
    )
    found = started(found, tree, folder)
    return replace(found, app_directory=found.app_directory or folder)


def autoscaled_pools(objects: Objects) -> Iterator[Pool]:
    """Workloads that only an autoscaler of the set names: their number is known, and nothing else."""
    known = {(w.owner.kind, w.owner.name) for w in workloads(objects)}
    for scaler in objects.of("HorizontalPodAutoscaler", "ScaledObject"):
        reference = scaler.node.at("spec", "scaleTargetRef")
        kind, name = reference["kind"].text or "Deployment", symbol(reference["name"])
        if not name or (kind, name) in known:
            continue
        count, evidence = _scaled(scaler)
        yield Pool(
            path=scaler.span.path,
            line=scaler.span.line,
            format="kubernetes",
            kind="replicas",
            name=f"{kind} {name}",
            processes=count,
            addresses=frozenset({address(kind, name, ""), address(kind, name, scaler.namespace)}),
            answers="each",
            variant=scaler.variant,
            evidence=evidence,
        )


def _addresses(owner: KubernetesObject) -> Iterator[str]:
    for name in (owner.name, owner.deployed_name):
        yield address(owner.kind, name, "")
        yield address(owner.kind, name, owner.namespace)
    if owner.api == _KNATIVE:
        yield owner.deployed_name
    service = owner.node.at("spec", "serviceName").text
    if owner.kind == "StatefulSet" and service:
        for ordinal in range(min(owner.node.at("spec", "replicas").number or 1, _POD_NAMES)):
            pod = f"{owner.deployed_name}-{ordinal}.{service}"
            yield pod
            space = owner.namespace or "default"
            yield from (f"{pod}.{space}", f"{pod}.{space}.svc", f"{pod}.{space}.svc.cluster.local")


# -- how many ----------------------------------------------------------------------------------------------------------


def _processes(owner: KubernetesObject, objects: Objects) -> tuple[Count, Evidence]:
    """The number of pods of all objects that the text stands for: a template may repeat it."""
    count, evidence = _written_processes(owner, objects)
    kind = owner.node["kind"].raw
    if kind is not None and owner.node.source.in_loop(kind.start_mark.index):
        count = Count(count.low, None, f"{count.why}, in an object that a template repeats")
    return count, evidence


def _written_processes(owner: KubernetesObject, objects: Objects) -> tuple[Count, Evidence]:
    """The number of pods: an autoscaler's range overrides what the workload says."""
    scaler = _autoscaler(owner, objects)
    if scaler is not None:
        return _scaled(scaler)
    if owner.kind == "Pod":
        return Count.exactly(1, "a bare Pod"), ()
    if owner.kind == "DaemonSet":
        return Count.unknown("a DaemonSet runs one pod on each node"), ()
    if owner.api == _KNATIVE:
        return _knative(owner)
    node = owner.node.at("spec", "replicas")
    if node.number is not None:
        written = (_line(owner.node["spec"], "replicas"), *values_behind(node))
        if _is_doubtful(node, owner):
            why = f"replicas: {node.number} where a template condition holds, else one"
            return Count(min(node.number, 1), max(node.number, 1), why), written
        return Count.exactly(node.number, f"replicas: {node.number}"), written
    if node or node.is_masked:
        return Count.unknown("replicas comes from a template"), (_line(owner.node["spec"], "replicas"),)
    return Count.exactly(1, "replicas is not written, and one by default"), ()


def _is_doubtful(node: Node, owner: KubernetesObject) -> bool:
    """Whether a template condition decides on a line, and not on the whole object."""
    optional, start = node.source.is_optional, node.raw.start_mark.index
    kind = owner.node["kind"]
    return optional(start) and not (kind.raw is not None and optional(kind.raw.start_mark.index))


def _line(mapping: Node, key: str) -> Span:
    return mapping.key(key).line_span()


def _autoscaler(owner: KubernetesObject, objects: Objects) -> KubernetesObject | None:
    found = []
    for scaler in objects.of("HorizontalPodAutoscaler", "ScaledObject"):
        reference = scaler.node.at("spec", "scaleTargetRef")
        kind = reference["kind"].text or "Deployment"
        if kind == owner.kind and symbol(reference["name"]) == owner.name and meets(scaler, owner):
            found.append(scaler)
    return nearest(found, owner)


def _scaled(scaler: KubernetesObject) -> tuple[Count, Evidence]:
    spec = scaler.node["spec"]
    keda = scaler.kind == "ScaledObject"
    low_key, high_key = ("minReplicaCount", "maxReplicaCount") if keda else ("minReplicas", "maxReplicas")
    low, high = spec[low_key], spec[high_key]
    written = [key for key in (low_key, high_key) if key in spec]
    evidence = tuple(s for key in written for s in (_line(spec, key), *values_behind(spec[key]))) or (scaler.span,)
    least = low.number if low else (0 if keda else 1)
    most = high.number if high else (100 if keda else None)
    if least is None or most is None:
        known = 1 if least is None else least
        return Count(known, None, f"{scaler.title} scales it, in bounds that a template sets"), evidence
    return Count(least, max(least, most), f"{scaler.title} scales it from {least} to {most}"), evidence


def _knative(owner: KubernetesObject) -> tuple[Count, Evidence]:
    annotations = owner.node.at("spec", "template", "metadata", "annotations")
    most = annotations.first("autoscaling.knative.dev/max-scale", "autoscaling.knative.dev/maxScale")
    least = annotations.first("autoscaling.knative.dev/min-scale", "autoscaling.knative.dev/minScale")
    if most.number:
        low = min(least.number or 0, most.number)
        return Count(low, most.number, f"Knative scales it from {low} to {most.number}"), (most.span(),)
    return Count(least.number or 0, None, "Knative scales it without a bound"), (owner.span,)


# -- what a release does -----------------------------------------------------------------------------------------------


def _rolling(owner: KubernetesObject) -> tuple[Rolling, Evidence]:
    spec = owner.node["spec"]
    if owner.kind in ("StatefulSet", "Pod", "ReplicaSet", "ReplicationController"):
        # A pod of that name must be gone before the next one can have it.
        return Rolling.REPLACED, ()
    if owner.kind == "DaemonSet":
        return _surge(spec["updateStrategy"], Rolling.REPLACED)
    if owner.kind == "Rollout":
        strategy = spec["strategy"]
        if "canary" not in strategy and "blueGreen" not in strategy:
            return Rolling.UNKNOWN, ()
        return Rolling.SURGE_WRITTEN, (strategy.span("two generations answer"),)
    if owner.api == _KNATIVE:
        return Rolling.SURGE_DEFAULT, ()
    if owner.kind in ("Deployment", "DeploymentConfig"):
        return _surge(spec["strategy"], Rolling.SURGE_DEFAULT)
    return Rolling.UNKNOWN, ()


def _surge(strategy: Node, default: Rolling) -> tuple[Rolling, Evidence]:
    """What `strategy` says: the type, and how many pods may run above the number (maxSurge)."""
    kind = strategy["type"]
    if kind.text in ("Recreate", "OnDelete"):
        return Rolling.REPLACED, (strategy.key("type").line_span(),)
    settings = strategy.first("rollingUpdate", "rollingParams")
    surge = settings["maxSurge"]
    if surge.text is not None:
        none = surge.text.strip("\"' %") == "0"
        return (Rolling.REPLACED if none else Rolling.SURGE_WRITTEN), (settings.key("maxSurge").line_span(),)
    if kind.is_masked or settings.is_masked or strategy.is_masked:
        return Rolling.UNKNOWN, (strategy.span("from a template"),)
    return default, ()
