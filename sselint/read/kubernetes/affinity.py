"""Affinity of hops that Kubernetes objects ask for, out of `rules/affinity/` (documented rows)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from sselint.affinity import Features, find_row, judge_row
from sselint.catalogue import affinity_rows, load_yaml, rules_directory
from sselint.facts import Affinity, CursorTreatment, Evidence, KeyCarrier, RoutingEvent, Span, Strength

LAST_EVENT_ID = "last-event-id"

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, None: 1.0}
_STRIPPED = re.compile(
    r"proxy_set_header\s+[\"']?last-event-id[\"']?\s+(\"\"|'')\s*;"
    r"|more_clear_input_headers\s+(-t\s+\S+\s+)?[^;]*\blast-event-id\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Key:
    """What a hash is taken of: who makes it, what carries it, and its name."""

    issued_by: str
    carrier: str
    name: str

    @property
    def treatment(self) -> CursorTreatment:
        """Routing on the cursor itself."""
        return CursorTreatment.ROUTED_ON if self.name.lower() == LAST_EVENT_ID else CursorTreatment.PASSED


@cache
def rules() -> Mapping[str, Any]:
    """Controllers and keys. Raises CatalogueError."""
    document: Mapping[str, Any] = load_yaml(rules_directory() / "kubernetes" / "controllers.yaml")
    return document


def documented(
    rows: str,
    features: Features,
    evidence: Evidence,
    *,
    key_name: str = "",
    seconds: float | None = None,
    no_effect: Evidence = (),
    why: str = "",
) -> Affinity:
    """The affinity of the documented row that holds. `seconds` is how long the key lives, None for ever or as long as
    the client's session. Every file ends with a row that always holds."""
    row = find_row(affinity_rows(rows), features)
    if row is None:
        raise ValueError(f"rules/affinity/{rows}.yaml has no row for {features}")
    lifetime = "expires" if seconds is not None else "session" if row.carrier is KeyCarrier.COOKIE else "none"
    found = judge_row(
        row, key_name=key_name, lifetime=lifetime, seconds=seconds, why=why, evidence=evidence, no_effect=no_effect
    )
    if seconds is not None:
        return found
    return replace(found, events=tuple((e, m) for e, m in found.events if e is not RoutingEvent.KEY_LAPSED))


def unknown(found: Affinity, why: str, span: Span) -> Affinity:
    """An affinity of which only a template knows: `found` is what holds without it."""
    return replace(found, mechanism="affinity from a template", strength=Strength.UNKNOWN, why=why, evidence=(span,))


def header_key(name: str) -> Key:
    """The key that a request header is."""
    return Key(_issuer(name.lower()), "header", name)


def variable_key(text: str) -> Key:
    """The key that an expression of nginx variables is: the most client-specific part of it decides."""
    names = re.findall(r"\$\{?([a-zA-Z_]\w*)\}?", text)
    if not names:
        return Key("shared", "path", text)
    order = ["per_request", "server", "client", "address", "shared"]
    return min((_one_variable(n.lower()) for n in names), key=lambda k: order.index(k.issued_by))


def _one_variable(name: str) -> Key:
    if name.startswith("cookie_"):
        return Key("server", "cookie", name[len("cookie_") :])
    if name.startswith("arg_"):
        return Key("client", "query", name[len("arg_") :])
    if name.startswith("http_") and name not in rules()["keys"]["shared"]:
        return header_key(name[len("http_") :].replace("_", "-"))
    return Key(_issuer(name), "header", name)


def _issuer(name: str) -> str:
    return next((issuer for issuer, names in rules()["keys"].items() if name in names), "client")


def seconds_of(text: str | None) -> float | None:
    """A duration ("3600", "1h", "30m"), None for none and for what is not a duration."""
    match = _DURATION.fullmatch((text or "").strip())
    return float(match.group(1)) * _SECONDS[match.group(2)] if match else None


def strips_cursor(snippet: str | None) -> bool:
    """Whether a piece of nginx configuration takes `Last-Event-ID` off the request."""
    return snippet is not None and _STRIPPED.search(snippet) is not None
