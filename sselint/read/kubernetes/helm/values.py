"""Values of a chart as Python objects, and where each of them is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sselint.facts import Span
from sselint.read.yaml_nodes import Node


@dataclass(frozen=True)
class Unknown:
    """A value that the chart does not tell. `name` says what it is, in letters that can stand in a name."""

    name: str


@dataclass
class Places:
    """Where the entries of mappings are written: by the identity of the mapping, which is kept alive here."""

    _spans: dict[int, tuple[Mapping[str, Any], dict[str, Span]]] = field(default_factory=dict)

    def put(self, mapping: Mapping[str, Any], spans: dict[str, Span]) -> None:
        """Remember where the entries of a mapping are written."""
        self._spans[id(mapping)] = (mapping, spans)

    def of(self, mapping: Mapping[str, Any]) -> dict[str, Span]:
        """The places of a mapping's entries; empty where it was made by a template."""
        found = self._spans.get(id(mapping))
        return found[1] if found else {}


def construct(node: Node, places: Places) -> Any:
    """The node as str, int, float, bool, None, list or dict, by its YAML tag."""
    if node.is_mapping:
        made = {key: construct(value, places) for key, value in node.items()}
        places.put(made, {key: node.key(key).line_span() for key in made})
        return made
    if node.is_sequence:
        return [construct(item, places) for item in node]
    if node.raw is None or node.is_null:
        return None
    return _scalar(str(node.raw.value), str(node.raw.tag).rpartition(":")[2])


def _scalar(text: str, tag: str) -> Any:
    try:
        if tag == "bool":
            return text.lower() in ("true", "yes", "on")
        if tag == "int":
            return int(text.replace("_", ""), 0)
        if tag == "float":
            return float(text.replace("_", ""))
    except ValueError:
        return text
    return text


def merged(base: Mapping[str, Any], over: Mapping[str, Any], places: Places) -> dict[str, Any]:
    """`over` laid over `base` as Helm lays values: mappings are merged, null takes away, all else replaces."""
    result = dict(base)
    spans = dict(places.of(base))
    for key, value in over.items():
        before = result.get(key)
        if value is None:
            result.pop(key, None)
            continue
        deeper = isinstance(before, dict) and isinstance(value, dict)
        result[key] = merged(result[key], value, places) if deeper else value
        if key in places.of(over):
            spans[key] = places.of(over)[key]
    places.put(result, spans)
    return result
