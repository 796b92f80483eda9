"""Writes `docs/clients.md` from `rules/clients/`: `python docs/clients_page.py`. A test holds that it is up to date."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sselint.catalogue import CLIENT_FACTS, ClientRule, client_rules

PAGE = Path(__file__).parent / "clients.md"

HEAD = """\
# Clients

Generated from `rules/clients/`. What a client does decides two things: whether it ever presents a cursor, and what an
affinity is worth to it, since nothing pins a client by a key that it does not return. The settings name the clients
(`clients = ["mcp-typescript"]`); where they name none, it is a browser's EventSource, or any MCP client where the
server speaks MCP. A name that is not in the table is unknown, and so is what rests on it.

| name in the settings | sends `Last-Event-ID` | keeps cookies | returns the session header | known from |
|---|---|---|---|---|
"""


def page() -> str:
    """The page: a table of all clients, then why for each."""
    rules = client_rules()
    rows = [f"| {_names(rule)} | {_facts(rule)} | {rule.source} |" for rule in rules]
    return HEAD + "\n".join([*rows, "", *(line for rule in rules for line in _section(rule))]).rstrip() + "\n"


def _names(rule: ClientRule) -> str:
    default = f" (default of {rule.default_for})" if rule.default_for else ""
    return ", ".join(f"`{name}`" for name in rule.names) + default


def _facts(rule: ClientRule) -> str:
    return " | ".join(rule.facts[fact].value for fact in CLIENT_FACTS)


def _section(rule: ClientRule) -> Iterator[str]:
    yield f"**{rule.names[0]}**: " + "; ".join(rule.reasons[fact] for fact in CLIENT_FACTS) + "."
    yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
