"""Small programs for the tests of the Python reader: written as text, read, never run."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import replace

from sselint.facts import Reading, Setting, Stream
from sselint.read.python import Program
from sselint.read.python.libraries.environment import Environment
from sselint.source import Source, Tree

ASKS = "\n".join(f"        if data.get('option {n}'):\n            text += str(data['value {n}'])" for n in range(300))
"""Statements of a stream that ask so much that no budget follows all ways."""


def reading_of(files: Mapping[str, str], environment: Environment | None = None) -> Reading:
    """What the reader makes of these files (path -> text)."""
    texts = {path: textwrap.dedent(text).lstrip("\n") for path, text in files.items()}
    sources = [Source(path, text, "python") for path, text in texts.items()]
    tree = Tree(".", tuple(texts), lambda path: texts[path].encode())
    return read_under(Program(sources, tree), environment)


def read_under(program: Program, environment: Environment | None) -> Reading:
    """The reading of a program, each stream as the environment settles it."""
    reading = program.read()
    if environment is None:
        return reading
    return replace(reading, streams=tuple(program.again(stream, environment) for stream in reading.streams))


def stream_of(files: Mapping[str, str] | str, environment: Environment | None = None) -> Stream:
    """The one stream of a program: the endpoint, and not what it is with each implementation that may be chosen."""
    given = {"app.py": files} if isinstance(files, str) else files
    found = reading_of(given, environment).streams
    streams = [s for s in found if s.url is not None or s.apps] or found
    assert len(streams) == 1, [s.symbol for s in streams]
    return streams[0]


def settings(*, settled: bool = True, **values: str) -> Environment:
    """An environment that the deployment's files give."""
    return Environment({name: Setting(name, value) for name, value in values.items()}, settled)


HEAD = """
from sse_starlette import EventSourceResponse
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
"""

FEED = """

async def feed(request):
    async def body():
        for key, text in list(log):
            yield {"id": key, "data": text}

    return EventSourceResponse(body())


app = Starlette(routes=[Route("/feed", feed)])
"""


def published(store: str) -> str:
    """A server that sends the pairs of `log`, which `store` defines and fills."""
    return HEAD + textwrap.dedent(store) + FEED


def answered(handler: str, store: str = "") -> str:
    """A server whose handler is `handler` (it may use `request`, `log` and `Response`)."""
    filled = (
        store
        or """
import uuid
log = []


def publish(text):
    log.append((uuid.uuid4().hex, text))
"""
    )
    body = textwrap.indent(textwrap.dedent(handler).strip(), "    ")
    return (
        HEAD
        + textwrap.dedent(filled)
        + f'\n\nasync def feed(request):\n{body}\n\n\napp = Starlette(routes=[Route("/feed", feed)])\n'
    )
