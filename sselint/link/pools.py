"""Which pools run a stream: by evidence, strongest first.

1. the command starts the module that mounts it (`uvicorn app:app`, resolved from the pool's own folders);
2. the pool is built from the stream's unit (build context, Dockerfile);
3. the command names a module that only one application has, or the image or the pool is called like the unit;
4. last resort, named as an assumption: the unit holds exactly one server and one pool.

A pool whose command starts something else, or whose image is infrastructure, is never a candidate.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from sselint.facts import AppReference, Evidence, Pool, Stream
from sselint.link.starts import Starts
from sselint.link.units import Units, folders_above, inside, join
from sselint.read.images import merge_image
from sselint.source import Tree

_PROJECT = re.compile(
    r"^\[(?:project|tool\.poetry)\][ \t]*(?:#[^\n]*)?\r?\n"
    r"(?:[^\[\r\n][^\n]*\n|\r?\n)*?name[ \t]*=[ \t]*[\"']([\w.-]+)[\"']",
    re.MULTILINE,
)
"""The name in the first table of a pyproject.toml that has one."""

IMAGE_LEVEL = frozenset({"dockerfile", "gunicorn", "python"})
"""Formats that say how one container starts; where a platform runs the same server, they only fill in its command."""


@dataclass(frozen=True)
class PoolLink:
    """A pool that runs the stream, and why that is known."""

    pool: Pool
    why: str
    assumed: bool = False
    evidence: Evidence = ()


@dataclass(frozen=True)
class PoolLinks:
    """The pools of a stream, or the candidates where nothing decides among several."""

    links: tuple[PoolLink, ...] = ()
    candidates: tuple[str, ...] = ()


def servers(streams: Iterable[Stream]) -> frozenset[str]:
    """The files that define an application with a stream: one server each."""
    return frozenset(app.path for s in streams if s.deployable for app in s.apps)


class PoolLinker:
    """Answers which pools run a stream, for one tree."""

    def __init__(
        self, tree: Tree, units: Units, streams: Sequence[Stream], pools: Sequence[Pool], infrastructure: Sequence[str]
    ) -> None:
        self._tree = tree
        self._units = units
        self._streams = streams
        self._infrastructure = tuple(re.compile(p) for p in infrastructure)
        self._pools = tuple(p for p in pools if not self._is_infrastructure(p))
        self.starts = Starts(tree, units, self._pools)
        self._projects: dict[str, str] = {}
        self._built: dict[int, set[str]] = {}

    @property
    def pools(self) -> tuple[Pool, ...]:
        """The pools that may run a server of the tree."""
        return self._pools

    def of(self, stream: Stream) -> PoolLinks:
        """The pools of a stream."""
        possible = [p for p in self._pools if self._may_run(p, stream)]
        platforms = [p for p in possible if p.format not in IMAGE_LEVEL]
        images = [p for p in possible if p.format in IMAGE_LEVEL]
        # What one platform's files prove of it takes nothing away from another's: compose for development starts the
        # module by name, and the manifests of production name only its image.
        links = tuple(link for group in _by_format(platforms) for link in self._by_evidence(group, stream))
        of_image = tuple(link for p in images if (link := self._by_command(p, stream) or self._by_build(p, stream)))
        if not links and not stream.deployable:
            return PoolLinks()  # an example that starts itself when it is run as a script is not deployed by that
        if not links and stream.deployable:
            resort = self._last_resort(stream, platforms or ([] if of_image else images))
            if resort.candidates:
                return resort
            links = resort.links
        return PoolLinks((*links, *of_image))

    def _by_evidence(self, pools: Sequence[Pool], stream: Stream) -> tuple[PoolLink, ...]:
        """The links by the strongest kind of evidence that any of the pools has."""
        for by in (self._by_command, self._by_build, self._by_name):
            links = tuple(link for p in pools if (link := by(p, stream)))
            if links:
                return links
        return ()

    # -- what cannot be it

    def _is_infrastructure(self, pool: Pool) -> bool:
        if pool.starts or pool.build_context:
            return False
        return any(p.fullmatch(_bare(pool.image)) for p in self._infrastructure)

    def _may_run(self, pool: Pool, stream: Stream) -> bool:
        """False where the command certainly starts another application."""
        files = self.starts.files(pool)
        return (
            not files
            or any(app.path in files for app in stream.apps)
            or any(self._may_run(launch, stream) for launch in self.starts.through(pool))
        )

    # -- evidence

    def _by_command(self, pool: Pool, stream: Stream) -> PoolLink | None:
        app = self._started_app(pool, stream) or self._started_elsewhere(pool, stream)
        if app is not None:
            why = f"{pool.name} starts {pool.starts or app.path}, which is {app.path}"
            return PoolLink(pool, why, False, pool.evidence)
        for launch in self.starts.through(pool):
            app = self._started_app(launch, stream)
            if app is not None:
                script = pool.starts or " ".join(pool.command)
                why = f"{pool.name} runs {script}, which starts {launch.starts or app.path} in {launch.path}"
                return PoolLink(pool, why, False, (*pool.evidence, *launch.evidence))
        return None

    def _started_app(self, pool: Pool, stream: Stream) -> AppReference | None:
        files = self.starts.files(pool)
        _, _, attribute = (pool.starts or "").partition(":")
        attribute = re.split(r"[(.\s]", attribute)[0]
        for app in stream.apps:
            if app.path in files and (not attribute or app.attribute in ("", attribute)):
                return app
        return None

    def _started_elsewhere(self, pool: Pool, stream: Stream) -> AppReference | None:
        """The application that the command names, for a stream whose source is in another repository."""
        for app in stream.apps:
            if app.path not in self._tree.known and pool.starts in (app.module, f"{app.module}:{app.attribute}"):
                return app
        return None

    def _by_build(self, pool: Pool, stream: Stream) -> PoolLink | None:
        context = pool.build_context
        if context is None and pool.dockerfile:
            context = str(PurePosixPath(pool.dockerfile).parent)
        if context is None or (pool.starts and not self._suffix_matches(pool, stream)):
            return None
        others = servers(s for s in self._streams if inside(s.path, context))
        own = {app.path for app in stream.apps}
        if own and all(inside(p, context) for p in own) and (stream.unit == context or others <= own):
            return PoolLink(
                pool, f"{pool.name} is built from {context}, where {stream.path} stands", False, pool.evidence
            )
        return None

    def _by_name(self, pool: Pool, stream: Stream) -> PoolLink | None:
        if pool.starts and not self.starts.files(pool) and self._suffix_matches(pool, stream):
            if len({a.path for s in self._streams for a in s.apps if _is_module(a, pool)}) == 1:
                return PoolLink(pool, f"{pool.name} starts {pool.starts}, and one module of the tree is called so")
        elif pool.starts and not self.starts.files(pool):
            return None
        if stream.image and _bare(stream.image) == _bare(pool.image):
            return PoolLink(pool, f"{pool.name} runs the image {stream.image}", False, pool.evidence)
        called = self._names(pool)
        folder = PurePosixPath(stream.unit).name
        if folder and folder in called:
            return PoolLink(pool, f"{pool.name} is called like the unit {stream.unit}", False, pool.evidence)
        if self._stands_beside_another(pool, stream):
            return None
        if _bare(pool.image) and _bare(pool.image) in self._images_built(stream):
            why = f"{pool.name} runs {pool.image}, which is built from {stream.unit}"
            return PoolLink(pool, why, False, pool.evidence)
        project = self._project(stream.unit)
        if project and project in called:
            return PoolLink(pool, f"{pool.name} is called like the project {project}", False, pool.evidence)
        return None

    def _names(self, pool: Pool) -> set[str]:
        return {_bare(pool.image), *(a.rsplit("/", 1)[-1] for a in pool.addresses)} - {""}

    def _images_built(self, stream: Stream) -> set[str]:
        """The names of the images that the tree builds of this server: compose says `build` and `image` together, and
        calls the image like the service where it says `build` alone."""
        if id(stream) not in self._built:
            built = (p for p in self._pools if p.build_context is not None and self._by_build(p, stream))
            self._built[id(stream)] = {n for p in built for n in ({_bare(p.image)} if p.image else self._names(p))}
        return self._built[id(stream)]

    def _project(self, unit: str) -> str:
        """The name of the project that a unit is, as its pyproject.toml says; empty without one."""
        if unit not in self._projects:
            found = _PROJECT.search(self.starts.text(join(unit, "pyproject.toml")))
            self._projects[unit] = found[1] if found else ""
        return self._projects[unit]

    def _suffix_matches(self, pool: Pool, stream: Stream) -> bool:
        return any(_is_module(app, pool) for app in stream.apps)

    def _last_resort(self, stream: Stream, possible: Sequence[Pool]) -> PoolLinks:
        own = {app.path for app in stream.apps}
        for folder in folders_above(stream.unit):
            near = [p for p in possible if inside(p.path, folder) and not self.starts.files(p)]
            near = [p for p in near if not self._stands_beside_another(p, stream)]
            if not near:
                continue
            near = [p for p in near if not self._runs_another(p, stream)]
            if not servers(s for s in self._streams if inside(s.path, folder)) <= own:
                return PoolLinks(candidates=_titles(near))
            if len(_grouped(near)) == 1:
                where = "the tree" if folder == "." else folder
                names = " and ".join(dict.fromkeys(p.name for p in near))
                why = f"{where} holds one server ({stream.path}) and one thing that runs ({names})"
                return PoolLinks(tuple(PoolLink(p, why, True, p.evidence) for p in near))
            return PoolLinks(candidates=_titles(near))
        return PoolLinks()

    def _stands_beside_another(self, pool: Pool, stream: Stream) -> bool:
        """Whether the pool is in a unit that holds another server and not this one: a service of its own."""
        others = {s.unit for s in self._streams if s.deployable and s.apps and not inside(stream.path, s.unit)}
        return any(inside(pool.path, unit) for unit in others)

    def unclaimed(self, stream: Stream, why: str) -> tuple[tuple[PoolLink, ...], ...]:
        """The pools that run no server of the tree, those of one server together: places for one that is assumed."""
        free = [p for p in self._pools if not self.starts.files(p) and not self._runs_another(p, stream)]
        platforms = [p for p in free if p.format not in IMAGE_LEVEL] or free
        return tuple(tuple(PoolLink(p, why, True, p.evidence) for p in group) for group in _grouped(platforms))

    def _runs_another(self, pool: Pool, stream: Stream) -> bool:
        """Whether stronger evidence gives this pool to another server."""
        own = {app.path for app in stream.apps}
        others = (s for s in self._streams if not own & {a.path for a in s.apps})
        return any(self._by_command(pool, s) or self._by_build(pool, s) or self._by_name(pool, s) for s in others)


def _bare(image: str | None) -> str:
    """An image's name without registry, tag and digest."""
    return (image or "").split("@")[0].rsplit("/", 1)[-1].split(":")[0]


def _by_format(pools: Sequence[Pool]) -> list[list[Pool]]:
    """The pools of each platform."""
    groups: dict[str, list[Pool]] = {}
    for pool in pools:
        groups.setdefault(pool.format, []).append(pool)
    return list(groups.values())


def _grouped(pools: Sequence[Pool]) -> list[list[Pool]]:
    """Pools that run the same thing (one image, or one build) together; what says neither stands alone."""
    groups: dict[object, list[Pool]] = {}
    for pool in pools:
        build = (pool.build_context, pool.dockerfile) if pool.build_context else None
        groups.setdefault(build or pool.image or id(pool), []).append(pool)
    return list(groups.values())


def _titles(pools: Sequence[Pool]) -> tuple[str, ...]:
    return tuple(f"{p.name} ({p.path}:{p.line})" for p in pools)


def _is_module(app: AppReference, pool: Pool) -> bool:
    module = (pool.starts or "").partition(":")[0]
    stem = module[:-3] if module.endswith(".py") else module.replace(".", "/")
    return any(inside_end(app.path, tail) for tail in (f"{stem}.py", f"{stem}/__init__.py"))


def inside_end(path: str, tail: str) -> bool:
    """Whether a path ends with whole parts of another; `#` stands before a path in another repository."""
    return path == tail or path.endswith(("/" + tail, "#" + tail))


def merge_image_level(links: Sequence[PoolLink], tree: Tree, starts: Starts) -> tuple[PoolLink, ...]:
    """Platform pools with what the image-level ones (Dockerfile, gunicorn.conf.py, `uvicorn.run`) say of the command.

    Where no platform is in the tree, the image-level pools stand for themselves, as one: the container as written.
    """
    image_level = sorted((link for link in links if link.pool.format in IMAGE_LEVEL), key=_image_first)
    merged = [link for link in links if link.pool.format not in IMAGE_LEVEL] or image_level[:1]
    for image in image_level:
        merged = [_with_image(link, image, tree, starts) for link in merged]
    return tuple(merged)


def _with_image(link: PoolLink, image: PoolLink, tree: Tree, starts: Starts) -> PoolLink:
    """The link with what the image says, unless it is the image of something else, or a script that is not run."""
    other = link.pool.dockerfile and image.pool.dockerfile and link.pool.dockerfile != image.pool.dockerfile
    if link.pool is image.pool or other or not starts.may_run(link.pool, image.pool):
        return link
    return replace(link, pool=merge_image(link.pool, image.pool, tree))


def _image_first(link: PoolLink) -> bool:
    return link.pool.format != "dockerfile"
