"""What a constructor that nothing calls is given: an object of the class of a library for which it asks."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Where
from tests.read.python.programs import stream_of

HUB = """
import json
import redis
from flask import Flask, Response, request


class Hub:
    def __init__(self, store):
        {asks}

    def after(self, last):
        return self.rows.xrange("log", "(" + last, "+")


class Feed:
    def __init__(self, hub: Hub):
        self.hub = hub

    def __iter__(self):
        for number, fields in self.hub.after(request.headers.get("Last-Event-ID", "0")):
            yield f"id: {{number}}\\ndata: {{fields['text']}}\\n\\n"
"""
ASKS = {
    "one kind": "self.rows = store if isinstance(store, redis.Redis) else redis.Redis.from_url(store)",
    "by another name": "assert isinstance(store, redis.StrictRedis)\n        self.rows = store",
    "or an address": (
        "if isinstance(store, redis.StrictRedis):\n            self.rows = store\n"
        "        elif isinstance(store, str):\n            self.rows = redis.Redis.from_url(store)"
    ),
}


@pytest.mark.parametrize("name", ASKS)
def test_constructor_that_asks_for_a_client_is_given_one(name: str) -> None:
    """Whoever makes it hands a client over, or what makes one."""
    stream = stream_of(HUB.format(asks=ASKS[name]))
    assert (stream.ids.kind, stream.replay.where) == (IdKind.STORE, Where.SHARED)


OTHERS = {
    "nothing is asked": "self.rows = store",
    "another one is asked": "print(isinstance(self, redis.Redis))\n        self.rows = store",
    "nobody knows the class": "assert isinstance(store, redis.Unheard)\n        self.rows = store",
    "several": "assert isinstance(store, redis.Redis) or isinstance(store, redis.PubSub)\n        self.rows = store",
}


@pytest.mark.parametrize("name", OTHERS)
def test_constructor_that_asks_for_none_is_given_nothing_known(name: str) -> None:
    """The look-alikes: what is handed over may be anything."""
    assert stream_of(HUB.format(asks=OTHERS[name])).ids.kind is IdKind.UNKNOWN
