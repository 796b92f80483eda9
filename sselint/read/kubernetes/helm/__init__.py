"""Helm charts: the objects that a chart deploys with each set of values that stands beside it.

`values.yaml` is what everybody gets who says nothing; each further values file of the chart's folder is an alternative,
laid over it. Subcharts are read with what their parent passes on. A template that cannot be followed is read as it
stands, its tags masked.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sselint.facts import FileOutcome, FileReport
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
    files: tuple[FileReport, ...]


def charts(sources: Sequence[Source], tree: Tree) -> tuple[list[Chart], list[Source]]:
    """The charts under the root, one for each set of values, and the sources that belong to none."""
    folders = sorted({posixpath.dirname(p) or "." for p in tree.files if _CHART.search(p)})
    rest = [s for s in sources if not any(_is_template(s.path, f) or s.path in _metadata(f) for f in folders)]
    made: list[Chart] = []
    for folder in folders:
        if not any(_is_subchart(folder, other) for other in folders):
            made.extend(_Charts(folder, folders, sources, tree).alternatives())
    return made, rest


def _metadata(folder: str) -> tuple[str, ...]:
    return tuple(_join(folder, name) for name in ("Chart.yaml", "Chart.yml"))


def _join(folder: str, name: str) -> str:
    return name if folder == "." else f"{folder}/{name}"


def _is_template(path: str, folder: str) -> bool:
    return path.startswith(_join(folder, "templates/"))


def _is_subchart(folder: str, parent: str) -> bool:
    return folder != parent and folder.startswith(_join(parent, "charts/"))


@dataclass
class _Package:
    """One chart of a release: its folder, the name that its parent knows it by, and its metadata."""

    folder: str
    name: str
    metadata: Mapping[str, Any]
    values: Mapping[str, Any]
    subcharts: list[_Package] = field(default_factory=list)


class _Charts:
    """A chart with its subcharts, and the releases that it makes."""

    def __init__(self, folder: str, folders: Sequence[str], sources: Sequence[Source], tree: Tree) -> None:
        self._folder = folder
        self._tree = tree
        self._folders = folders
        self._sources = {s.path: s for s in sources if s.origin is None}
        self._places = Places()
        self._reports: dict[str, FileReport] = {}
        self._templates: dict[str, Template | None] = {}

    def alternatives(self) -> Iterator[Chart]:
        """The release with the chart's own values, and one with each further values file laid over them."""
        package = self._package(self._folder)
        over = self._values_files()
        kept: list[tuple[str, list[KubernetesObject]]] = []
        for path in ["", *over][: MAX_ALTERNATIVES + 1]:
            extra = self._values(path) if path else {}
            name = posixpath.basename(path) if path else "values.yaml"
            variant = f"{self._folder} ({name})" if over else ""
            objects = [replace(o, variant=variant) for o in self._release(package, extra)]
            if not path or not any(_same(objects, before) for _, before in kept):
                kept.append((variant, objects))
        for number, (_, objects) in enumerate(kept):
            lone = [replace(o, variant="") for o in objects] if len(kept) == 1 else objects
            yield Chart(tuple(lone), tuple(self._reports.values()) if number == 0 else ())

    def _values_files(self) -> list[str]:
        """Values files beside the chart's own, or in a folder of that name. Those in `ci/` are what chart-testing
        installs, and nobody else."""
        own = "" if self._folder == "." else self._folder
        found = []
        for path in self._tree.files:
            folder, name = posixpath.split(path)
            beside = folder == own and _VALUES.match(name)
            inside = folder == _join(self._folder, "values") and name.endswith((".yaml", ".yml"))
            if (beside or inside) and not _SECRET.search(name):
                found.append(path)
        return found

    # -- packages ------------------------------------------------------------------------------------------------------

    def _package(self, folder: str) -> _Package:
        metadata = self._values(next((p for p in _metadata(folder) if p in self._tree.known), ""))
        name = str(metadata.get("name") or posixpath.basename(folder))
        values = self._values(_join(folder, "values.yaml")) or self._values(_join(folder, "values.yml"))
        inner = [f for f in self._folders if _is_subchart(f, folder) and "/" not in f[len(_join(folder, "charts/")) :]]
        return _Package(folder, name, metadata, values, [self._package(f) for f in inner])

    def _values(self, path: str) -> dict[str, Any]:
        """A YAML file as a mapping; empty where there is none. A problem with it is reported."""
        if path not in self._tree.known:
            return {}
        try:
            found = documents(Source(path, self._tree.text(path), "kubernetes"))
        except UnreadableYamlError as problem:
            self._reports[path] = FileReport(path, FileOutcome.PARTLY, str(problem), needed=True, span=problem.span)
            return {}
        except OSError:
            return {}
        self._reports.setdefault(path, FileReport(path, FileOutcome.ANALYSED))
        made = construct(found[0], self._places) if found else {}
        return made if isinstance(made, dict) else {}

    # -- a release -----------------------------------------------------------------------------------------------------

    def _release(self, package: _Package, extra: Mapping[str, Any]) -> list[KubernetesObject]:
        defined: dict[str, tuple[TemplateNode, ...]] = {}
        for folder in [f for f in self._folders if _is_subchart(f, self._folder)] + [self._folder]:
            for path in self._template_files(folder):
                template = self._template(path)
                defined.update(template.defined if template else {})
        return list(self._objects(package, merged(package.values, extra, self._places), defined))

    def _objects(
        self, package: _Package, values: Mapping[str, Any], defined: Mapping[str, tuple[TemplateNode, ...]]
    ) -> Iterator[KubernetesObject]:
        for sub in package.subcharts:
            given = values.get(sub.name)
            given = given if isinstance(given, dict) else {}
            if not _enabled(package, sub, values):
                continue
            shared = values.get("global")
            passed = merged(sub.values, given, self._places)
            if isinstance(shared, dict):
                passed = merged(passed, {"global": shared}, self._places)
            yield from self._objects(sub, passed, defined)
        if package.metadata.get("type") == "library":
            return
        renderer = Renderer(_root(package, values), defined, self._reader(package.folder), self._places)
        for path in self._template_files(package.folder):
            hook = path.startswith(_join(package.folder, "templates/tests/"))
            if not hook and not posixpath.basename(path).startswith("_") and path.endswith((".yaml", ".yml", ".tpl")):
                yield from self._printed(path, renderer)

    def _printed(self, path: str, renderer: Renderer) -> list[KubernetesObject]:
        template = self._template(path)
        source = self._raw(path)
        if template is None or source is None:
            return self._as_it_stands(path, self._reports[path].why)
        try:
            objects, report = parse_objects(renderer.render(template, source))
        except (TemplateError, RecursionError) as error:
            return self._as_it_stands(path, str(error))
        if report.outcome is not FileOutcome.ANALYSED:
            return self._as_it_stands(path, report.why)
        self._reports.setdefault(path, report)
        return objects

    def _as_it_stands(self, path: str, why: str) -> list[KubernetesObject]:
        """The objects of a template with its tags masked, where it cannot be followed."""
        source = self._sources.get(path)
        if source is None:
            self._reports.setdefault(path, FileReport(path, FileOutcome.ANALYSED))
            return []
        objects, report = parse_objects(source)
        if report.outcome is not FileOutcome.ANALYSED:
            self._reports[path] = replace(report, why=f"{report.why} ({why})" if why else report.why)
        return objects

    def _template_files(self, folder: str) -> list[str]:
        return [p for p in self._tree.files if _is_template(p, folder)]

    def _template(self, path: str) -> Template | None:
        if path not in self._templates:
            source = self._raw(path)
            try:
                self._templates[path] = parse(source.text) if source else None
            except (TemplateError, RecursionError) as error:
                self._templates[path] = None
                self._reports[path] = FileReport(path, FileOutcome.ANALYSED, str(error))
        return self._templates[path]

    def _raw(self, path: str) -> Source | None:
        try:
            return Source(path, self._tree.text(path), "kubernetes", self._folder)
        except OSError:
            return None

    def _reader(self, folder: str) -> Any:
        def read(name: str) -> str | None:
            path = posixpath.normpath(_join(folder, name))
            if path not in self._tree.known or not (folder == "." or path.startswith(folder + "/")):
                return None
            try:
                return self._tree.text(path)
            except OSError:
                return None

        return read


def _enabled(package: _Package, sub: _Package, values: Mapping[str, Any]) -> bool:
    """Whether the parent switches a subchart on: by the `condition` of its dependency, on if that says nothing."""
    dependencies = package.metadata.get("dependencies")
    for dependency in dependencies if isinstance(dependencies, list) else []:
        if isinstance(dependency, dict) and dependency.get("name") == sub.name:
            for path in str(dependency.get("condition") or "").split(","):
                found: Any = values
                for part in path.strip().split("."):
                    found = found.get(part) if isinstance(found, dict) else None
                if isinstance(found, bool):
                    return found
    return True


def _root(package: _Package, values: Mapping[str, Any]) -> dict[str, Any]:
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
