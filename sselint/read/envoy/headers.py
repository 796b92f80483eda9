"""What an Envoy route does with the `Last-Event-ID` request header: removes it, chooses by it, or passes it on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sselint.facts import Span
from sselint.read.envoy.fields import field, line, typed, unpacked
from sselint.read.yaml_nodes import Node

HEADER = "last-event-id"

_LUA_REMOVAL = re.compile(r":\s*(?:remove|replace)\s*\(\s*[\"']last-event-id[\"']", re.IGNORECASE)
_OVERWRITES = frozenset({"OVERWRITE_IF_EXISTS_OR_ADD", "OVERWRITE_IF_EXISTS"})


def removals(manager: Node, filters: Sequence[Node], levels: Sequence[Node]) -> Iterator[Span]:
    """The lines that take the header away before the upstream sees it: at route configuration, virtual host, route and
    weighted cluster (`levels`), in the HTTP filters and in the connection manager."""
    for level in levels:
        yield from _named(field(level, "request_headers_to_remove"))
        yield from _named(field(level, "internal_only_headers"))
        yield from _overwritten(field(level, "request_headers_to_add"))
        for override in field(level, "typed_per_filter_config").items():
            yield from _mutations(*unpacked(override[1]))
    for entry in filters:
        if not entry["disabled"].truth:
            yield from _mutations(*typed(entry))
    for extension in field(manager, "early_header_mutation_extensions"):
        yield from _mutations(*typed(extension))


def _named(names: Node) -> Iterator[Span]:
    for name in names:
        if (name.text or "").lower() == HEADER:
            yield name.span("Last-Event-ID is removed")


def _overwritten(options: Node) -> Iterator[Span]:
    for option in options:
        header = field(option, "header")
        if (header["key"].text or "").lower() != HEADER:
            continue
        copied = HEADER in (header["value"].text or "").lower()
        replaced = option["append"].truth is False or (field(option, "append_action").text or "") in _OVERWRITES
        if replaced and not copied:
            yield line(header, "key", "Last-Event-ID is overwritten")


def _mutations(name: str, config: Node) -> Iterator[Span]:
    """The removals of a HeaderMutation (filter or early extension) or of an inline Lua script."""
    if name == "HeaderMutation":
        request = field(config, "mutations")
        for mutation in field(request, "request_mutations") if request.is_mapping else request:
            if (mutation["remove"].text or "").lower() == HEADER:
                yield line(mutation, "remove", "Last-Event-ID is removed")
            yield from _overwritten_one(field(mutation, "append"))
    elif name == "HeaderMutationPerRoute":
        yield from _mutations("HeaderMutation", config)
    elif name in {"Lua", "LuaPerRoute"}:
        for code in (field(config, "inline_code"), field(config, "default_source_code", "inline_string")):
            if _LUA_REMOVAL.search(code.text or ""):
                yield code.span("a Lua filter removes Last-Event-ID")


def _overwritten_one(option: Node) -> Iterator[Span]:
    if option.is_mapping:
        header = field(option, "header")
        wrong = (header["key"].text or "").lower() == HEADER and HEADER not in (header["value"].text or "").lower()
        if wrong and (field(option, "append_action").text or "") in _OVERWRITES:
            yield line(header, "key", "Last-Event-ID is overwritten")
