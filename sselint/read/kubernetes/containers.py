"""The container of a pod that serves: which one it is, its command, environment and volumes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sselint.facts import Setting, Truth, Volume
from sselint.read import command
from sselint.read.kubernetes.objects import KubernetesObject, Objects, symbol, texts
from sselint.read.yaml_nodes import Node

_REFERENCE = re.compile(r"\$\(([A-Za-z_][\w.-]*)\)")
_OF_THE_POD = frozenset({"metadata.name", "metadata.uid", "status.podIP", "status.podIPs"})
"""What the downward API tells a container of which each pod has one of its own (Kubernetes, "Downward API")."""
_EVERYWHERE = frozenset({"nfs", "cephfs", "glusterfs", "azureFile", "rbd", "portworxVolume", "quobyte"})
_READ_ONLY = frozenset({"configMap", "secret", "projected", "downwardAPI"})


@dataclass(frozen=True)
class PodSpec:
    """A pod's spec, with the object that makes the pod and the set it is deployed with."""

    node: Node
    owner: KubernetesObject
    objects: Objects

    def containers(self) -> list[Node]:
        """The containers that run beside each other; init containers are over before they start."""
        return [c for c in self.node["containers"] if c.is_mapping]

    def serving(self, port: Node | None = None) -> Node:
        """The container that serves: the one that starts a known server, or that a Service's target port names, or the
        one that is no known sidecar."""
        containers = self.containers()
        candidates = [c for c in containers if command.read(words(c)).serves]
        if not candidates:
            candidates = [c for c in containers if not _is_sidecar(c)] or containers
        if len(candidates) > 1 and port is not None:
            candidates = [c for c in candidates if _has_port(c, port)] or candidates
        if len(candidates) > 1:
            candidates = [c for c in candidates if c["ports"]] or candidates
        return candidates[0] if candidates else Node(self.node.source, None)

    # -- environment ---------------------------------------------------------------------------------------------------

    def environment(self, container: Node) -> tuple[tuple[Setting, ...], bool]:
        """The variables of a container, and whether they are all: not where a ConfigMap or Secret is out of sight."""
        settings: dict[str, Setting] = {}
        settled = not container["env"].is_masked and not container["envFrom"].is_masked
        for source in container["envFrom"]:
            prefix = source["prefix"].text or ""
            found = self._bulk(source)
            settled &= found is not None
            settings.update((prefix + n, Setting(prefix + n, v, (source.span(),))) for n, v in (found or {}).items())
        for entry in container["env"]:
            name = entry["name"].text
            if name is None:
                settled = False
                continue
            value = entry["value"].text if "value" in entry else self._referred(entry["valueFrom"])
            if "value" not in entry and "valueFrom" not in entry:
                value = ""
            own = entry["valueFrom"].at("fieldRef", "fieldPath").text in _OF_THE_POD
            settings[name] = Setting(name, _expanded(value, settings), (entry.span(),), own)
        return tuple(settings.values()), settled

    def _bulk(self, source: Node) -> dict[str, str] | None:
        found = self.objects.named("ConfigMap", symbol(source["configMapRef"]["name"]), self.owner)
        return texts(found.node["data"]) if found else None

    def _referred(self, source: Node) -> str | None:
        reference = source["configMapKeyRef"]
        found = self.objects.named("ConfigMap", symbol(reference["name"]), self.owner) if reference else None
        return found.node["data"][reference["key"].text or ""].text if found else None

    # -- volumes -------------------------------------------------------------------------------------------------------

    def volumes(self, container: Node) -> Iterator[Volume]:
        """Where files are mounted, and whether every pod sees the same ones."""
        claimed = {symbol(t.at("metadata", "name")) for t in self.owner.node.at("spec", "volumeClaimTemplates")}
        for mount in container["volumeMounts"]:
            name, path = symbol(mount["name"]), mount["mountPath"].text
            if not path:
                continue
            if name in claimed:
                yield Volume(path, Truth.NO, f"volumeClaimTemplates give each pod a {name} of its own", (mount.span(),))
                continue
            volume = next((v for v in self.node["volumes"] if symbol(v["name"]) == name), Node(self.node.source, None))
            shared, why = self._shared(volume)
            yield Volume(path, shared, why, (mount.span(), volume.span()) if volume else (mount.span(),))

    def _shared(self, volume: Node) -> tuple[Truth, str]:
        if "emptyDir" in volume or "ephemeral" in volume:
            return Truth.NO, "an emptyDir or ephemeral volume is each pod's own"
        if any(kind in volume for kind in _READ_ONLY):
            return Truth.YES, "every pod mounts the same object"
        if any(kind in volume for kind in _EVERYWHERE):
            return Truth.YES, "a network file system that every pod mounts"
        if "hostPath" in volume:
            return Truth.UNKNOWN, "a hostPath is shared by the pods of one node only"
        if "persistentVolumeClaim" in volume:
            return self._claim(symbol(volume.at("persistentVolumeClaim", "claimName")))
        return Truth.UNKNOWN, "a volume whose sharing is not known"

    def _claim(self, name: str | None) -> tuple[Truth, str]:
        claim = self.objects.named("PersistentVolumeClaim", name, self.owner)
        if claim is None:
            return Truth.UNKNOWN, f"the claim {name} is not in the tree"
        modes = {m.text for m in claim.node.at("spec", "accessModes")}
        if modes & {"ReadWriteMany", "ReadOnlyMany"}:
            return Truth.YES, f"the claim {name} is mounted by every pod ({', '.join(sorted(m for m in modes if m))})"
        if "ReadWriteOncePod" in modes:
            return Truth.NO, f"the claim {name} can be mounted by one pod only"
        return Truth.UNKNOWN, f"the claim {name} is ReadWriteOnce: shared by pods of one node, unmountable from others"


def words(container: Node) -> tuple[str, ...]:
    """The container's command and args."""
    return (*entrypoint(container), *_words(container["args"]))


def entrypoint(container: Node) -> tuple[str, ...]:
    """The part that replaces the image's ENTRYPOINT."""
    return _words(container["command"])


def _words(node: Node) -> tuple[str, ...]:
    """The words of a list; what a template makes or touches is a word of unknown content."""
    if not node.is_sequence:
        return (command.TEMPLATED,) if node.is_masked else ()
    return tuple(command.TEMPLATED if n.is_masked else n.text or "" for n in node)


def expanded_words(found: Sequence[str], settings: Sequence[Setting]) -> tuple[str, ...]:
    """`$(NAME)` in a command is replaced by Kubernetes from the container's environment."""
    known = {s.name: s for s in settings}
    return tuple(_expanded(w, known) or w for w in found)


def _expanded(text: str | None, settings: dict[str, Setting]) -> str | None:
    """A text with its `$(NAME)` references replaced, None where one is set to something unknown."""
    if text is None or "$(" not in text:
        return text
    unknown = [n for n in _REFERENCE.findall(text) if n in settings and settings[n].value is None]
    if unknown:
        return None
    return _REFERENCE.sub(lambda m: _value_or_text(settings, m), text)


def _value_or_text(settings: dict[str, Setting], match: re.Match[str]) -> str:
    setting = settings.get(match.group(1))
    return setting.value if setting and setting.value is not None else match.group(0)


def _is_sidecar(container: Node) -> bool:
    sidecars = command.rules()["sidecars"]
    image = (container["image"].text or "").split("@")[0].rsplit("/", 1)[-1].split(":")[0]
    return container["name"].text in sidecars or image in sidecars


def _has_port(container: Node, port: Node) -> bool:
    return any(port.text in (p["name"].text, p["containerPort"].text) for p in container["ports"])
