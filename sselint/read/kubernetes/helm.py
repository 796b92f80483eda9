"""Helm charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sselint.facts import FileReport
from sselint.read.kubernetes.objects import KubernetesObject
from sselint.source import Source, Tree


@dataclass(frozen=True)
class Chart:
    """What a chart deploys with one set of values."""

    objects: tuple[KubernetesObject, ...]
    files: tuple[FileReport, ...]


def charts(sources: Sequence[Source], tree: Tree) -> tuple[list[Chart], list[Source]]:
    """The charts under the root, one for each set of values, and the sources that belong to none."""
    return [], list(sources)
