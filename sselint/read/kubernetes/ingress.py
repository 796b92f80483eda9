"""Ingresses as hops: which controller serves one, and what its annotations say about affinity."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from sselint.facts import Affinity, Count, CursorTreatment, Evidence, Match, Route, Span, Strength, Target
from sselint.read.kubernetes.affinity import (
    Key,
    documented,
    header_key,
    rules,
    seconds_of,
    strips_cursor,
    unknown,
    variable_key,
)
from sselint.read.kubernetes.objects import KubernetesObject, Objects, symbol
from sselint.read.yaml_nodes import Node

_AFFINITY = re.compile(r"affinity|hash|sticky|balance|target-group-attributes|cookie")

MembersOf = Callable[[str, KubernetesObject], Count]
"""The pods behind a Service that an object names."""


@dataclass(frozen=True)
class Controller:
    """A controller of the rules."""

    name: str
    rows: str
    to_endpoints: bool


def controller_of(ingress: KubernetesObject, objects: Objects) -> Controller | None:
    """Who serves an Ingress: its class, then the annotations that only one controller reads; None if nothing says."""
    known: Mapping[str, Mapping[str, Any]] = rules()["controllers"]
    wanted = ingress.node.at("spec", "ingressClassName").text or ingress.annotation("kubernetes.io/ingress.class")
    declared = next((c for c in objects.of("IngressClass") if c.name == wanted), None)
    identity = declared.node.at("spec", "controller").text if declared else None
    for name, rule in known.items():
        by_class = any(fnmatchcase(wanted, c) for c in rule["classes"]) if wanted else False
        if identity in rule["controller"] or (identity is None and by_class):
            return Controller(name, rule["rows"], rule["to_endpoints"])
    if identity is not None:
        return None
    for name, rule in known.items():
        if any(a.startswith(tuple(rule["prefixes"])) for a in ingress.annotations()):
            return Controller(name, rule["rows"], rule["to_endpoints"])
    return None


def routes(ingress: KubernetesObject, objects: Objects, members_of: MembersOf) -> Iterator[Route]:
    """A route for each host and path of an Ingress."""
    controller = controller_of(ingress, objects)
    hop = _Hop(ingress, objects, controller)
    for host, path, kind, backend, span in _rules(ingress.node["spec"]):
        service = symbol(backend.at("service", "name")) or symbol(backend["serviceName"])
        if not service:
            continue
        port = backend.at("service", "port", "number").number or backend["servicePort"].number
        affinity, to_endpoints = hop.affinity(service)
        treatment, treatment_evidence = hop.treatment(affinity)
        yield Route(
            path=ingress.path,
            line=ingress.span.line,
            format=f"ingress_{controller.name.removeprefix('ingress_')}" if controller else "ingress",
            name=f"Ingress {ingress.deployed_name} -> Service {service}",
            pool=service,
            members=members_of(service, ingress),
            affinity=affinity,
            match=_match(host, path, kind),
            targets=(Target(_qualified(service, ingress.namespace), port, span),),
            to_endpoints=to_endpoints,
            last_event_id=treatment,
            last_event_id_evidence=treatment_evidence,
            evidence=(ingress.span, *affinity.evidence, span),
            variant=ingress.variant,
        )


def _qualified(service: str, namespace: str) -> str:
    return f"{service}.{namespace}" if namespace else service


def _rules(spec: Node) -> Iterator[tuple[str | None, str | None, str, Node, Span]]:
    default = spec.first("defaultBackend", "backend")
    if default:
        yield None, None, "Prefix", default, default.span()
    for rule in spec["rules"]:
        for path in rule.at("http", "paths"):
            backend = path["backend"]
            yield rule["host"].text, path["path"].text, path["pathType"].text or "", backend, backend.span()


def _match(host: str | None, path: str | None, kind: str) -> Match:
    hosts = (host,) if host else ()
    if path is None:
        return Match(hosts=hosts, priority=1_000_000)
    if kind == "Exact":
        return Match((("exact", path),), hosts, priority=0)
    if re.search(r"[\\()\[*?|$^]", path):
        return Match((("regex", path),), hosts, priority=1_000 - min(len(path), 999))
    return Match((("prefix", path),), hosts, priority=1_000 - min(len(path), 999))


@dataclass(frozen=True)
class _Hop:
    """What an Ingress's annotations say, whoever its controller is."""

    ingress: KubernetesObject
    objects: Objects
    controller: Controller | None

    def affinity(self, service: str) -> tuple[Affinity, bool]:
        """The affinity in front of a Service, and whether it is over the pods themselves."""
        found, straight = self._written(service)
        if found.strength is Strength.NONE and self._touched_by_template():
            annotations = self.ingress.node.at("metadata", "annotations")
            why = "a template decides on annotations, and with them on affinity"
            return unknown(found, why, annotations.span()), straight
        return found, straight

    def _touched_by_template(self) -> bool:
        """Whether a template may put an annotation there, or an affinity into one."""
        metadata = self.ingress.node["metadata"]
        if metadata["annotations"].is_masked and not metadata["annotations"].is_mapping:
            return True
        return any(
            key.is_masked or (value.is_masked and _AFFINITY.search(name))
            for name, (key, value) in self.ingress.annotations().items()
        )

    def _written(self, service: str) -> tuple[Affinity, bool]:
        if self.controller is None:
            why = "which controller serves this Ingress is not known, and no annotation pins a client"
            return documented("kubernetes", {"affinity": "ingress"}, (self.ingress.span,), why=why), True
        by_controller = {
            "ingress_nginx": self._ingress_nginx,
            "haproxy_ingress": self._haproxy,
            "traefik": self._traefik,
            "alb": self._alb,
            "gce": self._gce,
        }
        return by_controller[self.controller.name](service)

    def treatment(self, affinity: Affinity) -> tuple[CursorTreatment, Evidence]:
        """What the hop does with the cursor: snippets may take it off, and a hash may route on it."""
        for name, (key, value) in self.ingress.annotations().items():
            if name.endswith("-snippet") and strips_cursor(value.text):
                return CursorTreatment.STRIPPED, (key.line_span("takes Last-Event-ID off the request"), value.span())
        treatment = Key(affinity.key.issued_by.value, affinity.key.carrier.value, affinity.key.name).treatment
        return treatment, (affinity.evidence if treatment is CursorTreatment.ROUTED_ON else ())

    # -- ingress-nginx -------------------------------------------------------------------------------------------------

    def _ingress_nginx(self, service: str) -> tuple[Affinity, bool]:
        prefix = "nginx.ingress.kubernetes.io/"
        affinity, hash_by = self._text(prefix + "affinity"), self._text(prefix + "upstream-hash-by")
        upstream = self._text(prefix + "service-upstream") == "true"
        no_effect = self._spans(prefix + "upstream-hash-by") if affinity == "cookie" and hash_by else ()
        if upstream and (affinity or hash_by):
            spans = self._spans(prefix + "affinity", prefix + "upstream-hash-by")
            why = "service-upstream makes the Service's virtual address the only member: nothing is left to choose"
            everything = (*self._spans(prefix + "service-upstream"), *spans)
            return documented("ingress_nginx", {}, everything, no_effect=spans, why=why), False
        if affinity == "cookie":
            mode = self._text(prefix + "affinity-mode") or "balanced"
            evidence = self._spans(
                prefix + "affinity",
                prefix + "affinity-mode",
                *(prefix + f"session-cookie-{k}" for k in ("name", "max-age", "expires", "change-on-failure")),
            )
            name = self._text(prefix + "session-cookie-name") or "INGRESSCOOKIE"
            age = self._text(prefix + "session-cookie-max-age") or self._text(prefix + "session-cookie-expires")
            features = {"method": "cookie", "mode": mode}
            found = documented(
                "ingress_nginx", features, evidence, key_name=name, seconds=seconds_of(age), no_effect=no_effect
            )
            return found, True
        if hash_by:
            subset = self._text(prefix + "upstream-hash-by-subset") == "true"
            key = variable_key(hash_by)
            features_of_hash: dict[str, str | bool | int] = {"method": "hash", "subset": subset}
            features_of_hash.update(issued_by=key.issued_by, carrier=key.carrier)
            spans = self._spans(prefix + "upstream-hash-by", prefix + "upstream-hash-by-subset")
            return documented("ingress_nginx", features_of_hash, spans, key_name=key.name), True
        return documented("ingress_nginx", {}, (self.ingress.span,)), not upstream

    # -- the others ----------------------------------------------------------------------------------------------------

    def _haproxy(self, service: str) -> tuple[Affinity, bool]:
        for prefix in ("haproxy-ingress.github.io/", "ingress.kubernetes.io/", "haproxy.org/"):
            cookie = self._text(prefix + "affinity") == "cookie" or self._text(prefix + "cookie-persistence")
            balance = self._text(prefix + "balance-algorithm") or self._text(prefix + "load-balance")
            if cookie:
                name = self._text(prefix + "session-cookie-name") or self._text(prefix + "cookie-persistence")
                spans = self._spans(prefix + "affinity", prefix + "cookie-persistence", prefix + "session-cookie-name")
                name = name or "INGRESSCOOKIE"
                return documented("ingress_haproxy", {"method": "cookie"}, spans, key_name=name), True
            header = re.match(r"hdr\(([^)]+)\)", balance or "")
            if header or balance == "source":
                key = header_key(header.group(1)) if header else Key("address", "address", "client address")
                spans = self._spans(prefix + "balance-algorithm", prefix + "load-balance")
                features = {"method": "hash", "issued_by": key.issued_by}
                return documented("ingress_haproxy", features, spans, key_name=key.name), True
        return documented("ingress_haproxy", {}, (self.ingress.span,)), True

    def _traefik(self, service: str) -> tuple[Affinity, bool]:
        prefix = "traefik.ingress.kubernetes.io/service."
        target = self.objects.named("Service", service, self.ingress)
        annotations = target.annotations() if target else {}
        native = annotations.get(prefix + "nativelb")
        if (found := annotations.get(prefix + "sticky.cookie")) and found[1].truth:
            name, age = annotations.get(prefix + "sticky.cookie.name"), annotations.get(prefix + "sticky.cookie.maxage")
            seconds = seconds_of(age[1].text) if age else None
            text = (name[1].text if name else None) or "sticky cookie"
            spans = (found[0].line_span(),)
            return documented("ingress_traefik", {"method": "cookie"}, spans, key_name=text, seconds=seconds), True
        return documented("ingress_traefik", {}, (self.ingress.span,)), not (native and native[1].truth)

    def _alb(self, service: str) -> tuple[Affinity, bool]:
        prefix = "alb.ingress.kubernetes.io/"
        straight = self._text(prefix + "target-type") == "ip"
        text = self._text(prefix + "target-group-attributes") or ""
        attributes = dict(p.strip().partition("=")[::2] for p in text.split(","))
        if attributes.get("stickiness.enabled") != "true":
            return documented("alb", {}, (self.ingress.span,)), straight
        kind = attributes.get("stickiness.type", "lb_cookie")
        seconds = seconds_of(attributes.get(f"stickiness.{kind}.duration_seconds", "86400"))
        name = attributes.get("stickiness.app_cookie.cookie_name", "AWSALB")
        spans = self._spans(prefix + "target-group-attributes")
        return documented("alb", {"method": "cookie", "type": kind}, spans, key_name=name, seconds=seconds), straight

    def _gce(self, service: str) -> tuple[Affinity, bool]:
        target = self.objects.named("Service", service, self.ingress)
        text = (target.annotation("cloud.google.com/backend-config") or "") if target else ""
        names = re.findall(r":\s*\"([^\"]+)\"", text)
        config = next((c for c in self.objects.of("BackendConfig") if c.name in names), None)
        kind = config.node.at("spec", "sessionAffinity", "affinityType") if config else None
        if config is None or kind is None or kind.text not in ("GENERATED_COOKIE", "CLIENT_IP"):
            return documented("gce", {}, (self.ingress.span,)), True
        seconds = seconds_of(config.node.at("spec", "sessionAffinity", "affinityCookieTtlSec").text)
        cookie = kind.text == "GENERATED_COOKIE"
        features = {"method": "cookie" if cookie else "address"}
        name = "GCILB" if cookie else "client address"
        return documented("gce", features, (kind.span(),), key_name=name, seconds=seconds if cookie else None), True

    # -- annotations ---------------------------------------------------------------------------------------------------

    def _text(self, name: str) -> str | None:
        return self.ingress.annotation(name)

    def _spans(self, *names: str) -> Evidence:
        found = self.ingress.annotations()
        return tuple(found[n][0].line_span() for n in names if n in found)
