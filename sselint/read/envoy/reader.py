"""From Envoy sources to routes: collects the resources of all files, joins them by name, reads what leads somewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from sselint.facts import FileOutcome, FileReport, Reading, Route
from sselint.read.envoy.clusters import Clusters
from sselint.read.envoy.resources import Names, Resources, collect
from sselint.read.envoy.routes import Manager, RouteReader
from sselint.read.yaml_nodes import Node, readable_documents
from sselint.source import Source

Job = Callable[[], Iterable[Route]]


def read_all(sources: Sequence[Source]) -> Reading:
    """The routes in the sources, and what became of each file."""
    everything = Resources()
    reports: dict[str, FileReport] = {}
    for source in sources:
        found, problem = readable_documents(source)
        everything.add(collect(found))
        if problem is None:
            reports.setdefault(source.path, FileReport(source.path, FileOutcome.ANALYSED))
        else:
            outcome = FileOutcome.PARTLY if found else FileOutcome.UNREADABLE
            reports[source.path] = FileReport(source.path, outcome, str(problem), needed=True, span=problem.span)
    routes: list[Route] = []
    for node, job in _jobs(everything):
        try:  # a bug that one resource brings out must not hide the others
            routes.extend(job())
        except Exception as error:
            path = node.source.path
            why = f"{type(error).__name__}: {error}"
            reports[path] = FileReport(path, FileOutcome.INTERNAL_ERROR, why, needed=True, span=node.line_span())
    return Reading(routes=tuple(routes), files=tuple(reports.values()))


def _jobs(found: Resources) -> Iterator[tuple[Node, Job]]:
    """What is to be read, outermost first. A route configuration that a listener names is read with that listener; a
    cluster alone says something only where no route is in the tree at all."""
    clusters = Clusters(Names(found.clusters, "name"), Names(found.assignments, "cluster_name"))
    reader = RouteReader(clusters, Names(found.tables, "name"))
    for listener in found.listeners:
        yield listener, partial(reader.listener, listener)
    for manager in found.managers:
        yield manager, partial(reader.manager, Manager(manager, "http connection manager"))
    for entry in found.sessions:
        yield entry, partial(reader.lone_filter, entry)
    for table in found.tables:
        if id(table.raw) not in reader.used_tables:
            yield table, partial(reader.table, table)
    for host in found.hosts:
        yield host, partial(reader.host, host, Node(host.source, None), None)
    if not (found.listeners or found.managers or found.tables or found.hosts):
        for cluster in found.clusters:
            yield cluster, partial(_one, reader, cluster)


def _one(reader: RouteReader, cluster: Node) -> Iterator[Route]:
    yield reader.bare_cluster(cluster)
