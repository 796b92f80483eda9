"""From the text of a route to the measured row that speaks of it (rules/affinity/nginx.yaml), and what undoes it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from sselint.affinity import Features, find_row, judge_row
from sselint.catalogue import affinity_rows
from sselint.facts import (
    Affinity,
    Evidence,
    KeyCarrier,
    KeyIssuer,
    RoutingEvent,
    RoutingKey,
    Span,
    Strength,
)
from sselint.read.nginx.keys import RoutingKeyKind, combined
from sselint.read.nginx.locations import PASSES, PassPlace, location_of, passes_in
from sselint.read.nginx.parser import Directive
from sselint.read.nginx.pools import Destination, Pass
from sselint.read.nginx.scopes import Scope, seconds, value_of
from sselint.read.nginx.upstreams import KEYLESS, Upstream
from sselint.read.nginx.variables import Variables

LEARN_TIMEOUT_SECONDS = 600.0
"""nginx.org, "sticky learn": timeout defaults to 10 minutes."""

_ISSUERS = {
    "proxy": KeyIssuer.PROXY,
    "server": KeyIssuer.SERVER,
    "cursor": KeyIssuer.SERVER,
    "client": KeyIssuer.CLIENT,
    "address": KeyIssuer.ADDRESS,
}


_ANSWERED_WELL = frozenset({"=", "=200"})
"""What makes an error_page's answer the other location's own, or a good one."""


@dataclass
class _Found:
    """What a route's text says of its affinity, before the measured row is looked up."""

    features: dict[str, str | bool | int]
    name: str = ""
    carrier: KeyCarrier | None = None
    lifetime: str = "none"
    seconds: float | None = None
    evidence: list[Span] = field(default_factory=list)
    undone_by: list[Span] = field(default_factory=list)
    no_effect: list[Span] = field(default_factory=list)


@dataclass(frozen=True)
class Decider:
    """Decides the affinity of routes. `chosen_by_client` are request variables ("cookie_CLIENTID") that the clients are
    known to set themselves; every other cookie is taken to come from the server."""

    variables: Variables
    chosen_by_client: Collection[str] = ()

    def affinity(self, place: PassPlace, forwarded: Pass) -> Affinity:
        """The affinity of one `*_pass`."""
        why = _unknown_because(forwarded)
        if why:
            return _unknown(why, (place.directive.span(),))
        candidates = self._candidates(place, forwarded)
        return min(candidates, key=_weakness)

    def _candidates(self, place: PassPlace, forwarded: Pass) -> list[Affinity]:
        """The affinity of the choice among destinations, or of each destination: the weakest of them decides."""
        if self._is_choice(forwarded):
            return [self._judged(self._of_choice(place, forwarded), place)]
        made = [self._judged(self._of_upstream(u, place), place) for u in forwarded.upstreams]
        if any(d.target is not None for d in forwarded.forwarding):
            made.append(self._judged(self._of_host(forwarded), place))
        return made

    # -- the choice among upstreams

    def _is_choice(self, forwarded: Pass) -> bool:
        """Whether a key picks one process: several destinations, and those that a key picks stand for one address."""
        picked = [d for d in forwarded.forwarding if not d.choice.default]
        places = {d.upstream.name if d.upstream else str(d.target) for d in forwarded.forwarding}
        chosen = bool(forwarded.value.how) or any(d.by_name for d in picked)
        return chosen and len(places) > 1 and all(_has_one_primary(d) for d in picked)

    def _of_choice(self, place: PassPlace, forwarded: Pass) -> _Found:
        how = [h.name for h in forwarded.value.how]
        named = frozenset() if how else self.variables.leaves(forwarded.authority, place.scope)
        key = combined(forwarded.value.chosen_by | named, self.chosen_by_client)
        picked = [d for d in forwarded.forwarding if not d.choice.default]
        fallback = _failure_page(place.scope)
        backups = [m.directive for d in picked if d.upstream for m in d.upstream.backups]
        defaults = [d for d in forwarded.destinations if d.choice.default]
        pool = [d for d in defaults if not d.refused and not _has_one_primary(d)]
        issued = _cookie_issued_here(place.scope, key)
        found = _Found(
            {
                "method": "split" if how[:1] == ["split_clients"] else "choice",
                "key": "proxy" if issued is not None else key.issuer,
                "carrier": key.carrier.value,
                "failure": "page" if fallback else "backup" if backups else "error",
                "by_name": any(d.by_name for d in picked),
            },
            name=key.name,
            carrier=key.carrier,
            evidence=[h.span() for h in forwarded.value.how],
        )
        if key.carrier is KeyCarrier.COOKIE:
            found.lifetime, found.seconds = _cookie_lifetime(issued)
        if fallback is not None:
            found.undone_by.append(fallback.span("error_page sends the request on when the upstream fails"))
        found.undone_by += [b.span("a backup server takes over") for b in dict.fromkeys(backups)]
        note = "a key that no entry names goes to a shared pool"
        found.undone_by += [d.choice.via.span(note) for d in pool if d.choice.via is not None]
        return found

    # -- one upstream

    def _of_upstream(self, upstream: Upstream, place: PassPlace) -> _Found:
        if upstream.sticky is not None:
            found = self._of_sticky(upstream, upstream.sticky, place.scope)
        elif upstream.method is not None and upstream.method.name == "hash":
            found = self._of_hash(upstream.method, place.scope)
        else:
            found = self._of_method(upstream)
        for directive in upstream.overridden:
            if directive.name in ("hash", "ip_hash", "sticky") and upstream.method is not None:
                found.no_effect.append(directive.span(f"{upstream.method.name} after it replaces it"))
        self._add_retries(found, upstream, place)
        return found

    def _of_method(self, upstream: Upstream) -> _Found:
        method = upstream.method.name if upstream.method else "round_robin"
        features: dict[str, str | bool | int] = {"method": method}
        if method in KEYLESS and len(upstream.primaries) == 1 and upstream.primaries[0].certain and upstream.backups:
            features["method"] = "active_backup"
        where = upstream.method or upstream.directive
        return _Found(features, carrier=None, evidence=[where.span()])

    def _of_hash(self, method: Directive, scope: Scope) -> _Found:
        key = combined(self.variables.leaves(method.args[0] if method.args else "", scope), self.chosen_by_client)
        consistent = "consistent" in method.args[1:]
        found = _Found(
            {"method": "hash", "key": key.issuer, "carrier": key.carrier.value, "consistent": consistent},
            name=key.name,
            carrier=key.carrier,
            evidence=[method.span()],
        )
        if key.issuer == "constant":
            found.no_effect.append(method.span("the key is the same for every request"))
        return found

    def _of_sticky(self, upstream: Upstream, sticky: Directive, scope: Scope) -> _Found:
        kind = sticky.args[0] if sticky.args else ""
        if kind == "cookie" and len(sticky.args) > 1:
            return self._of_sticky_cookie(sticky)
        if kind == "route" and len(sticky.args) > 1:
            return self._of_sticky_route(upstream, sticky, scope)
        if kind == "learn":
            return self._of_sticky_learn(upstream, sticky, scope)
        return _Found({"method": "unknown_sticky"}, evidence=[sticky.span()])

    def _of_sticky_cookie(self, sticky: Directive) -> _Found:
        found = _Found({"method": "sticky_cookie"}, sticky.args[1], KeyCarrier.COOKIE, "session", None, [sticky.span()])
        if (expires := value_of(sticky, "expires")) is not None:
            found.lifetime = "expires"
            found.seconds = None if expires == "max" else seconds(expires)
        return found

    def _of_sticky_route(self, upstream: Upstream, sticky: Directive, scope: Scope) -> _Found:
        leaves = frozenset().union(*(self.variables.leaves(arg, scope) for arg in sticky.args[1:]))
        key = combined(leaves, self.chosen_by_client)
        issued = _cookie_issued_here(scope, key)
        if not any(m.route for m in upstream.members):
            found = self._of_method(upstream)
            found.no_effect.append(sticky.span("no server of the upstream has a route="))
            return found
        issuer = "proxy" if issued is not None else key.issuer
        found = _Found({"method": "sticky_route", "key": issuer}, key.name, key.carrier, evidence=[sticky.span()])
        if key.carrier is KeyCarrier.COOKIE:
            found.lifetime, found.seconds = _cookie_lifetime(issued)
        return found

    def _of_sticky_learn(self, upstream: Upstream, sticky: Directive, scope: Scope) -> _Found:
        create, lookup = value_of(sticky, "create") or "", value_of(sticky, "lookup") or ""
        key = combined(self.variables.leaves(lookup, scope), self.chosen_by_client)
        if not _feeds(create, lookup):
            found = self._of_method(upstream)
            found.no_effect.append(sticky.span(f"what {create} learns, {lookup} never looks up"))
            return found
        timeout = value_of(sticky, "timeout")
        return _Found(
            {"method": "sticky_learn"},
            key.name,
            key.carrier,
            "expires",
            LEARN_TIMEOUT_SECONDS if timeout is None else seconds(timeout),
            [sticky.span()],
        )

    def _of_host(self, forwarded: Pass) -> _Found:
        """A host written in the directive: every address of the name is a peer, taken in turn."""
        found = _Found({"method": "resolved" if forwarded.runtime else "round_robin"})
        for upstream in forwarded.shadowed:
            written = upstream.sticky or upstream.method
            if written is not None and written.name not in KEYLESS:
                note = f"the pass names a port behind a variable, so upstream {upstream.name} is not used"
                found.no_effect.append(written.span(note))
        return found

    # -- what else decides

    def _add_retries(self, found: _Found, upstream: Upstream, place: PassPlace) -> None:
        """Whether a failed request goes on to the next peer, and whether an error takes a peer out of rotation."""
        retry, fallback = _retry(place), _failure_page(place.scope)
        if found.features["method"] in KEYLESS:
            return
        if not retry.off:
            found.features["failure"] = "next"
        elif fallback is not None:
            found.features["failure"] = "page"
        else:
            found.features["failure"] = "error" if upstream.never_fails else "once"
        if not retry.off and retry.directive is not None:
            found.undone_by.append(retry.directive.span("a failed request goes on to the next server"))
        if fallback is not None:
            found.undone_by.append(fallback.span("error_page sends the request on when the upstream fails"))
        found.undone_by += [m.directive.span("a backup server takes over") for m in upstream.backups]
        note = "a server with max_conns streams is passed over, although nothing has failed"
        found.undone_by += [m.directive.span(note) for m in upstream.serving if m.is_limited]

    def _judged(self, found: _Found, place: PassPlace) -> Affinity:
        if place.scope.nearest("stream"):
            found.features["method"] = f"stream_{found.features['method']}"
        row = find_row(affinity_rows("nginx"), found.features)
        evidence: Evidence = (*found.evidence, place.directive.span())
        if row is None:
            return _unknown(f"nothing has been measured for {_described(found.features)}", evidence)
        affinity = judge_row(
            row,
            key_name=found.name,
            lifetime=found.lifetime,
            seconds=found.seconds,
            evidence=evidence,
            undone_by=tuple(found.undone_by),
            no_effect=tuple(found.no_effect),
        )
        carrier = affinity.key.carrier if found.carrier in (None, KeyCarrier.NONE) else found.carrier
        events = tuple((e, m) for e, m in affinity.events if e is not RoutingEvent.KEY_LAPSED or found.seconds)
        key = replace(affinity.key, issued_by=_ISSUERS.get(str(found.features.get("key")), affinity.key.issued_by))
        return replace(affinity, key=replace(key, carrier=carrier), events=events)


@dataclass(frozen=True)
class _Retry:
    """Whether a failed request stays where it is, and the line that says so (None: the default holds)."""

    off: bool
    directive: Directive | None


def _retry(place: PassPlace) -> _Retry:
    """`proxy_next_upstream` as it holds for a pass: cases add up over several lines, and `off` beats them all. Without
    `error` a refused connection is not tried elsewhere; with one try there is no next upstream."""
    prefix = PASSES.get(place.directive.name, "proxy")
    tries = place.scope.setting(f"{prefix}_next_upstream_tries")
    if tries is not None and tries.args[:1] == ("1",):
        return _Retry(True, tries)
    directives = place.scope.inherited(f"{prefix}_next_upstream")
    if not directives or any(d.is_masked for d in directives):
        return _Retry(False, directives[-1] if directives else None)
    cases = {case for d in directives for case in d.args}
    if place.scope.nearest("stream"):
        return _Retry("off" in cases, directives[-1])
    return _Retry("off" in cases or "error" not in cases, directives[-1])


def _failure_page(scope: Scope) -> Directive | None:
    """The error_page that answers a failed upstream with another location that forwards."""
    server, own = scope.nearest("server"), scope.nearest("location")
    for directive in scope.inherited("error_page"):
        cases = set(directive.args[:-1])
        if not {"502", "504"} & cases or not cases & _ANSWERED_WELL or server is None:
            continue  # without `=` the client gets what the other location sends, but as a 502
        page = location_of(server, directive.args[-1])
        again = own is not None and page is not None and own.directive == page.directive
        if page is not None and not again and any(True for _ in passes_in(page)):
            return directive
    return None


def _has_one_primary(destination: Destination) -> bool:
    if destination.upstream is None:
        return destination.target is not None and bool(destination.target.host)
    primaries = destination.upstream.primaries
    return len(primaries) == 1 and primaries[0].certain and not destination.upstream.opaque


def _cookie_issued_here(scope: Scope, key: RoutingKeyKind) -> Directive | None:
    """The add_header that sets the cookie of a key, or None."""
    if key.carrier is not KeyCarrier.COOKIE or not key.name:
        return None
    for directive in scope.inherited("add_header"):
        if len(directive.args) < 2 or directive.args[0].lower() != "set-cookie":
            continue
        if directive.args[1].split("=", 1)[0].strip().lower() == key.name.lower():
            return directive
    return None


def _cookie_lifetime(issued: Directive | None) -> tuple[str, float | None]:
    for attribute in issued.args[1].split(";")[1:] if issued is not None else ():
        name, _, value = attribute.strip().partition("=")
        if name.lower() == "max-age" and value.isdigit():
            return "expires", float(value)
        if name.lower() == "expires":
            return "expires", None
    return "session", None


def _feeds(create: str, lookup: str) -> bool:
    """Whether what `create` learns from a response is what `lookup` finds in a request: the same header or cookie."""
    learned = create.lower().removeprefix("$upstream_").removeprefix("$sent_")
    looked_up = lookup.lower().removeprefix("$")
    simple = ("cookie_", "http_")
    if not (learned.startswith(simple) and looked_up.startswith(simple)):
        return True
    return learned == looked_up


def _unknown_because(forwarded: Pass) -> str:
    if not forwarded.forwarding:
        return "nothing says where requests go"
    for destination in forwarded.forwarding:
        if destination.unknown:
            return destination.unknown
        if destination.upstream is not None and destination.upstream.opaque:
            return destination.upstream.opaque
    return ""


def _unknown(why: str, evidence: Evidence) -> Affinity:
    return Affinity("unknown", Strength.UNKNOWN, RoutingKey(KeyIssuer.NONE), why, evidence)


def _weakness(affinity: Affinity) -> int:
    order = (Strength.NONE, Strength.BEST_EFFORT, Strength.UNKNOWN, Strength.STRICT)
    return order.index(affinity.strength)


def _described(features: Features) -> str:
    return ", ".join(f"{name} {value}" for name, value in features.items())
