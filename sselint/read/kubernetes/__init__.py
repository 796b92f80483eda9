"""Kubernetes: workloads as pools; Services, Ingresses and gateways as hops; kustomize overlays and Helm charts as
variants of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sselint.facts import FileReport, Reading
from sselint.source import Source, Tree

_API = re.compile(r"^[ \t-]*[\"']?apiVersion[\"']?[ \t]*:[ \t]*\S", re.MULTILINE)
_KIND = re.compile(r"^[ \t-]*[\"']?kind[\"']?[ \t]*:", re.MULTILINE)
_FLOW = re.compile(r"\{[^{}\n]*\bapiVersion[\"']?:[^\n]*\bkind[\"']?:")
_FIRST_LINE = re.compile(r"^[ \t]*([^\s#][^\n]*)", re.MULTILINE)
_YAML_LINE = re.compile(
    r"---|\.\.\.|%YAML|[{\[]|-[ \t]|_+[ \t]*$|(?:[\w./-]+|\"[^\"\n]*\"|'[^'\n]*')[ \t]*:(?:[ \t\r]|$)"
)
_BY_NAME = re.compile(r"(^|/)(kustomization\.ya?ml|Kustomization|Chart\.ya?ml)$")


def looks_like(path: str, text: str) -> bool:
    """Whether this holds Kubernetes objects (`apiVersion` and `kind`), or says how others are put together."""
    if _BY_NAME.search(path):
        return True
    if "apiVersion" not in text or not _begins_like_yaml(text):
        return False
    return (_API.search(text) is not None and _KIND.search(text) is not None) or _FLOW.search(text) is not None


def _begins_like_yaml(text: str) -> bool:
    """Whether the first line that says something can be YAML's or JSON's: programs hold manifests as text, too."""
    match = _FIRST_LINE.search(text)
    return match is not None and _YAML_LINE.match(match[1]) is not None


def read(sources: Sequence[Source], tree: Tree) -> Reading:
    """The pools and routes of every set of manifests under the root: plain ones, overlays, charts."""
    from sselint.read.kubernetes.cluster import reading_of
    from sselint.read.kubernetes.helm import charts
    from sselint.read.kubernetes.kustomize import is_kustomization, overlays
    from sselint.read.kubernetes.objects import KubernetesObject, parse, with_variants

    found_charts, rest = charts(sources, tree)
    parsed: dict[str, list[KubernetesObject]] = {}
    files: list[FileReport] = []
    for source in rest:
        if not is_kustomization(source.path):
            objects, report = parse(source)
            parsed.setdefault(source.path, []).extend(objects)
            files.append(report)
    built = overlays([s for s in rest if is_kustomization(s.path)], parsed, tree)
    free = [o for path, objects in parsed.items() if path not in built.taken for o in objects]
    result = reading_of(with_variants([*free, *built.objects]), tree)
    for alternative in built.alternatives:
        result += reading_of(alternative, tree)
    for chart in found_charts:
        result += reading_of(chart.objects, tree)
        files.extend(chart.files)
    return result + Reading(files=(*files, *built.files))
