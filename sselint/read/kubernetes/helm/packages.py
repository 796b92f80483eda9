"""Charts and what they are made of: subcharts in `charts/`, and local dependencies under a name of their own."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MAX_DEPTH = 6
"""Charts inside charts."""

Load = Callable[[str], "dict[str, Any]"]
"""From the path of a YAML file to its content; empty where there is none."""


@dataclass(frozen=True)
class Package:
    """One chart of a release: its folder, the name that its parent knows it by, what it says of itself, its own values
    and its subcharts."""

    folder: str
    name: str
    metadata: Mapping[str, Any]
    values: Mapping[str, Any]
    subcharts: tuple[Package, ...] = ()

    def everything(self) -> Iterator[Package]:
        """The subcharts, however deep, and the chart itself at last."""
        for sub in self.subcharts:
            yield from sub.everything()
        yield self


class Packages:
    """The charts of a tree; `folders` hold a Chart.yaml each."""

    def __init__(self, folders: Sequence[str], load: Load) -> None:
        self._folders = folders
        self._load = load

    def roots(self) -> list[str]:
        """The charts that are installed by themselves: in no other chart's folder, and nobody's dependency."""
        used = {sub for folder in self._folders for sub, _ in self._dependencies(folder)}
        return [f for f in self._folders if f not in used and not any(is_subchart(f, other) for other in self._folders)]

    def package(self, folder: str, known_as: str = "", depth: int = MAX_DEPTH) -> Package:
        """A chart with its subcharts."""
        metadata = self._metadata(folder)
        values = self._load(join(folder, "values.yaml")) or self._load(join(folder, "values.yml"))
        name = known_as or str(metadata.get("name") or posixpath.basename(folder))
        inner = self._dependencies(folder) if depth else []
        return Package(folder, name, metadata, values, tuple(self.package(f, n, depth - 1) for f, n in inner))

    def _metadata(self, folder: str) -> dict[str, Any]:
        return self._load(join(folder, "Chart.yaml")) or self._load(join(folder, "Chart.yml"))

    def _dependencies(self, folder: str) -> list[tuple[str, str]]:
        """(folder, name) of the subcharts that are in the tree; one that has aliases stands once for each."""
        prefix = join(folder, "charts/")
        inside = {f: "" for f in self._folders if is_subchart(f, folder) and "/" not in f[len(prefix) :]}
        named: list[tuple[str, str]] = []
        for dependency in dependencies(self._metadata(folder)):
            repository = str(dependency.get("repository") or "")
            beside = posixpath.normpath(join(folder, repository.removeprefix("file://")))
            place = beside if repository.startswith("file://") else prefix + str(dependency.get("name"))
            if place in self._folders and place != folder:
                named.append((place, known_as(dependency)))
                inside.pop(place, None)
        return [*inside.items(), *named]


def dependencies(metadata: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The dependencies that a chart declares."""
    declared = metadata.get("dependencies")
    return [d for d in declared if isinstance(d, dict)] if isinstance(declared, list) else []


def known_as(dependency: Mapping[str, Any]) -> str:
    """The name under which a parent passes values on."""
    return str(dependency.get("alias") or dependency.get("name") or "")


def enabled(package: Package, sub: Package, values: Mapping[str, Any]) -> bool:
    """Whether a parent switches a subchart on: by the `condition` of its dependency, on if that says nothing."""
    for dependency in dependencies(package.metadata):
        if known_as(dependency) != sub.name:
            continue
        for path in str(dependency.get("condition") or "").split(","):
            found: Any = values
            for part in path.strip().split("."):
                found = found.get(part) if isinstance(found, dict) else None
            if isinstance(found, bool):
                return found
    return True


def is_subchart(folder: str, parent: str) -> bool:
    """Whether a folder is one of a chart's `charts/`."""
    return folder != parent and folder.startswith(join(parent, "charts/"))


def join(folder: str, name: str) -> str:
    """A name in a folder."""
    return name if folder == "." else f"{folder}/{name}"
