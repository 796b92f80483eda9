"""Who issues a routing key, and what carries it: read off the request variables that it rests on."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from sselint.facts import KeyCarrier
from sselint.read.nginx.knowledge import knowledge

CURSOR = "http_last_event_id"


@dataclass(frozen=True)
class RoutingKeyKind:
    """`issuer` is cursor | changing | server | address | client | constant | unknown, as the rows of
    rules/affinity/nginx.yaml name it; `name` is the header, cookie or argument."""

    issuer: str
    carrier: KeyCarrier
    name: str


def kind_of(variable: str, chosen_by_client: Collection[str] = ()) -> RoutingKeyKind:
    """The kind of one request variable. `chosen_by_client` are variables that the client is known to set itself."""
    name = variable.lower()
    group = knowledge().decided_by(name)
    carrier, label = _carrier(name, group)
    if carrier is KeyCarrier.COOKIE and label:
        label = variable[-len(label) :]  # as it is written, although nginx looks for it in any case
    if variable in chosen_by_client or name in chosen_by_client:
        return RoutingKeyKind("client", carrier, label)
    return RoutingKeyKind("client" if group == "path" else group, carrier, label)


def _carrier(name: str, group: str) -> tuple[KeyCarrier, str]:
    if group == "address":
        return KeyCarrier.ADDRESS, name
    if name.startswith("cookie_"):
        return KeyCarrier.COOKIE, name[len("cookie_") :]
    if name == "http_cookie" or name.startswith("uid_"):
        return KeyCarrier.COOKIE, ""
    if name.startswith("http_"):
        return KeyCarrier.HEADER, name[len("http_") :].replace("_", "-")
    if name.startswith("arg_"):
        return KeyCarrier.QUERY, name[len("arg_") :]
    if group == "path":
        return KeyCarrier.PATH, name
    return KeyCarrier.HEADER if group == "client" else KeyCarrier.NONE, name


_WEAKEST_FIRST = ("unknown", "changing", "cursor", "server", "client", "address")


def combined(leaves: Iterable[str], chosen_by_client: Collection[str] = ()) -> RoutingKeyKind:
    """The kind of a key made of several variables: as weak as its weakest part. Nothing at all is a constant."""
    kinds = [kind_of(leaf, chosen_by_client) for leaf in sorted(leaves)]
    if not kinds:
        return RoutingKeyKind("constant", KeyCarrier.NONE, "")
    return min(kinds, key=lambda kind: _WEAKEST_FIRST.index(kind.issuer))


def headers_in(leaves: Iterable[str]) -> tuple[str, ...]:
    """The names (lower case) of the request headers among variables."""
    names = {leaf.lower() for leaf in leaves}
    headers = {name[len("http_") :].replace("_", "-") for name in names if name.startswith("http_")}
    return tuple(sorted(headers | {"cookie" for name in names if name.startswith("cookie_")}))
