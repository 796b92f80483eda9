"""Terraform as Terraform is run: each folder that no other one calls, with the modules that it calls."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from itertools import islice

from sselint.facts import FileOutcome, FileReport, Reading
from sselint.read.terraform import cloud_run
from sselint.read.terraform.balancers import routes
from sselint.read.terraform.modules import ENDINGS, Library, Module
from sselint.read.terraform.services import Services
from sselint.source import Source, Tree

MAX_MODULES = 1_000
"""Modules that one folder may call, directly or not; each call is a module of its own."""


def read_modules(sources: Sequence[Source], tree: Tree) -> Reading:
    """The pools and routes of the folders that hold the sources: those that others call are read with each call."""
    library = Library(sources, tree)
    folders = sorted({posixpath.dirname(p) or "." for p in tree.files if p.endswith(ENDINGS)})
    found: list[list[Module]] = []
    called: set[str] = set()
    reports: list[FileReport] = []
    for folder in folders:
        module = Module(folder, library)
        group = list(islice(_with_calls(module), MAX_MODULES + 1))
        called.update(m.folder for m in group[1:])
        found.append(group)
    reading = Reading()
    for group in found:
        folder = group[0].folder
        if folder not in called:
            if len(group) > MAX_MODULES:
                reports += [_cut(s.path) for s in sources if (posixpath.dirname(s.path) or ".") == folder]
            services = Services(group, tree)
            reading += Reading(routes=tuple(routes(group, services)), pools=services.pools)
            for route, pool in (pair for module in group for pair in cloud_run.services(module, tree)):
                reading += Reading(routes=(route,), pools=(pool,))
    return reading + Reading(files=(*library.reports.values(), *reports))


def _cut(path: str) -> FileReport:
    why = f"modules call each other more than {MAX_MODULES} times, and not all calls were followed"
    return FileReport(path, FileOutcome.PARTLY, why, needed=True)


def _with_calls(module: Module) -> Iterator[Module]:
    yield module
    for _, inner in module.calls():
        yield from _with_calls(inner)
