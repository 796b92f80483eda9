"""Clients in the tree: which are seen, and whether a refusal is swallowed or retried for ever (SSE502)."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from sselint.facts import ClientSighting, Truth
from sselint.read.python.answers.sightings import clients
from sselint.read.python.source.modules import ModuleTable
from sselint.source import Source


def seen(text: str, path: str = "client.py") -> list[ClientSighting]:
    source = Source(path, dedent(text), "python")
    return list(clients(ModuleTable([source]), {path: source}))


def following(handling: str, headers: str = '{"Last-Event-ID": last}') -> str:
    """A loop over httpx-sse around which a refusal is handled in some way."""
    return f"""\
import time

import httpx
from httpx_sse import SSEError, connect_sse


def follow(url, last=None):
    while True:
        try:
            with httpx.Client() as http, connect_sse(http, "GET", url, headers={headers}) as source:
                for event in source.iter_sse():
                    last = event.id
                    print(event.data)
{indent(dedent(handling), " " * 8)}
"""


SWALLOWS = {
    "everything": "except Exception:\n    time.sleep(1)",
    "bare": "except:\n    pass",
    "what the library raises": "except SSEError:\n    time.sleep(1)",
    "what httpx raises": "except httpx.HTTPStatusError as error:\n    print(error)",
    "one of several": "except (ValueError, httpx.HTTPError):\n    continue",
    "a second handler": "except httpx.ConnectError:\n    time.sleep(1)\nexcept Exception:\n    time.sleep(5)",
}


@pytest.mark.parametrize("handling", SWALLOWS.values(), ids=SWALLOWS)
def test_an_endless_loop_that_catches_a_refusal_swallows_it(handling: str) -> None:
    (sighting,) = seen(following(handling))
    assert (sighting.client, sighting.swallows) == ("httpx-sse", Truth.YES)
    first, second = sighting.evidence
    assert (first.path, first.line) == ("client.py", 4)
    assert (second.line, second.note) == (14 + handling.count("ConnectError") * 2, "a refusal ends here")


GIVES_WAY = {
    "raises on": "except Exception as error:\n    raise SystemExit(1) from error",
    "returns": "except Exception:\n    return",
    "breaks": "except SSEError:\n    break",
    "forgets the cursor": "except SSEError:\n    last = None",
    "forgets it first": "except SSEError:\n    last = ''\nexcept Exception:\n    time.sleep(1)",
    "connection errors only": "except httpx.TransportError:\n    time.sleep(1)",
    "nothing but cleaning up": "finally:\n    time.sleep(1)",
}


@pytest.mark.parametrize("handling", GIVES_WAY.values(), ids=GIVES_WAY)
def test_a_loop_that_a_refusal_ends_or_changes_swallows_nothing(handling: str) -> None:
    (sighting,) = seen(following(handling))
    assert sighting.swallows is Truth.NO


def test_a_client_that_sends_no_cursor_is_refused_nothing() -> None:
    (sighting,) = seen(following("except Exception:\n    time.sleep(1)", headers="{}"))
    assert (sighting.swallows, sighting.why) == (Truth.NO, "it sends no cursor that anything could refuse")


PARSED = """
    import requests
    import sseclient

    def follow(url, headers):
        while True:
            response = requests.get(url, headers={{"Last-Event-ID": headers}}, stream=True)
            {check}
            for event in sseclient.SSEClient(response).events():
                print(event.data)
"""


def test_a_parser_that_raises_nothing_needs_a_look_at_the_status() -> None:
    (blind,) = seen(PARSED.format(check="pass"))
    (looking,) = seen(PARSED.format(check="response.raise_for_status()"))
    assert (blind.client, blind.swallows, looking.swallows) == ("sseclient-py", Truth.YES, Truth.NO)


def test_without_a_loop_it_is_decided_elsewhere() -> None:
    (sighting,) = seen("from aiohttp_sse_client import client\n\ndef open(url):\n    return client.EventSource(url)\n")
    assert (sighting.client, sighting.swallows) == ("aiohttp-sse-client", Truth.UNKNOWN)


def test_a_retry_around_the_client_of_mcp() -> None:
    (sighting,) = seen(
        """
        from mcp.client import streamable_http

        async def keep(url):
            while True:
                try:
                    async with streamable_http.streamable_http_client(url) as streams:
                        await serve(streams)
                except Exception:
                    pass
        """
    )
    assert (sighting.client, sighting.swallows) == ("mcp-python", Truth.YES)


@pytest.mark.parametrize(
    "text",
    [
        "import httpx\n",
        "TEXT = 'from httpx_sse import connect_sse'\n",
        "from httpx_sse_of_ours import connect\n",
        "def broken(:\n    import httpx_sse\n",
    ],
)
def test_what_only_looks_like_an_import_is_none(text: str) -> None:
    assert seen(text) == []


def test_tests_are_not_asked() -> None:
    assert seen(following("except Exception:\n    pass"), "tests/test_feed.py") == []
