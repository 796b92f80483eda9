"""Guards: a lookup of another key that fails first, who makes that key, and what undoes it again."""

from __future__ import annotations

import pytest

from sselint.facts import KeyOrigin, Outcome
from tests.read.python.programs import HEAD, stream_of

START = """
import itertools, uuid
from collections import defaultdict
runs = RUNS
numbers = itertools.count(1)


async def follow(request):
    key = request.path_params["key"]
"""

BODY = """
    async def body():
        start = int(request.headers.get("last-event-id", -1)) + 1
        for n, text in enumerate(runs[key][start:], start):
            yield {{"id": str(n), "data": text}}

    return EventSourceResponse(body())


async def begin(request):
    key = {mint}
    runs[key] = []
    return Response(key)


async def add(request):
    key = request.path_params["key"]
    {find}
    runs[key].append("more")
    return Response(status_code=202)


app = Starlette(routes=[
    Route("/runs", begin, methods=["POST"]),
    Route("/runs/{{key}}", add, methods=["POST"]),
    Route("/runs/{{key}}", follow),
])
"""


def program(guard: str, mint: str = "uuid.uuid4().hex", find: str = "pass", runs: str = "{}") -> str:
    """A server with runs that have a log each, a handler that follows one, and what stands before it."""
    return HEAD + START.replace("RUNS", runs) + guard + BODY.format(mint=mint, find=find)


REFUSED = '    if key not in runs:\n        return Response("no such run here", status_code=404)\n'

GUARDS = {
    "membership": REFUSED,
    ".get": "    if runs.get(key) is None:\n        return Response(status_code=204)\n",
    "subscript": "    try:\n        runs[key]\n    except KeyError:\n        return Response(status_code=404)\n",
}


@pytest.mark.parametrize("name", GUARDS)
def test_random_key_is_a_guard(name: str) -> None:
    """A run that only this process can have: what the cursor then means is not the question."""
    stream = stream_of(program(GUARDS[name]))
    assert [(g.key, g.origin) for g in stream.guards] == [("key", KeyOrigin.RANDOM_LOCAL)]
    assert stream.guards[0].status in (404, 204)
    assert stream.on_foreign.outcome is Outcome.COMPARED, "the runs assume that the guard has passed"


def test_key_of_the_client_is_none() -> None:
    """The client names the run, so that two processes may hold one of the same name."""
    stream = stream_of(program(REFUSED, mint='request.headers["x-run"]'))
    assert [g.origin for g in stream.guards] == [KeyOrigin.CLIENT]


def test_counted_key_is_none() -> None:
    """Every process has its run number 1."""
    stream = stream_of(program(REFUSED, mint="str(next(numbers))"))
    assert [g.origin for g in stream.guards] == [KeyOrigin.CLIENT]


def test_creating_on_demand_undoes_it() -> None:
    """Who adds an event to an unknown run makes it: then the client chooses the keys."""
    stream = stream_of(program(REFUSED, find="runs.setdefault(key, [])"))
    assert [g.origin for g in stream.guards] == [KeyOrigin.CLIENT]


@pytest.mark.parametrize(
    "find",
    [
        "if key not in runs:\n        return Response(status_code=404)\n    runs[key] = [*runs[key], 'x']",
        "old = runs.get(key)\n    if old is None:\n        return Response(status_code=404)\n    runs[key] = [*old, 1]",
    ],
)
def test_replacing_what_is_there_keeps_its_key(find: str) -> None:
    """Who puts another value under a name that was found there has not chosen the name."""
    stream = stream_of(program(REFUSED, find=find))
    assert [g.origin for g in stream.guards] == [KeyOrigin.RANDOM_LOCAL]


def test_putting_what_may_not_be_there_chooses_it() -> None:
    """The look-alike: nobody has looked whether there is such a run."""
    stream = stream_of(program(REFUSED, find="runs[key] = ['x']"))
    assert [g.origin for g in stream.guards] == [KeyOrigin.CLIENT]


def test_of_two_stores_the_one_that_something_fills_is_the_guard() -> None:
    """A default that an import replaces is never filled: what is never there refuses nobody who uses the other."""
    stores = "{}\nspare = {}\ncurrent = spare\n\ndef chosen():\n    global current\n    current = runs\n"
    guard = '    if key not in current:\n        return Response("no such run here", status_code=404)\n'
    stream = stream_of(program(guard, runs=stores))
    assert [g.origin for g in stream.guards] == [KeyOrigin.RANDOM_LOCAL]


def test_default_dict_refuses_nothing() -> None:
    """Asking a defaultdict makes what is asked for."""
    stream = stream_of(program("    runs[key]\n", runs="defaultdict(list)"))
    assert not stream.guards


def test_made_instead_of_refused() -> None:
    """The look-alike of a guard: an unknown run is begun here."""
    stream = stream_of(program("    if key not in runs:\n        runs[key] = []\n"))
    assert not stream.guards


def test_lookup_without_a_refusal_is_none() -> None:
    """It is looked up, and the answer is a warning."""
    stream = stream_of(program('    if key not in runs:\n        print("unknown", key)\n        runs[key] = []\n'))
    assert not stream.guards


STARTUP = """
import os
if int(os.environ.get("WEB_CONCURRENCY", "1")) > 1:
    {}
"""


def test_refusal_to_start() -> None:
    """More than one worker is refused; a warning refuses nothing."""
    refusing = stream_of(STARTUP.format('raise RuntimeError("one worker only")') + program(""))
    assert KeyOrigin.STARTUP in {g.origin for g in refusing.guards}
    warning = stream_of(STARTUP.format('print("several workers: events are lost")') + program(""))
    assert not warning.guards
