"""Nodes put together out of several: what kustomize's patches make of a manifest. Every part keeps its own place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sselint.read.yaml_nodes import Node

Pairs = dict[str, "tuple[Node, Node]"]

_MERGE_KEYS = {
    "containers": ("name",),
    "initContainers": ("name",),
    "env": ("name",),
    "volumes": ("name",),
    "volumeMounts": ("mountPath",),
    "ports": ("containerPort", "port"),
    "hostAliases": ("ip",),
}
"""Lists that a strategic merge joins by a field (x-kubernetes-patch-merge-key in the API); others are replaced."""


@dataclass(frozen=True)
class Mapped(Node):
    """A mapping with fields of several documents; its place is that of the first."""

    pairs: Pairs = field(default_factory=dict)

    @cached_property
    def fields(self) -> Pairs:
        """The fields as they were put together."""
        return self.pairs

    @property
    def is_mapping(self) -> bool:
        """Always."""
        return True


@dataclass(frozen=True)
class Listed(Node):
    """A sequence with items of several documents; its place is that of the first."""

    members: tuple[Node, ...] = ()

    def __iter__(self) -> Iterator[Node]:
        return iter(self.members)

    @property
    def is_sequence(self) -> bool:
        """Always."""
        return True


@dataclass(frozen=True)
class Text(Node):
    """A scalar whose text was made (an image with its new tag, a literal of a generator), at the place that made it."""

    made: str = ""

    @property
    def text(self) -> str | None:
        """The text."""
        return self.made


def with_field(node: Node, path: Sequence[str], value: Node) -> Node:
    """The mapping with one field set, mappings on the way made as needed."""
    head, rest = path[0], path[1:]
    pairs = dict(node.fields)
    key = pairs[head][0] if head in pairs else value
    inner = pairs[head][1] if head in pairs else Node(node.source, None)
    pairs[head] = (key, with_field(inner, rest, value) if rest else value)
    return Mapped(node.source, node.raw, pairs)


def strategic(base: Node, patch: Node, name: str = "") -> Node:
    """`patch` laid over `base` as a strategic merge patch; `name` is the field that both stand in."""
    if base.is_mapping and patch.is_mapping:
        if patch["$patch"].text == "replace":
            return patch
        return Mapped(base.source, base.raw, _merged_pairs(base, patch))
    if base.is_sequence and patch.is_sequence and name in _MERGE_KEYS:
        return _merged_list(base, patch, _MERGE_KEYS[name])
    return patch


def _merged_pairs(base: Node, patch: Node) -> Pairs:
    pairs = dict(base.fields)
    for name, (key, value) in patch.fields.items():
        if name == "$patch":
            continue
        if value.is_null or value["$patch"].text == "delete":
            pairs.pop(name, None)
        elif name in pairs:
            pairs[name] = (key, strategic(pairs[name][1], value, name))
        else:
            pairs[name] = (key, value)
    return pairs


def _merged_list(base: Node, patch: Node, keys: Sequence[str]) -> Node:
    members = list(base)
    for item in patch:
        identity = _identity(item, keys)
        position = next((i for i, m in enumerate(members) if identity and _identity(m, keys) == identity), None)
        if item["$patch"].text == "delete":
            members = [m for m in members if _identity(m, keys) != identity]
        elif position is None:
            members.append(item)
        else:
            members[position] = strategic(members[position], item)
    return Listed(base.source, base.raw, tuple(members))


def _identity(item: Node, keys: Sequence[str]) -> str | None:
    return next((item[k].text for k in keys if item[k].text is not None), None)


def json_patch(node: Node, operations: Node) -> Node:
    """A node after the operations of a JSON patch (RFC 6902): add, replace and remove. Others change nothing."""
    for operation in operations:
        pointer = operation["path"].text
        kind = operation["op"].text
        if pointer is None or kind not in ("add", "replace", "remove"):
            continue
        parts = [p.replace("~1", "/").replace("~0", "~") for p in pointer.split("/")[1:]]
        if parts:
            node = _patched(node, parts, kind, operation["value"])
    return node


def _patched(node: Node, parts: Sequence[str], kind: str, value: Node) -> Node:
    head, rest = parts[0], parts[1:]
    if node.is_sequence:
        return _patched_list(node, head, rest, kind, value)
    pairs = dict(node.fields)
    if rest:
        inner = pairs[head] if head in pairs else (value, Mapped(node.source, value.raw))
        pairs[head] = (inner[0], _patched(inner[1], rest, kind, value))
    elif kind == "remove":
        pairs.pop(head, None)
    else:
        pairs[head] = (value, value)
    return Mapped(node.source, node.raw, pairs)


def _patched_list(node: Node, head: str, rest: Sequence[str], kind: str, value: Node) -> Node:
    members = list(node)
    if head == "-" and not rest:
        members.append(value)
    elif head.isdigit() and int(head) < len(members):
        position = int(head)
        if rest:
            members[position] = _patched(members[position], rest, kind, value)
        elif kind == "remove":
            del members[position]
        elif kind == "add":
            members.insert(position, value)
        else:
            members[position] = value
    return Listed(node.source, node.raw, tuple(members))
