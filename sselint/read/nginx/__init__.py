"""nginx configurations as facts: main files, fragments, `nginx -T` dumps, text lifted out of ConfigMaps."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Sequence

from sselint.facts import FileOutcome, FileReport, Reading, Route
from sselint.read.nginx.includes import Configuration, Library, configurations, is_dump
from sselint.read.nginx.parser import Directive
from sselint.read.nginx.routes import routes
from sselint.read.nginx.scopes import Scope, roots
from sselint.read.nginx.upstreams import Upstream, upstream_of
from sselint.read.nginx.variables import Variables
from sselint.source import Source, Tree

_TELLING = re.compile(
    r"^[ \t]*(?:(?:proxy|grpc|uwsgi|scgi|fastcgi)_pass[ \t]+[^\s;=(]+[ \t]*;|upstream[ \t]+[^\s;{}=(]+[ \t\n]*\{"
    r"|location[ \t]+[^;{}()]{0,200}\{|server[ \t]*\{[^=:{}]*?\n[ \t]*listen[ \t]+[^;={}\n]{1,200};"
    r"|(?:proxy|grpc)_set_header[ \t]+\S+[ \t]+[^;\n]+;)",
    re.M,
)
_BLOCK_PASS = re.compile(r"\{[^{}]*\b(?:proxy|grpc|uwsgi|scgi|fastcgi)_pass[ \t]+[^\s;=(]+[ \t]*;")
_TEMPLATE_LINE = re.compile(r"\{[{%#].*[}%#]\}\s*$|\{#|\{\{-?/\*|.*#\}$")
_YAML_LINE = re.compile(r"""(?:- )*(?:[\w.\"'/-]+|"[^"]*"|'[^']*'):(?: |$)|- [|>][-+\d]*$|---""")
_ENOUGH_LINES = 200


def looks_like(path: str, text: str) -> bool:
    """Whether a text is nginx configuration: it has a directive that tells, and its lines end as nginx's do.

    A YAML file with nginx text in it is not (the text that is lifted out of it is), nor is a document that shows some.
    """
    if not (_TELLING.search(text) or _BLOCK_PASS.search(text)):
        return False
    if is_dump(text):
        return True
    lines = [line.split("#")[0].strip() if not line.lstrip().startswith("#!") else line for line in text.splitlines()]
    lines = [line for line in lines if line and not _TEMPLATE_LINE.match(line)][:_ENOUGH_LINES]
    if not lines or lines[0].startswith(("#!", "<", "import ", "from ", '{"')) or _YAML_LINE.match(lines[0]):
        return False
    return sum(line[-1] in ";{}" for line in lines) >= 0.6 * len(lines)


def read(sources: Sequence[Source], tree: Tree) -> Reading:
    """Routes of all nginx configurations among `sources`, with a report for each file.

    Nothing outside `tree` is opened. Problems of a file are in its report; nothing is raised.
    """
    return read_knowing(sources, tree, ())


def read_knowing(sources: Sequence[Source], tree: Tree, chosen_by_client: Collection[str]) -> Reading:
    """As `read`, where clients are known to set some request variables themselves ("cookie_CLIENTID")."""
    library = Library(sources, tree)
    found = configurations(library)
    shared = _Names(found)
    made: list[Route] = []
    reports: dict[str, FileReport] = {}
    for configuration in found:
        try:
            own = list(_routes_of(configuration, shared, chosen_by_client))
        except Exception as error:  # one file must not end the run
            why = f"{type(error).__name__}: {error}"
            reports[configuration.root.source.path] = FileReport(
                configuration.root.source.path, FileOutcome.INTERNAL_ERROR, why, needed=True
            )
            continue
        made += own
        _report(configuration, bool(own), reports)
    return Reading(routes=tuple(dict.fromkeys(made)), files=tuple(reports[path] for path in sorted(reports)))


class _Names:
    """Upstreams and variables of all configurations: a fragment may use what stands in a file beside it."""

    def __init__(self, found: Sequence[Configuration]) -> None:
        self._upstreams: dict[tuple[str, str], dict[str, list[Upstream]]] = {}
        self._variables: dict[str, Variables] = {}
        for configuration in found:
            folder = posixpath.dirname(configuration.root.source.path)
            places = (folder,) if configuration.is_complete else (folder, "*")
            for scope in roots(configuration.directives):
                self._variables.setdefault(folder, Variables()).learn(scope.children)
                for place in places:
                    names = self._upstreams.setdefault((scope.kind, place), {})
                    for upstream in upstreams_in(scope):
                        names.setdefault(upstream.name.lower(), []).append(upstream)

    def upstreams(self, scope: Scope, configuration: Configuration) -> dict[str, Upstream]:
        """By name: the configuration's own; for one that is not complete, else that of a file in its folder, else the
        only one in the tree."""
        own = {u.name.lower(): u for u in upstreams_in(scope)}
        if configuration.is_complete:
            return own
        folder = posixpath.dirname(configuration.root.source.path)
        found = {n: us[0] for n, us in self._upstreams.get((scope.kind, "*"), {}).items() if len(us) == 1}
        found.update({n: us[0] for n, us in self._upstreams.get((scope.kind, folder), {}).items()})
        return found | own

    def variables(self, scope: Scope, configuration: Configuration) -> Variables:
        """The configuration's own; for one that is not complete, behind them those of the files in its folder."""
        own = Variables()
        own.learn(scope.children)
        if configuration.is_complete:
            return own
        beside = self._variables.get(posixpath.dirname(configuration.root.source.path), Variables())
        return Variables({**beside.tables, **own.tables})


def upstreams_in(scope: Scope) -> tuple[Upstream, ...]:
    """The upstream blocks of an http or stream context."""
    return tuple(upstream_of(d) for d in scope.children if d.name == "upstream" and d.block is not None and d.args)


def _routes_of(configuration: Configuration, shared: _Names, chosen_by_client: Collection[str]) -> list[Route]:
    made: list[Route] = []
    for scope in roots(configuration.directives):
        variables, upstreams = shared.variables(scope, configuration), shared.upstreams(scope, configuration)
        made += routes(scope, variables, upstreams, chosen_by_client)
    return made


def _report(configuration: Configuration, has_routes: bool, reports: dict[str, FileReport]) -> None:
    """What became of the files of a configuration. Missing includes matter where routes are at stake."""
    for file in configuration.files:
        path = file.source.path
        if path not in reports:
            reports[path] = FileReport(path, FileOutcome.ANALYSED)
    for problem in configuration.problems:
        _worse(reports, FileReport(problem.span.path, FileOutcome.PARTLY, problem.why, has_routes, problem.span))
    for missing in configuration.missing:
        why = f'include "{missing.pattern}" is not in the tree'
        needed = missing.certain and has_routes
        _worse(reports, FileReport(missing.span.path, FileOutcome.PARTLY, why, needed, missing.span))


def _worse(reports: dict[str, FileReport], report: FileReport) -> None:
    """Keeps one report a file: the first trouble that a deployment needs, else the first one."""
    known = reports.get(report.path)
    if known is None or known.outcome is FileOutcome.ANALYSED or (report.needed and not known.needed):
        reports[report.path] = report


__all__ = ["Directive", "looks_like", "read", "read_knowing"]
