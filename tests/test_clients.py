"""Who talks to a stream: what is known of the clients that settings can name, and of the default ones."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from sselint.catalogue import CLIENT_FACTS, CatalogueError, client_rules, rules_directory
from sselint.clients import client, default_clients
from sselint.facts import Truth


def test_default_of_plain_streams_is_a_browser() -> None:
    (browser,) = default_clients("sse")
    assert browser.name == "EventSource"
    assert (browser.sends_last_event_id, browser.keeps_cookies) == (Truth.YES, Truth.YES)
    assert browser.keeps_session_header is Truth.NO, "a page cannot set a header on an EventSource"
    assert not browser.named


def test_default_of_mcp_returns_the_session_and_no_cookies() -> None:
    (sdk,) = default_clients("mcp")
    assert (sdk.sends_last_event_id, sdk.keeps_session_header) == (Truth.YES, Truth.YES)
    assert sdk.keeps_cookies is Truth.NO, "nothing may rest on a cookie that the TypeScript and Go clients drop"


def test_a_protocol_nobody_described_has_no_default() -> None:
    assert default_clients("websocket") == ()


@pytest.mark.parametrize("name", ["httpx-sse", "HTTPX_SSE", " httpx-sse "])
def test_named_clients_are_found_however_they_are_spelt(name: str) -> None:
    named = client(name)
    assert named.named
    assert named.name == name, "the report says the reader's own name"
    assert named.sends_last_event_id is Truth.NO


@pytest.mark.parametrize("name", ["httpx", "httpx-sse-2", "our-dashboard", ""])
def test_names_that_no_file_describes_are_unknown_and_say_so(name: str) -> None:
    """Look-alikes too: `httpx` is not `httpx-sse`."""
    named = client(name)
    assert {named.sends_last_event_id, named.keeps_cookies, named.keeps_session_header} == {Truth.UNKNOWN}
    assert repr(name) in named.why


@pytest.mark.parametrize(
    ("name", "sends", "cookies"),
    [
        ("mcp-python", Truth.YES, Truth.YES),
        ("mcp-python-1.22", Truth.NO, Truth.YES),
        ("mcp-typescript", Truth.YES, Truth.NO),
        ("rmcp", Truth.YES, Truth.NO),
        ("aiohttp-sse-client", Truth.YES, Truth.UNKNOWN),
    ],
)
def test_facts_of_some_clients(name: str, sends: Truth, cookies: Truth) -> None:
    assert (client(name).sends_last_event_id, client(name).keeps_cookies) == (sends, cookies)


def test_every_file_has_names_of_its_own_and_a_reason_for_each_fact() -> None:
    rules = client_rules()
    names = [name.lower() for rule in rules for name in rule.names]
    assert len(names) == len(set(names))
    assert all(rule.reasons[fact].strip() and rule.source for rule in rules for fact in CLIENT_FACTS)
    assert len(rules) == len(list((rules_directory() / "clients").glob("*.yaml")))


def test_a_file_with_a_fact_that_is_no_truth_value_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`yes` without quotes is YAML's boolean; the error names the file and the value."""
    (tmp_path / "clients").mkdir()
    facts = "\n".join(f"{fact}: {{value: yes, why: because}}" for fact in CLIENT_FACTS)
    (tmp_path / "clients" / "own.yaml").write_text(f"names: [own]\nsource: us\n{facts}\n")
    monkeypatch.setattr("sselint.catalogue.rules_directory", lambda: tmp_path)
    client_rules.cache_clear()
    try:
        with pytest.raises(CatalogueError, match=r"own\.yaml.*True"):
            client_rules()
    finally:
        client_rules.cache_clear()


def test_the_page_of_the_documentation_is_up_to_date() -> None:
    """`python docs/clients_page.py` writes it anew."""
    script = Path(__file__).parents[1] / "docs" / "clients_page.py"
    spec = importlib.util.spec_from_file_location("clients_page", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text(encoding="utf-8") == module.page()
