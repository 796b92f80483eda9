"""The key that a HAProxy rule looks at: who issues it and what carries it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from sselint.catalogue import load_yaml, rules_directory
from sselint.facts import KeyCarrier, KeyIssuer
from sselint.read.haproxy.conditions import Fetch

LAST_EVENT_ID = "last-event-id"

CARRIERS = {
    "header": KeyCarrier.HEADER,
    "cookie": KeyCarrier.COOKIE,
    "query": KeyCarrier.QUERY,
    "path": KeyCarrier.PATH,
    "address": KeyCarrier.ADDRESS,
    "host": KeyCarrier.HEADER,
}


@dataclass(frozen=True)
class Key:
    """A routing key. `kind` is the carrier in one word of the affinity rows."""

    kind: str
    issued_by: KeyIssuer
    carrier: KeyCarrier
    name: str = ""

    @property
    def is_last_event_id(self) -> bool:
        """Whether it is the cursor itself."""
        return self.carrier is KeyCarrier.HEADER and self.name.lower() == LAST_EVENT_ID


NOBODY = Key("none", KeyIssuer.NONE, KeyCarrier.NONE)


@cache
def headers_issued_by_server() -> frozenset[str]:
    """Request headers that a client has from the server, in lower case."""
    document = load_yaml(rules_directory() / "affinity" / "haproxy.yaml")
    return frozenset(document["headers_issued_by_server"])


def key_of(fetch: Fetch, *, chosen_by_prefix: bool = False) -> Key:
    """The key behind a sample fetch. A cookie is the server's, a header the client's unless it is known as one that the
    server issues; where servers are chosen by the key's prefix (`chosen_by_prefix`), the server wrote that prefix."""
    carrier = CARRIERS.get(fetch.carrier, KeyCarrier.NONE)
    name = fetch.name
    if carrier is KeyCarrier.ADDRESS:
        return Key("address", KeyIssuer.ADDRESS, carrier)
    if name.lower() == LAST_EVENT_ID and carrier is KeyCarrier.HEADER:
        return Key("last_event_id", KeyIssuer.SERVER, carrier, name)
    server = carrier is KeyCarrier.COOKIE or chosen_by_prefix or name.lower() in headers_issued_by_server()
    issuer = KeyIssuer.SERVER if server else KeyIssuer.CLIENT
    return Key(fetch.carrier, issuer, carrier, name)
