"""Who talks to a stream: the clients that the settings name, and the default one of a protocol.

The facts are data in `rules/clients/`, each with its reason; a name that no file describes has unknown facts.
"""

from __future__ import annotations

from sselint.catalogue import ClientRule, client_rules
from sselint.deployment import Client
from sselint.facts import Truth


def client(name: str) -> Client:
    """The client that the settings call `name`, in any case and with `_` for `-`. Raises CatalogueError."""
    rule = next((r for r in client_rules() if _plain(name) in map(_plain, r.names)), None)
    if rule is None:
        why = f"no file in rules/clients/ describes a client called {name!r}"
        return Client(name, Truth.UNKNOWN, Truth.UNKNOWN, Truth.UNKNOWN, named=True, why=why)
    return _as_described(rule, name, named=True)


def default_clients(protocol: str) -> tuple[Client, ...]:
    """The clients of a stream where the settings name none: "sse" a browser's EventSource, "mcp" an MCP client.

    Raises CatalogueError.
    """
    return tuple(_as_described(r, r.names[0], named=False) for r in client_rules() if r.default_for == protocol)


def _as_described(rule: ClientRule, name: str, *, named: bool) -> Client:
    """Its reason is that of sending the cursor, which makes a condition of its own."""
    return Client(
        name,
        sends_last_event_id=rule.facts["sends_last_event_id"],
        keeps_cookies=rule.facts["keeps_cookies"],
        keeps_session_header=rule.facts["keeps_session_header"],
        named=named,
        why=rule.reasons["sends_last_event_id"],
    )


def _plain(name: str) -> str:
    return name.strip().lower().replace("_", "-")
