"""Classes of the tree that extend a list, a dict or a set: their objects hold what such a container holds."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, KeyOrigin, Outcome, Scope, Stream, Truth, Where
from tests.read.python.programs import stream_of

LOG = """
import asyncio, itertools, uuid
from collections import OrderedDict, UserDict, UserList, defaultdict, deque

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import StreamingResponse

app = FastAPI()


CLASS


log = MADE
fresh = asyncio.Event()


@app.post("/say")
async def say(text: str):
    log.keep(text)
    fresh.set()


@app.get("/events")
async def events(request: Request):
    last = request.headers.get("last-event-id")
    if last is not None and last not in log.keys():
        raise HTTPException(409, "not an id of this log")

    async def body():
        sent = last
        while True:
            for key, text in log.after(sent):
                sent = key
                yield f"id: {key}\\ndata: {text}\\n\\n"
            await fresh.wait()

    return StreamingResponse(body(), media_type="text/event-stream")
"""

AFTER = """
    def after(self, last):
        keys = list(self)
        start = keys.index(last) + 1 if last in keys else 0
        return [(key, self[key]) for key in keys[start:]]
"""

PUT = {
    "by the subscript": "self[uuid.uuid4().hex] = text",
    "by the method above": "super().__setitem__(uuid.uuid4().hex, text)",
    "by the class above": "dict.__setitem__(self, uuid.uuid4().hex, text)",
    "by update": "self.update({uuid.uuid4().hex: text})",
    "by setdefault": "self.setdefault(uuid.uuid4().hex, text)",
}


def of(text: str, made: str = "Log()") -> Stream:
    return stream_of(LOG.replace("CLASS", text.strip()).replace("MADE", made))


def told(stream: Stream) -> tuple[IdKind, Scope, Where, Outcome]:
    return stream.ids.kind, stream.ids.scope, stream.replay.where, stream.on_foreign.outcome


RANDOM = (IdKind.RANDOM, Scope.UNIQUE_LOCAL, Where.MEMORY, Outcome.FAIL_CLOSED)


@pytest.mark.parametrize("base", ["dict", "OrderedDict", "dict[str, str]", "OrderedDict[str, str]"])
@pytest.mark.parametrize("put", [p for p in PUT if p != "by the class above"])
def test_what_a_dict_of_the_tree_is_given_it_holds(base: str, put: str) -> None:
    assert told(of(f"class Log({base}):\n    def keep(self, text):\n        {PUT[put]}\n{AFTER}")) == RANDOM


def test_what_it_is_given_by_the_class_above_it_holds() -> None:
    put = PUT["by the class above"]
    assert told(of(f"class Log(dict):\n    def keep(self, text):\n        {put}\n{AFTER}")) == RANDOM


def test_a_dict_of_the_tree_counts_what_it_holds() -> None:
    """Look-alike: the key is how many there are, so that two replicas give out the same ones."""
    stream = of(f"class Log(dict):\n    def keep(self, text):\n        self[str(len(self) + 1)] = text\n{AFTER}")
    assert told(stream) == (IdKind.INDEX, Scope.OVERLAPPING, Where.MEMORY, Outcome.FAIL_CLOSED)


BOUNDED = """
class Log(OrderedDict):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def __setitem__(self, key, text):
        super().__setitem__(key, text)
        while len(self) > self.size:
            self.popitem(last=False)

    def keep(self, text):
        self[uuid.uuid4().hex] = text
"""


def test_a_dict_that_drops_its_oldest_when_something_is_put_in_is_bounded() -> None:
    stream = of(BOUNDED + AFTER, "Log(100)")
    assert told(stream) == RANDOM
    assert stream.replay.evicts is Truth.YES


def test_a_dict_that_drops_nothing_is_not() -> None:
    text = BOUNDED.replace("while len(self) > self.size:", "if False:")
    assert of(text + AFTER, "Log(100)").replay.evicts is Truth.NO


USER = """
class Log(UserDict):
    def __setitem__(self, key, text):
        self.data[key] = text

    def keep(self, text):
        self[uuid.uuid4().hex] = text
"""


def test_a_wrapped_dict_holds_what_is_put_into_its_data() -> None:
    assert told(of(USER + AFTER)) == RANDOM


LISTED = """
class Log(BASE):
    numbers = itertools.count(1)

    def __init__(self):
        super().__init__(GIVEN)
        self.readers = set()

    def keep(self, text):
        self.append((str(next(self.numbers)), text))

    def keys(self):
        return [key for key, _ in self]

    def after(self, last):
        keys = self.keys()
        return list(self)[keys.index(last) + 1 if last in keys else 0 :]
"""


@pytest.mark.parametrize("base", ["list", "deque", "UserList"])
def test_a_list_of_the_tree_holds_what_is_appended(base: str) -> None:
    stream = of(LISTED.replace("BASE", base).replace("GIVEN", ""))
    assert told(stream) == (IdKind.COUNTER, Scope.OVERLAPPING, Where.MEMORY, Outcome.FAIL_CLOSED)
    assert stream.replay.evicts is Truth.NO


def test_a_deque_of_the_tree_is_as_long_as_the_class_above_is_told() -> None:
    assert of(LISTED.replace("BASE", "deque").replace("GIVEN", "maxlen=500")).replay.evicts is Truth.YES


SESSIONS = """
from uuid import uuid4
from collections import OrderedDict, UserDict, defaultdict

from fastapi import FastAPI, Header, HTTPException
from sse_starlette import EventSourceResponse

app = FastAPI()


class Session:
    def __init__(self):
        self.said = []


class Sessions(BASE):
    def open(self):
        key = uuid4().hex
        self[key] = Session()
        return key


sessions = Sessions(GIVEN)


@app.post("/sessions")
async def start():
    return {"key": sessions.open()}


@app.post("/sessions/{key}")
async def say(key: str, text: str):
    sessions[key].said.append(text)


@app.get("/sessions/{key}")
async def steps(key: str, last_event_id: int = Header(default=0)):
    FIND
    said = session.said

    async def body():
        for n, text in enumerate(said[last_event_id:], last_event_id + 1):
            yield {"id": str(n), "data": text}

    return EventSourceResponse(body())
"""

REFUSING = {
    "in": "if key not in sessions:\n        raise HTTPException(404)\n    session = sessions[key]",
    "get": "session = sessions.get(key)\n    if session is None:\n        raise HTTPException(404)",
    "except": "try:\n        session = sessions[key]\n    except KeyError:\n        raise HTTPException(404)",
}


@pytest.mark.parametrize("find", REFUSING.values(), ids=REFUSING)
@pytest.mark.parametrize("base", ["dict", "OrderedDict", "UserDict"])
def test_a_table_of_sessions_guards_by_the_keys_that_are_put_into_it(base: str, find: str) -> None:
    text = SESSIONS.replace("BASE", base).replace("GIVEN", "").replace("FIND", find)
    (guard,) = stream_of(text).guards
    assert (guard.status, guard.origin) == (404, KeyOrigin.RANDOM_LOCAL), guard.why


def test_a_table_that_makes_what_it_does_not_have_guards_nothing() -> None:
    """Look-alike: the class above is told to make what is asked for."""
    text = SESSIONS.replace("BASE", "defaultdict").replace("GIVEN", "Session")
    assert not stream_of(text.replace("FIND", "session = sessions[key]")).guards


OWN = """
class Log:
    def __init__(self):
        self.kept = {}

    def __setitem__(self, key, text):
        self.kept[key] = text

    def __getitem__(self, key):
        return self.kept[key]

    def __contains__(self, key):
        return key in self.kept

    def __iter__(self):
        return iter(self.kept)

    def keys(self):
        return self.kept.keys()

    def keep(self, text):
        self[uuid.uuid4().hex] = text
"""


@pytest.mark.parametrize("base", ["", "(MutableMapping)", "(MutableMapping[str, str])"])
def test_a_class_that_defines_its_subscripts_itself_is_asked_by_them(base: str) -> None:
    text = OWN.replace("class Log", f"from collections.abc import MutableMapping\n\n\nclass Log{base}")
    assert told(of(text + AFTER)) == RANDOM
