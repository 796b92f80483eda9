"""Ids of which a part is made at start-up, where the handler asks for that part otherwise than with `==`."""

from __future__ import annotations

import pytest

from sselint.facts import Outcome, Scope
from tests.read.python.programs import answered, stream_of

STORE = """
import hashlib
import hmac
import os
import re
import uuid
from itertools import count
SEPARATOR = "-"
BOOT = MADE
ids = count(1)
log = []


def signed(number):
    return f"{number}." + hmac.new(BOOT.encode(), str(number).encode(), hashlib.sha256).hexdigest()


def publish(text):
    number = next(ids)
    log.append((number, KEY, text))
"""
HANDLER = """
last = request.headers.get("last-event-id")
number = 0
if last:
    PARSED
missed = [(key, text) for n, key, text in log if n > number]

async def body():
    for key, text in missed:
        yield {"id": key, "data": text}

return EventSourceResponse(body())
"""
MATCHED = """found = re.fullmatch(rf"{re.escape(BOOT)}-(\\d+)", last)
    if found is None:
        MISS
    else:
        number = int(found[1])"""
COMPILED = """found = re.compile(f"^{BOOT}-(?P<number>[0-9]+)$").match(last)
    if not found:
        MISS
    else:
        number = int(found.group("number"))"""
SIGNED = """number = int(last.partition(".")[0])
    if not hmac.compare_digest(signed(number), last):
        MISS"""
HELD = """if BOOT not in last:
        MISS
    else:
        number = int(last.rpartition("-")[2])"""
CASES = """match last.split(SEPARATOR):
        case [token, counted] if token == BOOT:
            number = int(counted)
        case _:
            MISS"""
REFUSED = 'return Response("not of this process", status_code=409)'
RANDOM = "uuid.uuid4().hex"


def program(parsed: str, miss: str, made: str) -> str:
    key = "signed(number)" if parsed is SIGNED else 'f"{BOOT}-{number}"'
    handler = HANDLER.replace("PARSED", parsed.replace("MISS", miss))
    return answered(handler, STORE.replace("MADE", made).replace("KEY", key))


@pytest.mark.parametrize("parsed", [MATCHED, COMPILED, SIGNED, HELD, CASES])
def test_an_id_that_another_process_made_is_refused(parsed: str) -> None:
    """Neither does it match a pattern with this one's token in it, nor is it signed with this one's key."""
    stream = stream_of(program(parsed, REFUSED, RANDOM))
    assert stream.ids.scope is Scope.UNIQUE_LOCAL
    assert (stream.on_foreign.outcome, stream.on_foreign.status) == (Outcome.FAIL_CLOSED, 409)


@pytest.mark.parametrize("parsed", [MATCHED, COMPILED, SIGNED, HELD])
def test_where_all_processes_have_the_same_it_is_not(parsed: str) -> None:
    """A token of the environment, or one that is written down, is the other process's too."""
    for made in ('os.environ["BOOT"]', '"dev"'):
        assert stream_of(program(parsed, REFUSED, made)).on_foreign.outcome is Outcome.COMPARED


@pytest.mark.parametrize("parsed", [MATCHED, COMPILED, HELD, CASES])
def test_one_that_goes_on_from_the_start_is_tolerant(parsed: str) -> None:
    assert stream_of(program(parsed, "number = 0", RANDOM)).on_foreign.outcome is Outcome.REPLAY_ALL


def test_what_is_left_without_the_token_of_this_process_is_not_guessed() -> None:
    """A foreign id keeps its own token, which is no number; what the handler makes of that is not followed."""
    parsed = 'rest = last.replace(f"{BOOT}-", "")\n    if not rest.isdigit():\n        MISS\n    number = int(rest)'
    assert stream_of(program(parsed, REFUSED, RANDOM)).on_foreign.outcome is Outcome.UNKNOWN
    assert stream_of(program(parsed, REFUSED, '"dev"')).on_foreign.outcome is Outcome.COMPARED
