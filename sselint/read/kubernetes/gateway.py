"""Gateway API HTTPRoutes, Istio VirtualServices with their DestinationRules, and Traefik IngressRoutes as hops."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sselint.facts import Affinity, CursorTreatment, Evidence, Match, Route, Span, Target
from sselint.read.kubernetes.affinity import LAST_EVENT_ID, documented, header_key, seconds_of
from sselint.read.kubernetes.gateway_policies import attached, persistence
from sselint.read.kubernetes.ingress import MembersOf
from sselint.read.kubernetes.objects import KubernetesObject, Objects, meets, symbol
from sselint.read.yaml_nodes import Node

_PATH_KINDS = {"PathPrefix": "prefix", "Exact": "exact", "RegularExpression": "regex"}
_URI_KINDS = ("prefix", "exact", "regex")


# -- Gateway API -------------------------------------------------------------------------------------------------------


def http_routes(route: KubernetesObject, objects: Objects, members_of: MembersOf) -> Iterator[Route]:
    """A route for each rule of an HTTPRoute."""
    hosts = tuple(h.text for h in route.node.at("spec", "hostnames") if h.text)
    for rule in route.node.at("spec", "rules"):
        backends = [b for b in rule["backendRefs"] if symbol(b["name"]) and b["weight"].number != 0]
        if not backends:
            continue
        treatment, treatment_evidence = _filters(rule)
        names = [symbol(b["name"]) for b in backends]
        affinity = _persistence(route, rule, names, objects)
        hashed_on = header_key(affinity.key.name).treatment
        if treatment is CursorTreatment.PASSED and hashed_on is not treatment:
            treatment, treatment_evidence = hashed_on, affinity.evidence
        yield Route(
            path=route.path,
            line=rule.span().line,
            format="gateway_api",
            name=f"HTTPRoute {route.deployed_name} -> Service {', '.join(names)}",
            pool=", ".join(names),
            members=members_of(names[0], route),
            affinity=affinity,
            match=_gateway_match(rule, hosts),
            targets=tuple(_backend_target(route, b) for b in backends),
            to_endpoints=True,
            last_event_id=treatment,
            last_event_id_evidence=treatment_evidence,
            evidence=(route.span, *affinity.evidence, rule.span()),
            variant=route.variant,
        )


def _backend_target(route: KubernetesObject, backend: Node) -> Target:
    name, space = symbol(backend["name"]), backend["namespace"].text or route.namespace
    return Target(f"{name}.{space}" if space else name, backend["port"].number, backend.span())


def _gateway_match(rule: Node, hosts: tuple[str, ...]) -> Match:
    paths, headers = [], []
    for match in rule["matches"]:
        value = match.at("path", "value").text
        if value is not None:
            paths.append((_PATH_KINDS.get(match.at("path", "type").text or "PathPrefix", "regex"), value))
        headers += [h["name"].text.lower() for h in match["headers"] if h["name"].text]
    longest = max((len(v) for _, v in paths), default=0)
    return Match(tuple(paths), hosts, tuple(headers), priority=1_000 - min(longest, 999))


def _persistence(route: KubernetesObject, rule: Node, backends: Sequence[str], objects: Objects) -> Affinity:
    """What the rule itself says, else a policy that is attached."""
    if rule["sessionPersistence"]:
        return persistence(rule["sessionPersistence"])
    return attached(route, backends, objects) or documented("gateway_api", {}, (route.span,))


def _filters(rule: Node) -> tuple[CursorTreatment, Evidence]:
    for entry in rule["filters"]:
        edit = entry["requestHeaderModifier"]
        for name in edit["remove"]:
            if (name.text or "").lower() == LAST_EVENT_ID:
                return CursorTreatment.STRIPPED, (name.span("removed"),)
        for header in edit["set"]:
            if (header["name"].text or "").lower() == LAST_EVENT_ID:
                return CursorTreatment.STRIPPED, (header.span("overwritten"),)
    routed = [m for m in rule["matches"] for h in m["headers"] if (h["name"].text or "").lower() == LAST_EVENT_ID]
    return (CursorTreatment.ROUTED_ON, (routed[0].span(),)) if routed else (CursorTreatment.PASSED, ())


# -- Istio -------------------------------------------------------------------------------------------------------------


def virtual_services(service: KubernetesObject, objects: Objects, members_of: MembersOf) -> Iterator[Route]:
    """A route for each HTTP rule of a VirtualService, with the affinity of its destination's DestinationRule."""
    hosts = tuple(h.text for h in service.node.at("spec", "hosts") if h.text)
    for rule in service.node.at("spec", "http"):
        weighted = [r["destination"] for r in rule["route"] if r["weight"].number != 0]
        destinations = [(symbol(d["host"]), d) for d in weighted if symbol(d["host"])]
        if not destinations:
            continue
        names = [host for host, _ in destinations]
        affinity = _destination_affinity(service, destinations[0][1], objects)
        treatment, treatment_evidence = _istio_headers(rule)
        yield Route(
            path=service.path,
            line=rule.span().line,
            format="istio",
            name=f"VirtualService {service.deployed_name} -> {', '.join(dict.fromkeys(names))}",
            pool=names[0],
            members=members_of(names[0].split(".")[0], service),
            affinity=affinity,
            match=_istio_match(rule, hosts),
            targets=tuple(Target(host, d.at("port", "number").number, d.span()) for host, d in destinations),
            addresses=frozenset(h for h in hosts if "*" not in h),
            to_endpoints=True,
            last_event_id=treatment,
            last_event_id_evidence=treatment_evidence,
            evidence=(service.span, *affinity.evidence, rule.span()),
            variant=service.variant,
        )


def destination_rules(objects: Objects, routed: frozenset[str], members_of: MembersOf) -> Iterator[Route]:
    """DestinationRules of hosts that no VirtualService routes to: the mesh applies them to every client's sidecar."""
    for rule in objects.of("DestinationRule"):
        host = symbol(rule.node.at("spec", "host")) or None
        if host is None or any(_same_host(host, other) for other in routed):
            continue
        affinity = _load_balancer(rule, rule.node.at("spec", "trafficPolicy"))
        yield Route(
            path=rule.path,
            line=rule.span.line,
            format="istio",
            name=f"DestinationRule {rule.deployed_name} -> {host}",
            pool=host,
            members=members_of(host.split(".")[0], rule),
            affinity=affinity,
            targets=(Target(host, None, rule.node["spec"].key("host").line_span()),),
            to_endpoints=True,
            evidence=(rule.span, *affinity.evidence),
            variant=rule.variant,
        )


def _istio_match(rule: Node, hosts: tuple[str, ...]) -> Match:
    paths, headers = [], []
    for match in rule["match"]:
        for kind in _URI_KINDS:
            value = match["uri"][kind].text
            if value is not None:
                paths.append((kind, value))
        headers += [name.lower() for name, _ in match["headers"].items()]
    return Match(tuple(paths), hosts, tuple(headers), priority=rule.span().line)


def _istio_headers(rule: Node) -> tuple[CursorTreatment, Evidence]:
    for place in (rule, *rule["route"]):
        request = place.at("headers", "request")
        for name in request["remove"]:
            if (name.text or "").lower() == LAST_EVENT_ID:
                return CursorTreatment.STRIPPED, (name.span("removed"),)
        for name_text, value in request["set"].items():
            if name_text.lower() == LAST_EVENT_ID:
                return CursorTreatment.STRIPPED, (value.span("overwritten"),)
    for match in rule["match"]:
        if any(name.lower() == LAST_EVENT_ID for name, _ in match["headers"].items()):
            return CursorTreatment.ROUTED_ON, (match.span(),)
    return CursorTreatment.PASSED, ()


def _destination_affinity(service: KubernetesObject, destination: Node, objects: Objects) -> Affinity:
    host = symbol(destination["host"])
    subset = destination["subset"].text
    for rule in objects.of("DestinationRule"):
        if not meets(rule, service) or not _same_host(symbol(rule.node.at("spec", "host")), host):
            continue
        own = next((s for s in rule.node.at("spec", "subsets") if subset and s["name"].text == subset), None)
        policy = own["trafficPolicy"] if own and own.at("trafficPolicy", "loadBalancer") else None
        return _load_balancer(rule, policy or rule.node.at("spec", "trafficPolicy"))
    return documented("istio", {}, (service.span,))


def _same_host(one: str | None, other: str) -> bool:
    """Two names of one Service: the short one, or longer ones that agree as far as they go."""
    a, b = (one or "").split("."), other.split(".")
    return bool(one) and all(x == y for x, y in zip(a, b, strict=False))


def _load_balancer(rule: KubernetesObject, policy: Node) -> Affinity:
    consistent = policy.at("loadBalancer", "consistentHash")
    if not consistent:
        return documented("istio", {}, (rule.span,))
    spans: tuple[Span, ...] = (consistent.span(),)
    cookie, header = consistent["httpCookie"], consistent["httpHeaderName"].text
    if cookie:
        ttl = seconds_of(cookie["ttl"].text)
        features = {"method": "hash", "carrier": "cookie"}
        # A ttl of zero makes it a session cookie (DestinationRule reference, HTTPCookie).
        return documented("istio", features, spans, key_name=cookie["name"].text or "", seconds=ttl or None)
    if header:
        key = header_key(header)
        return documented("istio", {"method": "hash", "issued_by": key.issued_by}, spans, key_name=header)
    query = consistent["httpQueryParameterName"].text
    if query:
        return documented("istio", {"method": "hash", "carrier": "query"}, spans, key_name=query)
    if consistent["useSourceIp"].truth:
        return documented("istio", {"method": "hash", "carrier": "address"}, spans, key_name="client address")
    return documented("istio", {}, (rule.span,))


# -- Traefik -----------------------------------------------------------------------------------------------------------


def ingress_routes(ingress: KubernetesObject, members_of: MembersOf) -> Iterator[Route]:
    """A route for each service of each rule of a Traefik IngressRoute."""
    for rule in ingress.node.at("spec", "routes"):
        for service in rule["services"]:
            name = symbol(service["name"])
            if not name or (service["kind"].text or "Service") != "Service":
                continue
            cookie = service.at("sticky", "cookie")
            affinity = documented("ingress_traefik", {}, (ingress.span,))
            if cookie.raw is not None:
                seconds = seconds_of(cookie["maxAge"].text)
                key = cookie["name"].text or "sticky cookie"
                spans = (service["sticky"].span(),)
                affinity = documented("ingress_traefik", {"method": "cookie"}, spans, key_name=key, seconds=seconds)
            space = service["namespace"].text or ingress.namespace
            yield Route(
                path=ingress.path,
                line=rule.span().line,
                format="ingress_traefik",
                name=f"IngressRoute {ingress.deployed_name} -> Service {name}",
                pool=name,
                members=members_of(name, ingress),
                affinity=affinity,
                match=_traefik_match(rule["match"].text or ""),
                targets=(Target(f"{name}.{space}" if space else name, service["port"].number, service.span()),),
                to_endpoints=not service["nativeLB"].truth,
                evidence=(ingress.span, *affinity.evidence, rule.span()),
                variant=ingress.variant,
            )


def _traefik_match(text: str) -> Match:
    paths = [
        ({"Path": "exact", "PathPrefix": "prefix", "PathRegexp": "regex"}[kind], value)
        for kind, value in re.findall(r"(?<!!)\b(Path|PathPrefix|PathRegexp)\([`\"]([^`\"]+)[`\"]\)", text)
    ]
    hosts = re.findall(r"\bHost\([`\"]([^`\"]+)[`\"]\)", text)
    headers = [h.lower() for h in re.findall(r"\bHeaders?(?:Regexp)?\([`\"]([^`\"]+)[`\"]", text)]
    longest = max((len(v) for _, v in paths), default=0)
    return Match(tuple(paths), tuple(hosts), tuple(headers), priority=1_000 - min(longest, 999))
