"""The routes of a configuration: every `*_pass` with what reaches it, where it leads, and how it chooses."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from sselint.facts import Evidence, Match, Route, Span, Target
from sselint.read.nginx.keys import headers_in
from sselint.read.nginx.knowledge import knowledge
from sselint.read.nginx.locations import PassPlace, passes
from sselint.read.nginx.mechanism import Decider
from sselint.read.nginx.parser import Directive
from sselint.read.nginx.pools import Pass, hidden_upstreams, resolve
from sselint.read.nginx.scopes import Scope
from sselint.read.nginx.streaming import cursor_treatment, observations
from sselint.read.nginx.upstreams import Upstream
from sselint.read.nginx.variables import Variables


def routes(
    http: Scope, variables: Variables, upstreams: Mapping[str, Upstream], chosen_by_client: Collection[str] = ()
) -> Iterator[Route]:
    """The routes under an http or stream context. `upstreams` are by lower-case name."""
    decider = Decider(variables, chosen_by_client)
    hidden = hidden_upstreams(http)
    for place in passes(http):
        forwarded = resolve(place.directive, place.scope, variables, upstreams, hidden)
        if forwarded.forwarding or not forwarded.destinations:
            yield _route(place, forwarded, decider)


def _route(place: PassPlace, forwarded: Pass, decider: Decider) -> Route:
    directive = place.directive
    affinity = decider.affinity(place, forwarded)
    pool = _pool_name(forwarded)
    routed_by = _routing_variables(place, forwarded, decider.variables)
    treatment, evidence = cursor_treatment(place, decider.variables, routed_by, affinity.evidence)
    line = directive.span()
    return Route(
        path=line.path,
        line=line.line,
        format="nginx",
        name=f"{_listener_name(place)} -> {pool}",
        pool=pool,
        members=forwarded.members,
        affinity=affinity,
        match=_match(place, forwarded),
        targets=_targets(forwarded),
        addresses=_addresses(place.server),
        resolves="all",
        last_event_id=treatment,
        last_event_id_evidence=evidence,
        observations=observations(place),
        evidence=_ancestors(place, forwarded, affinity.evidence),
    )


def _listener_name(place: PassPlace) -> str:
    server = "server"
    if place.server is not None:
        # `_` is nobody's name, and a run of them is what masks the value of a template.
        names = [n for d in place.server.own("server_name") for n in d.args if n.strip("_")]
        listens = [d.args[0] for d in place.server.own("listen") if d.args and d.args[0].strip("_")]
        server = f"server {names[0] if names else listens[0] if listens else ''}".strip()
    if place.location is None or place.location.directive is None:
        return server
    return f"{server} location {' '.join(place.location.directive.args)}"


def _pool_name(forwarded: Pass) -> str:
    names = [u.name for u in forwarded.upstreams]
    names += [d.target.host for d in forwarded.forwarding if d.target is not None and d.target.host]
    written = forwarded.directive.args[0]
    if "$" in written and names:
        return f"{written.split('://')[-1].split('/')[0]} ({', '.join(dict.fromkeys(names))})"
    return names[0] if names else written


def _targets(forwarded: Pass) -> tuple[Target, ...]:
    """Every address that is written, backups included; a name that is not known is left out."""
    found = [m.target for u in forwarded.upstreams for m in u.serving if m.target.host and "$" not in m.target.host]
    found += [d.target for d in forwarded.forwarding if d.target is not None and d.target.host]
    return tuple({(t.host, t.port): t for t in reversed(found)}.values())[::-1]


def _addresses(server: Scope | None) -> frozenset[str]:
    """The names under which another hop can reach a server: those that are real host names."""
    if server is None:
        return frozenset()
    names = {n for d in server.own("server_name") if not d.is_masked for n in d.args}
    return frozenset(n for n in names if n not in ("_", "", "localhost") and not set(n) & set("*~$") and n[0] != ".")


def _match(place: PassPlace, forwarded: Pass) -> Match:
    """The match in the paths that the server behind sees: a URI in the pass replaces the location's prefix."""
    headers = headers_in(place.conditions)
    match = replace(place.match, headers=headers)
    if place.conditions:
        match = replace(match, priority=max(match.priority - 1, 0))
    if place.location is None:
        return match
    if any("break" in d.args[-1:] or "last" in d.args[-1:] for d in place.scope.own("rewrite")):
        return replace(match, paths=())
    written = forwarded.directive.args[0]
    rest = written.split("://", 1)[-1]
    if rest.startswith("unix:"):
        uri = rest.partition(":/")[2].partition(":")[2]
    else:
        slash = rest.find("/")
        uri = "" if slash < 0 else rest[slash:]
    if not uri or forwarded.directive.name != "proxy_pass":
        return match
    if "$" in written:
        return replace(match, paths=())
    return replace(match, paths=tuple((kind, uri) for kind, _ in match.paths if kind != "regex"))


def _routing_variables(place: PassPlace, forwarded: Pass, variables: Variables) -> frozenset[str]:
    """The request variables that decide where a request of this route goes."""
    leaves = place.conditions | forwarded.value.leaves | forwarded.value.chosen_by
    for upstream in forwarded.upstreams:
        for directive in (upstream.method, upstream.sticky):
            if directive is not None and directive.name in ("hash", "sticky"):
                for argument in directive.args:
                    value = argument.partition("=")[2] if "=$" in argument else argument
                    leaves |= variables.leaves(value, place.scope)
    return leaves


def _ancestors(place: PassPlace, forwarded: Pass, decisive: Evidence) -> Evidence:
    """The ancestor chain as a pseudo config: contexts, the upstreams with their members, and the settings that hold."""
    chain: list[Directive] = list(place.scope.ancestors)
    lines: list[Directive] = chain[:1] if chain and chain[0].name in ("http", "stream") else []
    for upstream in forwarded.upstreams:
        lines += [upstream.directive, *(d for d in (upstream.method, upstream.sticky) if d is not None)]
        lines += [m.directive for m in upstream.members]
    lines += list(forwarded.value.how)
    lines += [d for d in chain if d not in lines]
    lines += [d for name in knowledge().shown for d in place.scope.inherited(name)]
    lines.append(place.directive)
    first = decisive[:1] if decisive else ()
    rest: dict[Span, None] = dict.fromkeys(d.span() for d in lines)
    return (*first, *(span for span in rest if span not in first))
