"""Envoy's protobuf-as-YAML: fields in snake_case or camelCase, `typed_config`, durations, template tags.

Both spellings are the same field (protobuf's JSON mapping, which Envoy reads YAML through).
"""

from __future__ import annotations

import re
from functools import cache

from sselint.facts import Span
from sselint.read.yaml_nodes import Node

_SECONDS = re.compile(r"(\d+(?:\.\d+)?)s")

_V2_FILTERS = {
    "envoy.http_connection_manager": "HttpConnectionManager",
    "envoy.tcp_proxy": "TcpProxy",
    "envoy.filters.network.http_connection_manager": "HttpConnectionManager",
    "envoy.filters.network.tcp_proxy": "TcpProxy",
    "envoy.filters.http.stateful_session": "StatefulSession",
}
"""What a filter is whose configuration carries no `@type` (the v2 API allowed that)."""


@cache
def camel(name: str) -> str:
    """`lb_policy` -> `lbPolicy`."""
    head, *rest = name.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in rest)


def field(node: Node, *path: str) -> Node:
    """A field of a field of a field, each named in snake_case and found in either spelling. Missing is falsy."""
    for name in path:
        node = node.first(name, camel(name))
    return node


def has(node: Node, *names: str) -> bool:
    """Whether any of these fields is written, in either spelling."""
    return any(name in node or camel(name) in node for name in names)


def line(node: Node, name: str, note: str = "") -> Span:
    """The line of a field, from its name to the end of the line; the node's own line where the field is absent."""
    for spelling in (name, camel(name)):
        if spelling in node:
            return node.key(spelling).line_span(note)
    return node.line_span(note)


def is_template(node: Node) -> bool:
    """Whether the value is there and a template tag touches it: then it is unknown, not absent."""
    return node.raw is not None and node.is_masked


def seconds(node: Node) -> float | None:
    """A protobuf duration ("15s", "0.25s") in seconds; None where it is absent, a template or something else."""
    found = _SECONDS.fullmatch((node.text or "").strip())
    return float(found[1]) if found else None


def message(node: Node) -> str:
    """The message name in `@type`, without its package: "Cluster". Empty where there is none."""
    return _last(node["@type"].text or "")


def typed(entry: Node) -> tuple[str, Node]:
    """The message name and the configuration of an extension: `typed_config`, or `config` of the v2 API."""
    name, config = unpacked(field(entry, "typed_config") or field(entry, "config"))
    return name or _V2_FILTERS.get(entry["name"].text or "", ""), config


def unpacked(config: Node) -> tuple[str, Node]:
    """The message name and the content of a google.protobuf.Any; a TypedStruct is looked into."""
    name = message(config)
    if name == "TypedStruct":
        return _last(field(config, "type_url").text or ""), config["value"]
    return name, config


def _last(type_url: str) -> str:
    return re.split(r"[./]", type_url)[-1]
