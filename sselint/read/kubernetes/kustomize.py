"""kustomize, as far as it decides processes and hops: resources, patches, replicas, images, prefixes, generators.

A kustomization that no other one builds on is deployed by itself. Two that deploy the same object are alternatives.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sselint.facts import FileOutcome, FileReport
from sselint.read.command import join
from sselint.read.kubernetes.merging import Listed, Mapped, Pairs, Text, json_patch, strategic, with_field
from sselint.read.kubernetes.objects import KubernetesObject
from sselint.read.yaml_nodes import Node, UnreadableYamlError, documents
from sselint.source import Source, Tree

_NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_SCALED = frozenset({"Deployment", "StatefulSet", "ReplicaSet", "ReplicationController"})
_DEPTH = 20
"""Kustomizations that build on each other."""


def is_kustomization(path: str) -> bool:
    """Whether the name makes the file a kustomization."""
    return path.rsplit("/", 1)[-1] in _NAMES


@dataclass(frozen=True)
class Overlays:
    """What kustomizations deploy: sets that are alternatives of each other, objects that are deployed beside anything
    else, the files that they used up, and reports."""

    alternatives: tuple[tuple[KubernetesObject, ...], ...] = ()
    objects: tuple[KubernetesObject, ...] = ()
    taken: frozenset[str] = frozenset()
    files: tuple[FileReport, ...] = ()


def overlays(sources: Sequence[Source], parsed: Mapping[str, Sequence[KubernetesObject]], tree: Tree) -> Overlays:
    """What the kustomizations among the sources deploy out of the objects of each file."""
    roots: dict[str, Node] = {}
    files: list[FileReport] = []
    for source in sources:
        try:
            found = documents(source)
        except UnreadableYamlError as problem:
            files.append(FileReport(source.path, FileOutcome.PARTLY, str(problem), needed=True, span=problem.span))
            continue
        files.append(FileReport(source.path, FileOutcome.ANALYSED))
        if found and found[0].is_mapping:
            roots[source.path.rpartition("/")[0] or "."] = found[0]
    builder = _Builder(roots, parsed, tree)
    built = {folder: builder.build(folder, _DEPTH) for folder in roots if folder not in builder.bases}
    alternatives: list[tuple[KubernetesObject, ...]] = []
    beside: list[KubernetesObject] = []
    for folder, objects in built.items():
        others = {_identity(o) for f, more in built.items() if f != folder for o in more}
        if any(_identity(o) in others for o in objects):
            alternatives.append(tuple(replace(o, variant=folder) for o in objects))
        else:
            beside.extend(objects)
    return Overlays(tuple(alternatives), tuple(beside), frozenset(builder.taken), tuple(files))


def _identity(o: KubernetesObject) -> tuple[str, str, str]:
    return o.api, o.kind, o.name


class _Builder:
    """Builds the objects of a kustomization; `taken` are the files used, `bases` the folders that others build on."""

    def __init__(self, roots: Mapping[str, Node], parsed: Mapping[str, Sequence[KubernetesObject]], tree: Tree) -> None:
        self._roots = roots
        self._parsed = parsed
        self._tree = tree
        self.taken: set[str] = set()
        self.bases: set[str] = set()
        for folder, root in roots.items():
            self.bases |= {r for r in self._referred(folder, root) if r in roots and r != folder}

    def _referred(self, folder: str, root: Node) -> list[str]:
        entries = (entry.text for key in ("resources", "bases", "components") for entry in root[key])
        return [join(folder, e) or "." for e in entries if e and "://" not in e]

    def build(self, folder: str, depth: int) -> list[KubernetesObject]:
        root = self._roots[folder]
        objects: list[KubernetesObject] = []
        if depth == 0:
            return objects
        for path in self._referred(folder, root):
            if path in self._roots and path != folder:
                objects.extend(self.build(path, depth - 1))
            elif path in self._parsed:
                self.taken.add(path)
                objects.extend(self._parsed[path])
        objects.extend(self._generated(folder, root))
        for patch, target in self._patches(folder, root):
            objects = [self._patched(o, patch, target) for o in objects]
        objects = [_with_images(_with_replicas(o, root["replicas"]), root["images"]) for o in objects]
        return [_named(o, root) for o in objects]

    # -- patches -------------------------------------------------------------------------------------------------------

    def _patches(self, folder: str, root: Node) -> Iterable[tuple[Node, Node]]:
        """(patch, target) pairs; the target is missing where the patch names its object itself."""
        nothing = Node(root.source, None)
        for entry in root["patchesStrategicMerge"]:
            yield from ((p, nothing) for p in self._documents(folder, entry))
        for key in ("patches", "patchesJson6902"):
            for entry in root[key]:
                written = entry["path"] or entry["patch"] if entry.is_mapping else entry
                yield from ((p, entry["target"]) for p in self._documents(folder, written))

    def _documents(self, folder: str, written: Node) -> tuple[Node, ...]:
        """The documents of a patch: a file of the tree, or the text itself."""
        text = written.text
        if text is None:
            return ()
        if "\n" in text or text.lstrip().startswith(("{", "[", "- ")):
            return self._inline(written, text)
        path = join(folder, text)
        if path not in self._tree.known:
            return ()
        self.taken.add(path)
        try:
            return documents(Source(path, self._tree.text(path), "kubernetes"))
        except (UnreadableYamlError, OSError):
            return ()

    def _inline(self, written: Node, text: str) -> tuple[Node, ...]:
        """A patch inside the kustomization: lines of a block scalar have the lines of the file."""
        first, _ = written.source.place(written.raw.start_mark.index)
        origin = tuple((first + n, 0) for n in range(text.count("\n") + 1))
        try:
            return documents(Source(written.source.path, text, "kubernetes", origin=origin))
        except UnreadableYamlError:
            return ()

    def _patched(self, o: KubernetesObject, patch: Node, target: Node) -> KubernetesObject:
        if not _is_meant(o, patch, target):
            return o
        node = json_patch(o.node, patch) if patch.is_sequence else strategic(o.node, patch)
        return replace(o, node=node)

    # -- generators ----------------------------------------------------------------------------------------------------

    def _generated(self, folder: str, root: Node) -> Iterable[KubernetesObject]:
        """ConfigMaps of a generator, so that environments that come from them are known."""
        for generator in root["configMapGenerator"]:
            name = generator["name"].text
            if name is None:
                continue
            data: Pairs = {}
            for literal in generator["literals"]:
                key, _, value = (literal.text or "").partition("=")
                data[key] = (literal, Text(literal.source, literal.raw, value.strip("\"'")))
            for entry in [*generator["envs"], generator["env"]]:
                data.update(self._env_file(folder, entry))
            pairs: Pairs = {"data": (generator, Mapped(root.source, generator.raw, data))}
            content = Mapped(generator.source, generator.raw, pairs)
            yield KubernetesObject("", "ConfigMap", name, name, "", content)

    def _env_file(self, folder: str, entry: Node) -> Iterable[tuple[str, tuple[Node, Node]]]:
        path = join(folder, entry.text) if entry.text else ""
        if path not in self._tree.known:
            return
        try:
            text = self._tree.text(path)
        except OSError:
            return
        for line in text.splitlines():
            key, equals, value = line.strip().partition("=")
            if equals and not key.startswith("#"):
                yield key, (entry, Text(entry.source, entry.raw, value))


def _is_meant(o: KubernetesObject, patch: Node, target: Node) -> bool:
    """Whether a patch is for an object: by its target's fields (regular expressions), else by its own kind and name."""
    if target:
        return all(
            re.fullmatch(wanted, have) is not None
            for wanted, have in ((target["kind"].text, o.kind), (target["name"].text, o.name))
            if wanted is not None
        )
    return patch.is_mapping and patch["kind"].text == o.kind and patch.at("metadata", "name").text == o.name


def _with_replicas(o: KubernetesObject, entries: Node) -> KubernetesObject:
    for entry in entries:
        if entry["name"].text == o.name and o.kind in _SCALED:
            node = with_field(o.node, ("spec", "replicas"), entry["count"])
            return replace(o, node=node)
    return o


def _with_images(o: KubernetesObject, entries: Node) -> KubernetesObject:
    containers = o.node.at("spec", "template", "spec", "containers")
    if not containers.is_sequence or not entries.is_sequence:
        return o
    members = tuple(_with_image(c, list(entries)) for c in containers)
    listed = Listed(containers.source, containers.raw, members)
    return replace(o, node=with_field(o.node, ("spec", "template", "spec", "containers"), listed))


def _with_image(container: Node, entries: Sequence[Node]) -> Node:
    image = container["image"]
    name, separator, tag = (image.text or "").partition(":")
    for entry in entries:
        if entry["name"].text == name:
            made = entry["newName"].text or name
            new_tag = entry["newTag"].text
            made += f":{new_tag}" if new_tag else separator + tag
            return with_field(container, ("image",), Text(image.source, image.raw, made))
    return container


def _named(o: KubernetesObject, root: Node) -> KubernetesObject:
    prefix, suffix = root["namePrefix"].text or "", root["nameSuffix"].text or ""
    space = root["namespace"].text or o.namespace
    return replace(o, deployed_name=f"{prefix}{o.deployed_name}{suffix}", namespace=space)
