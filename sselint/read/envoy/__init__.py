"""Reads Envoy: bootstraps, xDS resources and DiscoveryResponses, filter chains and pieces of them, in YAML or JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sselint.facts import Reading
from sselint.source import Source, Tree

__all__ = ["looks_like", "read"]

_FIELDS = (
    "static_?resources|filter_?chains|http_?filters|virtual_?hosts|lb_?endpoints|load_?assignment|lb_?policy"
    "|eds_?cluster_?config|session_?state|load_?balancing_?policy"
)
_FIELD = re.compile(
    rf"^[ \t]*(?:-[ \t]+)*(?:[{{\[][ \t]*)?[\"']?(?:{_FIELDS})[\"']?[ \t]*:", re.MULTILINE | re.IGNORECASE
)
_FIELD_ANYWHERE = re.compile(rf"[\"'](?:{_FIELDS})[\"']\s*:", re.IGNORECASE)
_TYPE = re.compile(r"type\.googleapis\.com/envoy\.")
_FIRST = re.compile(r"(?:---|[{\[]|-[ \t]|[\"']?[\w@.$/-]+[\"']?[ \t]*:(?:\s|$)|\{\{|\{%|%YAML|<<)")
_CONTENT = re.compile(r"\s*(?!_+\s*$)[^\s#]")
"""A line with more than a comment or a masked template tag."""
_KUBERNETES = re.compile(r"^(?:apiVersion|kind)[ \t]*:", re.MULTILINE)


def looks_like(path: str, text: str) -> bool:
    """Whether the text is Envoy configuration in YAML or JSON: a field or type that only Envoy has, in a text that
    begins like YAML or JSON, after what a template puts before it. Kubernetes manifests are left to their reader."""
    begin = next((line.strip() for line in text.splitlines() if _CONTENT.match(line)), "")
    if not _FIRST.match(begin) or len(_KUBERNETES.findall(text)) > 1:
        return False
    if begin[0] in "{[" and not begin.startswith("{{") and _FIELD_ANYWHERE.search(text):
        return True
    return bool(_FIELD.search(text) or _TYPE.search(text))


def read(sources: Sequence[Source], tree: Tree) -> Reading:
    """The routes in all Envoy sources under the root. Never raises: a text that cannot be read is a file report."""
    from sselint.read.envoy.reader import read_all

    return read_all(sources)
