"""Docker compose and Swarm stacks: services as pools.

A project is what one command starts: the base file with its override, or the base with one further file laid over it,
or a file that stands alone. Each is a variant of its own where there are several.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from sselint.facts import Count, Evidence, FileOutcome, FileReport, Pool, Reading, Rolling, Setting, Truth, Volume
from sselint.read import command, shell
from sselint.read.images import started
from sselint.read.yaml_nodes import Node, readable_documents
from sselint.source import Source, Tree

_SERVICES = re.compile(r"^services[ \t]*:(?!(?:[ \t]*(?:#[^\n]*)?\r?\n)+[ \t]*-[ \t])", re.MULTILINE)
_SERVICE_FIELD = re.compile(
    r"^[ \t]+(image|build|command|ports|deploy|environment|extends|volumes|depends_on|scale|expose)[ \t]*:",
    re.MULTILINE,
)
_KUBERNETES = re.compile(r"^apiVersion:", re.MULTILINE)
_FLOW_FIELD = re.compile(r"[{,]\s*(image|build|command)\s*:")
_BASE = re.compile(r"(docker-)?compose\.ya?ml")
_OVERRIDE = re.compile(r"(docker-)?compose\.override\.ya?ml")
_EXTENDS_DEPTH = 5
_OF_THE_TASK = re.compile(r"\{\{ *\.Task\.(ID|Name|Slot) *\}\}")
"""What a swarm fills in of the task that it starts (Docker, "Create services using templates")."""
_SWARM_ONLY = ("update_config", "rollback_config", "placement", "endpoint_mode", "mode")


def looks_like(path: str, text: str) -> bool:
    """Whether this is a compose file: `services:` at the top level, and a field of a service below it."""
    if path.endswith((".py", ".sh")) or not _SERVICES.search(text) or _KUBERNETES.search(text):
        return False
    return _SERVICE_FIELD.search(text) is not None or _FLOW_FIELD.search(text) is not None


def read(sources: Sequence[Source], tree: Tree) -> Reading:
    """The pools of every service of every project under the root."""
    files: dict[str, _File] = {}
    reports: list[FileReport] = []
    for source in sources:
        found, problem = readable_documents(source)
        root = next((d for d in found if d["services"].is_mapping), None)
        if root is not None:
            files[source.path] = _File(source.path, root)
        if problem is None:
            reports.append(FileReport(source.path, FileOutcome.ANALYSED))
        else:
            reports.append(FileReport(source.path, FileOutcome.PARTLY, str(problem), needed=True, span=problem.span))
    pools = [pool for project in _projects(files) for pool in _Project(project, files, tree).pools()]
    return Reading(pools=tuple(pools), files=tuple(reports))


@dataclass(frozen=True)
class _File:
    path: str
    root: Node

    @property
    def folder(self) -> str:
        return str(PurePosixPath(self.path).parent)

    @property
    def name(self) -> str:
        return PurePosixPath(self.path).name

    @property
    def complete(self) -> bool:
        """Whether every service says what it runs: then the file stands alone."""
        services = [s for _, s in self.root["services"].items()]
        return all("image" in s or "build" in s or "extends" in s for s in services)


@dataclass(frozen=True)
class _Layers:
    """The files of one project, later ones laid over earlier ones; no `variant` where nothing is an alternative."""

    files: tuple[_File, ...]
    variant: str = ""


def _projects(files: Mapping[str, _File]) -> list[_Layers]:
    projects: list[_Layers] = []
    for folder in sorted({f.folder for f in files.values()}):
        here = [f for f in files.values() if f.folder == folder]
        bases = [f for f in here if _BASE.fullmatch(f.name)]
        overrides = [f for f in here if _OVERRIDE.fullmatch(f.name)]
        others = [f for f in here if f not in bases and f not in overrides]
        base = bases[:1]
        own = [_Layers((*base, *overrides))] if base or overrides else []
        own += [_Layers((f,) if f.complete or not base else (*base, f)) for f in others]
        # Only files that say something of the same service are alternatives; others are projects side by side.
        for project in own:
            rivals = any(_share_a_service(project, other) for other in own if other is not project)
            projects.append(replace(project, variant=project.files[-1].path if rivals else ""))
    return projects


def _share_a_service(one: _Layers, other: _Layers) -> bool:
    names = [{n for f in layers.files for n, _ in f.root["services"].items()} for layers in (one, other)]
    return bool(names[0] & names[1])


class _Project:
    """One project: its merged services, and the pools that they are."""

    def __init__(self, layers: _Layers, files: Mapping[str, _File], tree: Tree) -> None:
        self._layers = layers
        self._files = files
        self._tree = tree
        self._main = layers.files[0]
        self._environment = _env_file(tree, _join(self._main.folder, ".env")) or {}

    def pools(self) -> list[Pool]:
        names: dict[str, list[tuple[Node, Node]]] = {}
        for file in (*self._layers.files, *self._included()):
            for name, (key, service) in file.root["services"].fields.items():
                if service.is_mapping:
                    names.setdefault(name, []).append((key, service))
        return [self._pool(name, places) for name, places in names.items()]

    def _included(self) -> list[_File]:
        found: list[_File] = []
        for entry in (e for file in self._layers.files for e in file.root["include"]):
            paths = [entry.text] if entry.text else [p.text for p in entry["path"]] or [entry["path"].text]
            found += [self._files[p] for p in (_join(self._main.folder, t) for t in paths if t) if p in self._files]
        return found

    # -- one service ---------------------------------------------------------------------------------------------------

    def _pool(self, name: str, places: Sequence[tuple[Node, Node]]) -> Pool:
        layers = [layer for _, service in places for layer in self._extended(service, _EXTENDS_DEPTH)]
        service = _Service(layers)
        key = places[-1][0]
        span = key.line_span()
        count, count_evidence = self._replicas(service)
        if key.raw is not None and key.source.in_loop(key.raw.start_mark.index):
            count = Count(count.low, None, f"{count.why}, in a service that a template repeats")
        rolling, rolling_evidence = _rolling(service)
        environment, settled = self._settings(service)
        context, dockerfile = self._build(service)
        entrypoint = self._words(service.last("entrypoint"))
        words = self._words(service.last("command"))
        pool = Pool(
            path=span.path,
            line=span.line,
            format="compose",
            kind="replicas",
            name=f"service {name}",
            processes=count,
            rolling=rolling,
            rolling_evidence=rolling_evidence,
            addresses=frozenset(_addresses(name, service)),
            answers="each" if _resolves_to_each(service) else "one",
            command=(*entrypoint, *words),
            entrypoint=entrypoint,
            image=self._interpolated(service.last("image").text),
            build_context=context,
            dockerfile=dockerfile,
            environment=environment,
            settles_environment=settled,
            volumes=tuple(_volumes(service, self._main.folder)),
            variant=self._variant(service),
            evidence=(span, *count_evidence),
        )
        folder = service.last("working_dir").text
        pool = started(pool, self._tree, folder)
        return replace(pool, app_directory=pool.app_directory or folder)

    def _variant(self, service: _Service) -> str:
        """A service with profiles runs only where somebody asks for one of them."""
        profiles = ", ".join(p.text for p in service.each("profiles") if p.text)
        if not profiles:
            return self._layers.variant
        return f"{self._layers.variant or self._main.path} (profile {profiles})"

    def _extended(self, service: Node, depth: int) -> list[Node]:
        """The service that this one extends, if any, in front of it."""
        extends = service["extends"]
        name = extends.text or extends["service"].text
        if not name or depth == 0:
            return [service]
        file = extends["file"].text
        here = next((f for f in self._files.values() if f.path == service.source.path), self._main)
        other = self._files.get(_join(here.folder, file)) if file else here
        base = other.root["services"][name] if other else Node(service.source, None)
        return [*(self._extended(base, depth - 1) if base.is_mapping else []), service]

    def _replicas(self, service: _Service) -> tuple[Count, Evidence]:
        if (service.at("deploy", "mode").text or "") in ("global", "global-job"):
            node = service.at("deploy", "mode")
            return Count.unknown("one on each node of the swarm"), (node.span("one on each node"),)
        for node, what in ((service.at("deploy", "replicas"), "deploy.replicas"), (service.last("scale"), "scale")):
            if node:
                return self._number(node, what), (node.span(what),)
            if node.is_masked:
                return Count.unknown(f"{what} comes from a template"), (node.span(what),)
        return Count.exactly(1, "a compose service is one container unless something scales it"), ()

    def _number(self, node: Node, what: str) -> Count:
        text = node.text
        if text is None:
            return Count.unknown(f"{what} comes from a template")
        plain = node.number
        if plain is not None:
            return Count.exactly(plain, f"{what} is {plain}")
        return command.number(text, what, self._environment)

    def _interpolated(self, text: str | None) -> str | None:
        """A value with `${VAR:-default}` replaced and `$$` unescaped; as written where a variable is not known."""
        if text is None or "$" not in text:
            return text
        parts = [(part, shell.expand(part, self._environment)[0]) for part in text.split("$$")]
        return "$".join(part if expanded is None else expanded for part, expanded in parts)

    def _words(self, node: Node) -> tuple[str, ...]:
        """A command: a list of words, or text that is split without a shell. `$$` is a dollar for the container."""
        if node.is_sequence:
            return tuple(command.TEMPLATED if n.is_masked else self._interpolated(n.text) or "" for n in node)
        if node.is_masked:
            return (command.TEMPLATED,)
        return tuple(shell.split(self._interpolated(node.text) or "")) if node.text else ()

    def _build(self, service: _Service) -> tuple[str | None, str | None]:
        build = service.last("build")
        if not build or service.main is None:
            return None, None
        folder = str(PurePosixPath(self._main.path).parent)
        context = self._interpolated(build.text or build["context"].text) or "."
        if "://" in context or context.startswith(("git@", "/")):
            return None, None
        context = _join(folder, context)
        if build["dockerfile_inline"]:
            return context, None
        return context, _join(context, build["dockerfile"].text or "Dockerfile")

    # -- environment ---------------------------------------------------------------------------------------------------

    def _settings(self, service: _Service) -> tuple[tuple[Setting, ...], bool]:
        """The variables of the container, and whether they are all of them."""
        settings: dict[str, Setting] = {}
        settled = True
        for entry in service.each("env_file"):
            path = _join(self._main.folder, self._interpolated(entry.text or entry["path"].text) or "")
            values = _env_file(self._tree, path)
            settled &= values is not None
            settings.update((n, Setting(n, v, (entry.span(),))) for n, v in (values or {}).items())
        for layer in service.layers:
            settings.update((s.name, s) for s in self._own_settings(layer["environment"]))
        return tuple(settings.values()), settled

    def _own_settings(self, node: Node) -> Iterable[Setting]:
        if node.is_mapping:
            for name, (key, value) in node.fields.items():
                of_the_task = _OF_THE_TASK.search(value.written) is not None
                yield Setting(name, self._value(value.text) if value else None, (key.line_span(),), of_the_task)
        for item in node:
            of_the_task = _OF_THE_TASK.search(item.written) is not None
            text = item.written.strip("\"'") if of_the_task else item.text or ""
            name, equals, written = text.partition("=")
            if name:
                known = self._value(written) if equals and not of_the_task else None
                yield Setting(name, known, (item.span(),), of_the_task)

    def _value(self, text: str | None) -> str | None:
        """A value of a variable, None where it depends on one that is not known."""
        if text is None or "$" not in text:
            return text
        parts = [shell.expand(part, self._environment)[0] for part in text.split("$$")]
        return None if None in parts else "$".join(p or "" for p in parts)


@dataclass(frozen=True)
class _Service:
    """A service as the layers that say something of it, the strongest last."""

    layers: Sequence[Node]

    @property
    def main(self) -> Node | None:
        return self.layers[-1] if self.layers else None

    def last(self, key: str) -> Node:
        """The strongest value of a field."""
        return next((layer[key] for layer in reversed(self.layers) if key in layer), _nothing(self.layers))

    def at(self, *path: str) -> Node:
        """The strongest value of a field inside mappings, which compose merges."""
        found = (layer.at(*path) for layer in reversed(self.layers))
        return next((n for n in found if n.raw is not None), _nothing(self.layers))

    def each(self, key: str) -> Iterable[Node]:
        """The entries of a list field of every layer, which compose appends; a single scalar is a list of one."""
        for layer in self.layers:
            node = layer[key]
            yield from node if node.is_sequence else ([node] if node else [])


def _nothing(layers: Sequence[Node]) -> Node:
    return Node(layers[0].source, None)


def _rolling(service: _Service) -> tuple[Rolling, Evidence]:
    order = service.at("deploy", "update_config", "order")
    if order.text == "start-first":
        return Rolling.SURGE_WRITTEN, (order.span("the new task starts before the old one stops"),)
    # compose recreates a container in place, and a swarm update stops first by default (docs: update_config.order).
    return Rolling.REPLACED, ((order.span("the old task stops first"),) if order else ())


def _addresses(name: str, service: _Service) -> Iterable[str]:
    yield name
    for key in ("container_name", "hostname"):
        text = service.last(key).text
        if text:
            yield text
    for layer in service.layers:
        for _, network in layer["networks"].items():
            yield from (a.text for a in network["aliases"] if a.text)
    if _is_swarm(service):
        yield f"tasks.{name}"


def _is_swarm(service: _Service) -> bool:
    return any(service.at("deploy", key) for key in _SWARM_ONLY)


def _resolves_to_each(service: _Service) -> bool:
    """A compose name resolves to every container; a swarm service to one virtual address, unless it says dnsrr."""
    return not _is_swarm(service) or service.at("deploy", "endpoint_mode").text == "dnsrr"


def _volumes(service: _Service, folder: str) -> Iterable[Volume]:
    swarm = _is_swarm(service)
    for entry in service.each("volumes"):
        if entry.is_mapping:
            source, target, kind = entry["source"].text, entry["target"].text, entry["type"].text or "volume"
        else:
            parts = re.split(r":(?![\\/]{2})", entry.text or "")
            source, target = (parts[0], parts[1]) if len(parts) > 1 else (None, parts[0])
            kind = "bind" if source and source[0] in "./~$" else "volume"
        if target:
            bound = _join(folder, source) if kind == "bind" and source and source.startswith(".") else None
            yield Volume(target, *_shared(kind, source, swarm), (entry.span(),), bound)
    for entry in service.each("tmpfs"):
        if entry.text:
            yield Volume(entry.text.split(":")[0], Truth.NO, "a tmpfs is each container's own", (entry.span(),))


def _shared(kind: str, source: str | None, swarm: bool) -> tuple[Truth, str]:
    if kind == "tmpfs" or not source:
        return Truth.NO, "an anonymous volume or tmpfs is each container's own"
    if swarm:
        return Truth.UNKNOWN, f"{source} is shared only by the tasks of one node, unless its driver is a network one"
    return Truth.YES, f"every container of the service mounts {source} on the same host"


def _env_file(tree: Tree, path: str) -> dict[str, str | None] | None:
    """The variables of an env file of the tree, None if it is not there."""
    if path not in tree.known:
        return None
    try:
        text = tree.text(path)
    except OSError:
        return None
    values: dict[str, str | None] = {}
    for line in text[: shell.MAX_CHARACTERS].splitlines():
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        if equals and not name.startswith("#"):
            value = value.strip()
            quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
            values[name.strip()] = value[1:-1] if quoted else re.split(r"\s#", value)[0].strip()
    return values


def _join(folder: str, name: str) -> str:
    return command.join(folder, name) or "."
