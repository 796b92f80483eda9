"""Google Cloud Run services: instances that the platform scales by itself, behind its own balancer.

Defaults are those of the platform (cloud.google.com/run/docs/configuring/max-instances): none when idle, a hundred at
most, and a new revision is started before the old one stops.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sselint.facts import Count, Evidence, Pool, Rolling, Route, Setting, Target
from sselint.read.images import started
from sselint.read.terraform.affinity import documented
from sselint.read.terraform.expressions import count_of, number_of, plain, text_of
from sselint.read.terraform.hcl import Block
from sselint.read.terraform.modules import Module
from sselint.source import Tree

_KINDS = ("google_cloud_run_v2_service", "google_cloud_run_service")
_MOST = 100
_COOKIE_SECONDS = 30 * 86_400
"""How long the platform's cookie lives."""

_ANNOTATIONS = {
    "autoscaling.knative.dev/minScale": "min_instance_count",
    "autoscaling.knative.dev/maxScale": "max_instance_count",
    "run.googleapis.com/sessionAffinity": "session_affinity",
}
"""What the first version of the resource says in annotations, by the second one's names."""


def services(module: Module, tree: Tree) -> Iterator[tuple[Route, Pool]]:
    """The services of a module, each with the hop in front of its instances."""
    for address, block in module.resources(*_KINDS):
        template = next(block.of("template"), block)
        bounds, evidence = _bounds(module, block, template)
        name = text_of(module.value(block, "name")) or block.labels[1]
        pool = Pool(
            path=block.span.path,
            line=block.span.line,
            format="terraform",
            kind="replicas",
            name=f"Cloud Run service {name}",
            processes=bounds,
            rolling=Rolling.SURGE_DEFAULT,
            addresses=frozenset({address}),
            answers="each",
            evidence=(block.span, *evidence),
        )
        pool = started(_with_container(module, template, pool), tree)
        yield _route(module, block, template, pool, name), pool


def _route(module: Module, block: Block, template: Block, pool: Pool, name: str) -> Route:
    sticky = plain(_setting(module, template, "session_affinity"))
    features: dict[str, str | bool | int] = {"method": "cookie"} if str(sticky).lower() == "true" else {}
    span = template.span_of("session_affinity") if features else block.span
    seconds = _COOKIE_SECONDS if features else None
    affinity = documented("cloud_run", features, (span,), key_name="GAESA" if features else "", seconds=seconds)
    return Route(
        path=block.span.path,
        line=block.span.line,
        format="terraform",
        name=f"Cloud Run {name}",
        pool=name,
        members=pool.processes,
        affinity=affinity,
        targets=tuple(Target(a, None, block.span) for a in pool.addresses),
        resolves="all",
        evidence=(block.span, *affinity.evidence),
    )


def _setting(module: Module, template: Block, name: str) -> object:
    """A setting of the template: an attribute of the second version, an annotation of the first."""
    for scaling in template.of("scaling"):
        if name in scaling.attributes:
            return module.value(scaling, name)
    if name in template.attributes:
        return module.value(template, name)
    for metadata in template.of("metadata"):
        annotations = plain(module.value(metadata, "annotations"))
        for key, meaning in _ANNOTATIONS.items():
            if meaning == name and isinstance(annotations, dict) and key in annotations:
                return annotations[key]
    return None


def _bounds(module: Module, block: Block, template: Block) -> tuple[Count, Evidence]:
    low, high = (_setting(module, template, f"{end}_instance_count") for end in ("min", "max"))
    spans = tuple(s.span_of("max_instance_count") for s in template.of("scaling"))
    least = number_of(low) or 0
    if high is None:
        return Count(least, _MOST, f"Cloud Run scales it from {least} to {_MOST} where nothing says otherwise"), spans
    most = count_of(high, "max_instance_count")
    top = None if most.high is None else max(most.high, least)
    return Count(min(least, most.low), top, f"Cloud Run scales it from {least}; {most.why}"), spans


def _with_container(module: Module, template: Block, pool: Pool) -> Pool:
    """The first container: in the template, or in its `spec` (first version)."""
    holders = (template, *template.of("spec"))
    container = next((c for holder in holders for c in holder.of("containers")), None)
    if container is None:
        return pool
    settings = []
    for entry in container.of("env"):
        name = text_of(module.value(entry, "name"))
        if name:
            settings.append(Setting(name, text_of(module.value(entry, "value")), (entry.span,)))
    entrypoint = _words(module, container, "command")
    return replace(
        pool,
        image=text_of(module.value(container, "image")),
        command=(*entrypoint, *_words(module, container, "args")),
        entrypoint=entrypoint,
        environment=tuple(settings),
        settles_environment=True,
    )


def _words(module: Module, container: Block, name: str) -> tuple[str, ...]:
    value = plain(module.value(container, name))
    return tuple(text_of(word) or "" for word in value) if isinstance(value, list) else ()
