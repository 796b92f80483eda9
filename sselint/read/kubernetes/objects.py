"""Kubernetes objects out of YAML documents: kind, name, namespace, and the node that shows them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sselint.facts import FileOutcome, FileReport, Span
from sselint.read.yaml_nodes import Node, readable_documents
from sselint.source import Source

_DOCUMENT_START = re.compile(r"^(---(?:[ \t][^\n]*)?\r?\n)", re.MULTILINE)
_SCHEMA = re.compile(r"^kind:[ \t]*CustomResourceDefinition\b", re.MULTILINE)
_VISIBLE = re.compile(r"[^\r\n]+")


@dataclass(frozen=True)
class KubernetesObject:
    """One object. `name` is what other objects of its set call it; `deployed_name` what it is called in the cluster
    (kustomize prefixes). `kind` is "" where a template decides it. `api` is the group without version ("apps")."""

    api: str
    kind: str
    name: str
    deployed_name: str
    namespace: str
    node: Node
    variant: str = ""

    @property
    def path(self) -> str:
        """The file that holds it."""
        return self.node.source.path

    @property
    def span(self) -> Span:
        """The line that says what it is."""
        return self.node.key("kind").line_span() if "kind" in self.node else self.node.span()

    @property
    def title(self) -> str:
        """As people read it: `Deployment app`."""
        return f"{self.kind or 'workload'} {self.deployed_name}"

    def annotations(self) -> Mapping[str, tuple[Node, Node]]:
        """Annotations as key and value nodes."""
        return self.node.at("metadata", "annotations").fields

    def annotation(self, name: str) -> str | None:
        """The text of an annotation."""
        return self.node.at("metadata", "annotations")[name].text

    def labels(self) -> dict[str, str]:
        """The object's own labels."""
        return texts(self.node.at("metadata", "labels"))


@dataclass(frozen=True)
class Objects:
    """A set of objects that are deployed together, with look-ups."""

    all: tuple[KubernetesObject, ...]

    def of(self, *kinds: str, api: str | None = None) -> Iterator[KubernetesObject]:
        """The objects of these kinds."""
        return (o for o in self.all if o.kind in kinds and (api is None or o.api == api))

    def named(self, kind: str, name: str | None, near: KubernetesObject) -> KubernetesObject | None:
        """The object that another one refers to by name, in its namespace and variant."""
        found = [o for o in self.of(kind) if o.name == name and meets(o, near)]
        return nearest(found, near)


def meets(one: KubernetesObject, other: KubernetesObject) -> bool:
    """Whether two objects can refer to each other: one namespace (not said is any) and one variant."""
    same_namespace = one.namespace == other.namespace or not one.namespace or not other.namespace
    return same_namespace and (one.variant == other.variant or not one.variant or not other.variant)


def nearest(candidates: Sequence[KubernetesObject], near: KubernetesObject) -> KubernetesObject | None:
    """The candidate whose file shares the longest folder with `near`."""
    return max(candidates, key=lambda o: _shared_folders(o.path, near.path), default=None)


def all_nearest(candidates: Sequence[KubernetesObject], near: KubernetesObject) -> list[KubernetesObject]:
    """The candidates in the file itself, else those whose files share the longest folder with it."""
    shared = [_shared_folders(o.path, near.path) for o in candidates]
    return [o for o, count in zip(candidates, shared, strict=True) if count == max(shared)]


def _shared_folders(one: str, other: str) -> int:
    if one == other:
        return 1_000
    count = 0
    for a, b in zip(one.split("/")[:-1], other.split("/")[:-1], strict=False):
        if a != b:
            break
        count += 1
    return count


def texts(node: Node) -> dict[str, str]:
    """A mapping of scalars as text; what a template touches is left out."""
    return {k: v.text for k, v in node.items() if v.text is not None}


def symbols(node: Node) -> dict[str, str]:
    """A mapping of scalars as symbols: for comparing labels with selectors. What a template prints as fields of it, or
    as all of it, is one key without a value."""
    if not node.is_mapping:
        return {_symbol_at(node): ""} if _symbol_at(node) else {}
    keys = ((_symbol_at(node.key(k)), k, v) for k, v in node.items())
    return {template or k: "" if template else symbol(v) for template, k, v in keys}


def symbol(node: Node) -> str:
    """The text of a scalar, or the template that makes it: two names are the same where the same tags stand in them."""
    return node.text if node.text is not None else _symbol_at(node)


def _symbol_at(node: Node) -> str:
    """The template in the place of a node; empty where none touches it."""
    if node.raw is None or not node.is_masked:
        return ""
    start, end = node.raw.start_mark.index, node.raw.end_mark.index
    # The filler of a tag on a line of its own may be shorter than the tag.
    around = [(a, b) for a, b in node.source.masked if a <= start and end <= b]
    start, end = min([start, *(a for a, _ in around)]), max([end, *(b for _, b in around)])
    original = node.source.original or node.source.text
    return " ".join(original[start:end].strip("\"'").split())


def parse(source: Source) -> tuple[list[KubernetesObject], FileReport]:
    """The objects of a source, and what became of it."""
    found, problem = readable_documents(replace(source, text=_without_schemas(source.text)))
    report = FileReport(source.path, FileOutcome.ANALYSED)
    if problem is not None:
        report = FileReport(source.path, FileOutcome.PARTLY, str(problem), needed=True, span=problem.span)
    return [o for d in found for o in _objects(d)], report


def _without_schemas(text: str) -> str:
    """The text with blanks for CustomResourceDefinitions: the largest documents by far, and they deploy nothing."""
    if "CustomResourceDefinition" not in text:
        return text
    parts = _DOCUMENT_START.split(text)
    return "".join(_VISIBLE.sub(lambda line: " " * len(line[0]), p) if _SCHEMA.search(p) else p for p in parts)


def _objects(document: Node) -> Iterable[KubernetesObject]:
    kind = document["kind"].text
    if kind is not None and kind.endswith("List") and document["items"].is_sequence:
        for item in document["items"]:
            yield from _objects(item)
        return
    if not document.is_mapping or "kind" not in document or "apiVersion" not in document:
        return
    group = (document["apiVersion"].text or "").rpartition("/")[0]
    metadata = document["metadata"]
    name = symbol(metadata["name"]) or symbol(metadata["generateName"])
    namespace = symbol(metadata["namespace"])
    yield KubernetesObject(group, kind or "", name, name, namespace, document)


def with_variants(objects: Sequence[KubernetesObject]) -> list[KubernetesObject]:
    """Objects of one cluster's worth of plain manifests: where the same object stands twice, each is an alternative,
    told apart by its folder (or file, where the folder is the same)."""
    objects = _without_patches(objects)
    places: dict[tuple[str, str, str, str], list[KubernetesObject]] = {}
    for o in objects:
        places.setdefault((o.api, o.kind, o.namespace, o.name), []).append(o)
    doubled: dict[str, set[str]] = {}
    for same in places.values():
        folders = [_folder(o.path) for o in same]
        if len(same) > 1:
            for o in same:
                by_file = folders.count(_folder(o.path)) > 1
                doubled.setdefault(o.path if by_file else _folder(o.path), set()).add(o.kind)
    return [replace(o, variant=_variant_of(o.path, doubled)) for o in objects]


def _without_patches(objects: Sequence[KubernetesObject]) -> list[KubernetesObject]:
    """The objects without pieces of workloads that stand elsewhere in full (`kubectl patch`): a piece has a container
    without an image. One that sets the number of pods stays, as an alternative."""
    full = {(o.kind, o.name) for o in objects if not _is_patch(o)}
    return [o for o in objects if not (_is_patch(o) and (o.kind, o.name) in full)]


def _is_patch(o: KubernetesObject) -> bool:
    containers = o.node.at("spec", "template", "spec", "containers")
    pieces = (c for c in containers if c.is_mapping and "image" not in c)
    return next(pieces, None) is not None and "replicas" not in o.node["spec"]


def _variant_of(path: str, doubled: Mapping[str, set[str]]) -> str:
    if path in doubled:
        return path
    folder = _folder(path)
    return folder if folder in doubled else ""


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or "."
