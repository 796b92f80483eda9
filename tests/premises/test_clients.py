"""What real clients send when they come back: the premises of rules/clients/."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sselint.clients import client
from sselint.facts import Truth
from tests import proxies
from tests.premises.answers import ask

pytestmark = pytest.mark.premises

SERVERS = Path(__file__).parent / "sdks"
COOKIE = "affinity=replica-a"


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    found = proxies.free_port()
    command = [sys.executable, "-m", "uvicorn", "--port", str(found), "--no-access-log", "resuming_app:app"]
    with proxies.running(command, found, tmp_path / "log", cwd=SERVERS):
        yield found


def seen(port: int, method: str) -> list[dict[str, Any]]:
    """The requests of a method that the server saw, in order."""
    return [entry for entry in json.loads(ask(port, "/log").body) if entry["method"] == method]


def test_the_python_client_of_mcp_comes_back_with_cursor_cookie_and_session(port: int) -> None:
    """A call's stream is cut after one id: the client asks with a GET, and returns what an affinity may rest on."""
    from mcp.client.session import ClientSession
    from mcp.client.streamable_http import streamable_http_client

    async def call() -> str:
        url = f"http://127.0.0.1:{port}/mcp"
        async with streamable_http_client(url) as (read, write, *_), ClientSession(read, write) as session:
            await session.initialize()
            result = await session.call_tool("work", {})
            return str(result.content[0].text)  # type: ignore[union-attr]

    assert asyncio.run(asyncio.wait_for(call(), 20)) == "done"
    resumed = [entry for entry in seen(port, "GET") if entry["last-event-id"]]
    assert resumed == [{"method": "GET", "last-event-id": "e7", "cookie": COOKIE, "mcp-session-id": "s1"}]
    described = client("mcp-python")
    facts = (described.sends_last_event_id, described.keeps_cookies, described.keeps_session_header)
    assert facts == (Truth.YES, Truth.YES, Truth.YES)


def test_httpx_keeps_a_cookie_of_an_address_within_one_client_and_sends_no_cursor(port: int) -> None:
    import httpx

    url = f"http://127.0.0.1:{port}/feed"
    with httpx.Client() as one:
        one.get(url)
        one.get(url)
    httpx.get(url)
    assert [entry["cookie"] for entry in seen(port, "feed")] == [None, COOKIE, None]
    assert {entry["last-event-id"] for entry in seen(port, "feed")} == {None}


def test_aiohttp_keeps_a_cookie_of_a_host_name_and_none_of_an_address(port: int) -> None:
    import aiohttp

    async def twice(host: str) -> None:
        async with aiohttp.ClientSession() as session:
            for _ in range(2):
                async with session.get(f"http://{host}:{port}/feed") as response:
                    await response.read()

    asyncio.run(twice("127.0.0.1"))
    asyncio.run(twice("localhost"))
    assert [entry["cookie"] for entry in seen(port, "feed")] == [None, None, None, COOKIE]
    assert client("aiohttp-sse-client").keeps_cookies is Truth.UNKNOWN


def test_requests_keeps_a_cookie_within_one_session(port: int) -> None:
    import requests

    with requests.Session() as session:
        for _ in range(2):
            session.get(f"http://127.0.0.1:{port}/feed", timeout=10)
    assert [entry["cookie"] for entry in seen(port, "feed")] == [None, COOKIE]
    assert client("requests-sse").keeps_cookies is Truth.YES
