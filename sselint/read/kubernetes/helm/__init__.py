"""Helm charts: the objects that a chart deploys with each set of values that stands beside it.

`values.yaml` is what everybody gets who says nothing; each further values file of the chart's folder is an alternative,
laid over it. Subcharts are read with what their parent passes on. A template that cannot be followed is read as it
stands, its tags masked.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sselint.facts import FileOutcome, FileReport
from sselint.read.kubernetes.helm.packages import Package, Packages, enabled, join
from sselint.read.kubernetes.helm.rendering import Renderer, values_behind
from sselint.read.kubernetes.helm.syntax import Node as TemplateNode
from sselint.read.kubernetes.helm.syntax import Template, TemplateError, parse
from sselint.read.kubernetes.helm.values import Places, construct, merged
from sselint.read.kubernetes.objects import KubernetesObject
from sselint.read.kubernetes.objects import parse as parse_objects
from sselint.read.yaml_nodes import UnreadableYamlError, documents
from sselint.source import Source, Tree

MAX_ALTERNATIVES = 12
"""Values files of one chart that are read as alternatives."""

RELEASE = "release"
"""Stands for the name of the release, which only the one who installs the chart gives."""

_CHART = re.compile(r"(?:^|/)Chart\.ya?ml$")
_VALUES = re.compile(r"^(?:values[-._].+|.+[-._]values)\.ya?ml$")
_SECRET = re.compile(r"schema|secret", re.IGNORECASE)


@dataclass(frozen=True)
class Chart:
    """What a chart deploys with one set of values."""

    objects: tuple[KubernetesObject, ...]
    files: tuple[FileReport, ...] = ()


def charts(sources: Sequence[Source], tree: Tree) -> tuple[list[Chart], list[Source]]:
    """The charts under the root, one for each set of values, and the sources that belong to none."""
    folders = sorted({posixpath.dirname(p) or "." for p in tree.files if _CHART.search(p)})
    rest = [s for s in sources if not _CHART.search(s.path) and not any(_is_template(s.path, f) for f in folders)]
    library = _Library(sources, tree)
    packages = Packages(folders, library.values)
    made: list[Chart] = []
    for folder in packages.roots():
        made.extend(_Release(packages.package(folder), library).alternatives())
    if made:
        made[0] = replace(made[0], files=tuple(library.reports.values()))
    return made, rest


def _is_template(path: str, folder: str) -> bool:
    return path.startswith(join(folder, "templates/"))


class _Library:
    """The files of all charts, each read once; `reports` say what became of them."""

    def __init__(self, sources: Sequence[Source], tree: Tree) -> None:
        self.tree = tree
        self.places = Places()
        self.reports: dict[str, FileReport] = {}
        self._masked = {s.path: s for s in sources if s.origin is None}
        self._values: dict[str, dict[str, Any]] = {}
        self._templates: dict[str, Template | None] = {}

    def values(self, path: str) -> dict[str, Any]:
        """A YAML file as a mapping; empty where there is none. A problem with it is reported."""
        if path not in self._values:
            self._values[path] = self._loaded(path) if path in self.tree.known else {}
        return self._values[path]

    def _loaded(self, path: str) -> dict[str, Any]:
        try:
            found = documents(Source(path, self.tree.text(path), "kubernetes"))
        except UnreadableYamlError as problem:
            self.reports[path] = FileReport(path, FileOutcome.PARTLY, str(problem), needed=True, span=problem.span)
            return {}
        except OSError:
            return {}
        self.reports.setdefault(path, FileReport(path, FileOutcome.ANALYSED))
        made = construct(found[0], self.places) if found else {}
        return made if isinstance(made, dict) else {}

    def template_files(self, folder: str) -> list[str]:
        """The templates of a chart."""
        return [p for p in self.tree.files if _is_template(p, folder)]

    def template(self, path: str) -> Template | None:
        """A template, None where it is none; then the report says why."""
        if path not in self._templates:
            source = self.raw(path)
            try:
                self._templates[path] = parse(source.text) if source else None
            except (TemplateError, RecursionError) as error:
                self._templates[path] = None
                self.reports[path] = FileReport(path, FileOutcome.ANALYSED, str(error))
        return self._templates[path]

    def raw(self, path: str) -> Source | None:
        """A file as it is written."""
        try:
            return Source(path, self.tree.text(path), "kubernetes")
        except OSError:
            return None

    def masked(self, path: str) -> Source | None:
        """A file with its tags masked, if it was recognised that way."""
        return self._masked.get(path)

    def reader(self, folder: str) -> Callable[[str], str | None]:
        """What `.Files` of a chart gives: nothing outside the chart's folder."""

        def read(name: str) -> str | None:
            path = posixpath.normpath(join(folder, name))
            if path not in self.tree.known or not (folder == "." or path.startswith(folder + "/")):
                return None
            source = self.raw(path)
            return source.text if source else None

        return read


class _Release:
    """A chart with its subcharts, and what it deploys."""

    def __init__(self, package: Package, library: _Library) -> None:
        self._package = package
        self._library = library
        self._defined: dict[str, tuple[TemplateNode, ...]] = {}
        for part in package.everything():
            for path in library.template_files(part.folder):
                template = library.template(path)
                self._defined.update(template.defined if template else {})

    def alternatives(self) -> Iterator[Chart]:
        """The release with the chart's own values, and one with each further values file laid over them."""
        over = self._values_files()
        kept: list[tuple[str, list[KubernetesObject]]] = []
        for path in ["", *over][: MAX_ALTERNATIVES + 1]:
            extra = self._library.values(path) if path else {}
            values = merged(self._package.values, extra, self._library.places)
            name = posixpath.basename(path) if path else "values.yaml"
            objects = list(self._objects(self._package, values))
            if not any(_same(objects, before) for _, before in kept):
                kept.append((f"{self._package.folder} ({name})", objects))
        for variant, objects in kept:
            told_apart = variant if len(kept) > 1 else ""
            yield Chart(tuple(replace(o, variant=told_apart) for o in objects))

    def _values_files(self) -> list[str]:
        """Values files beside the chart's own, or in a folder of that name. Those in `ci/` are what chart-testing
        installs, and nobody else."""
        chart = self._package.folder
        own = "" if chart == "." else chart
        found = []
        for path in self._library.tree.files:
            folder, name = posixpath.split(path)
            beside = folder == own and _VALUES.match(name)
            inside = folder == join(chart, "values") and name.endswith((".yaml", ".yml"))
            if (beside or inside) and not _SECRET.search(name):
                found.append(path)
        return found

    def _objects(self, package: Package, values: Mapping[str, Any]) -> Iterator[KubernetesObject]:
        places = self._library.places
        for sub in package.subcharts:
            if not enabled(package, sub, values):
                continue
            given, shared = values.get(sub.name), values.get("global")
            passed = merged(sub.values, given if isinstance(given, dict) else {}, places)
            if isinstance(shared, dict):
                passed = merged(passed, {"global": shared}, places)
            yield from self._objects(sub, passed)
        if package.metadata.get("type") == "library":
            return
        renderer = Renderer(_root(package, values), self._defined, self._library.reader(package.folder), places)
        for path in self._library.template_files(package.folder):
            hook = path.startswith(join(package.folder, "templates/tests/"))
            if not hook and not posixpath.basename(path).startswith("_") and path.endswith((".yaml", ".yml", ".tpl")):
                yield from self._printed(path, renderer)

    def _printed(self, path: str, renderer: Renderer) -> list[KubernetesObject]:
        template, source = self._library.template(path), self._library.raw(path)
        if template is None or source is None:
            return self._as_it_stands(path, "")
        try:
            objects, report = parse_objects(renderer.render(template, source))
        except (TemplateError, RecursionError) as error:
            return self._as_it_stands(path, str(error))
        if report.outcome is not FileOutcome.ANALYSED:
            return self._as_it_stands(path, report.why)
        self._library.reports.setdefault(path, report)
        return objects

    def _as_it_stands(self, path: str, why: str) -> list[KubernetesObject]:
        """The objects of a template with its tags masked, where it cannot be followed."""
        source = self._library.masked(path)
        if source is None:
            self._library.reports.setdefault(path, FileReport(path, FileOutcome.ANALYSED, why))
            return []
        objects, report = parse_objects(source)
        if report.outcome is not FileOutcome.ANALYSED:
            self._library.reports[path] = replace(report, why=f"{report.why} ({why})" if why else report.why)
        return objects


def _root(package: Package, values: Mapping[str, Any]) -> dict[str, Any]:
    """What a template finds at `$`. The cluster is taken to be a current one."""
    chart = {key[:1].upper() + key[1:]: value for key, value in package.metadata.items()}
    version = {"Version": "v1.33.0", "GitVersion": "v1.33.0", "Major": "1", "Minor": "33"}
    return {
        "Values": values,
        "Chart": {**chart, "Name": package.name},
        "Release": {
            "Name": RELEASE,
            "Namespace": "",
            "Service": "Helm",
            "IsInstall": True,
            "IsUpgrade": False,
            "Revision": 1,
        },
        "Capabilities": {"KubeVersion": version},
        "Template": {"Name": "", "BasePath": f"{package.name}/templates"},
        "Files": {},
        "Subcharts": {},
    }


def _same(some: Sequence[KubernetesObject], others: Sequence[KubernetesObject]) -> bool:
    """Whether two releases deploy the same objects."""
    return [o.node.plain() for o in some] == [o.node.plain() for o in others]


__all__ = ["Chart", "charts", "values_behind"]
