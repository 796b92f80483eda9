"""Trees where not all ways are followed: that no file writes an id, or asks for the cursor, is proof enough."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Truth, Where
from sselint.read.python.answers.reading import may_read
from sselint.read.python.answers.unnamed import may_name
from sselint.read.python.interpreter.oracle import Budget
from sselint.read.python.libraries.environment import Environment
from sselint.read.python.rules import load_rules
from sselint.read.python.server.world import World
from sselint.read.python.source.modules import ModuleTable
from sselint.source import Source
from tests.read.python.programs import ASKS, stream_of

SERVER = """
import json
import sys

from fastapi import FastAPI
from fastapi.responses import StreamingResponse

app = FastAPI()


@app.get("/progress")
async def progress():
    async def body():
        data, text = json.load(sys.stdin), ""
        yield "data: begun\\n\\n"
{asks}
        yield f"data: {{text}}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


def test_a_stream_that_cannot_be_followed_to_its_end_has_no_ids_where_nothing_writes_one() -> None:
    stream = stream_of(SERVER.format(asks=ASKS))
    assert stream.ids.kind is IdKind.NONE
    assert stream.cursor.read is Truth.NO
    assert stream.replay.where is Where.NONE


def test_ids_are_open_where_another_file_writes_the_field() -> None:
    """Look-alike: what was not followed may lead there."""
    files = {
        "app.py": SERVER.format(asks=ASKS),
        "frames.py": "def frame(key, text):\n    return f'id: {key}\\ndata: {text}'",
    }
    assert stream_of(files).ids.kind is IdKind.UNKNOWN


WRITES = [
    "f'id: {key}\\n'",
    "'event: tick\\nid: ' + key",
    "b'id:%d\\n'",
    '"""\nid: {key}\ndata: x\n"""',
    "'id' ': ' + key",
    "f'{name}: {value}\\n'",
    "'%s: %s\\n' % pair",
    "async for line in got.aiter_lines():\n    yield line\nkind = Answer(media_type='text/event-stream')",
    "# an event of an EventSource\nlines = [f'{name}: {value}' for name, value in event.items()]",
    "# an event of an EventSource\nlines = ['%s: %s' % field for field in event.items()]",
    "from sse_starlette import EventSourceResponse\nevent = {'id': 3}",
    "from fastapi.sse import ServerSentEvent\nevent = ServerSentEvent(data=text, id=key)",
    "import aiohttp_sse\nasync with aiohttp_sse.EventSourceResponse() as sent:\n    await sent.send(text, id=key)",
]
SILENT = [
    "'data: {}\\n\\n'",
    '{"id": key, "grid": 2}',
    "class Event:\n    id: int\n    name: str",
    'class Event:\n    """What happened."""\n\n    id: int',
    "line.startswith('id:') or line.startswith(b'id:')",
    "f'{path}:{number}: {message}\\n'",
    "print(f'{name}: {value}\\n')",
    "'valid: yes'",
    "f'{name}: {value}'",
    "print('user id: 3')",
    "lines = [f'{name}: {value}' for name, value in settings.items()]",
    "# an event of an EventSource\nprint(f'{name}: {value}')",
    "async for line in got.aiter_lines():\n    print(line)\nasked = {'Accept': 'text/event-stream'}",
    "from sse_starlette import EventSourceResponse\nevent = {'data': 'x'} if key.id == 3 else {}",
    "from ag_ui.encoder import EventEncoder",
]


@pytest.mark.parametrize(("text", "may"), [*((t, True) for t in WRITES), *((t, False) for t in SILENT)])
def test_what_may_write_an_id(text: str, may: bool) -> None:
    """A field of an event stream, however it is put together, or something of a library that gives ids. Look-alikes:
    keys of dicts, fields of classes, words that end so, lines that are no fields."""
    rules = load_rules(())
    table = ModuleTable([Source("app.py", text, "python")], rules.heads)
    assert may_name(World(table, rules, Environment(), Budget(1))) is may


READS = [
    "request.headers.get('Last-Event-ID')",
    "request.META['HTTP_LAST_EVENT_ID']",
    "dict(scope['headers']).get(b'last-event-id')",
    "CURSOR = 'last-event-id'",
    "async def feed(last_event_id: str | None = Header(None)): ...",
    "class Asked(BaseModel):\n    last_event_id: int = 0",
    "def feed(request, last_event_id): ...",
    "def feed(\n    request,\n    last_event_id=None,\n): ...",
    "async def feed(lastEventId=Query(None)): ...",
    "class Asked(Form):\n    last_event_id = forms.IntegerField()",
    "async with sse_response(request) as response:\n    since = response.last_event_id",
    "allow_headers = ['Accept']\nsince = request.headers.get('Last-Event-ID')",
]
SPEAKS = [
    "# a client comes back with Last-Event-ID",
    'def feed():\n    """Last-Event-ID is not supported."""',
    "last_event_id = after_id\nfor event in read(after_id=last_event_id):\n    last_event_id = event.number",
    "log.info('no Last-Event-ID header was sent')",
    "app.add_middleware(CORSMiddleware, allow_headers=['Accept', 'Last-Event-ID'])",
    "ALLOWED_HEADERS: list[str] = [\n    'Accept',\n    'Last-Event-ID',\n]",
    "CORS_HEADERS = ('Accept', 'Last-Event-ID')",
    "read_since(number, last_event_id=None)",
]


@pytest.mark.parametrize(("text", "may"), [*((t, True) for t in READS), *((t, False) for t in SPEAKS)])
def test_what_may_read_the_cursor(text: str, may: bool) -> None:
    """Who asks for it by its name, or is given it under its name. Look-alikes: who speaks of it, lets browsers send it,
    or calls a variable so."""
    assert may_read(text) is may


@pytest.mark.parametrize("text", [SPEAKS[2], SPEAKS[4]], ids=["a variable", "allowed"])
def test_a_stream_in_a_tree_that_only_speaks_of_the_cursor_does_not_read_it(text: str) -> None:
    stream = stream_of({"app.py": SERVER.format(asks=ASKS), "others.py": text})
    assert stream.cursor.read is Truth.NO
    assert stream.ids.kind is IdKind.NONE


def test_the_cursor_is_open_where_another_file_may_read_it() -> None:
    """Look-alike: what was not followed may lead there."""
    others = "def since(request):\n    return request.headers.get('last-event-id')"
    stream = stream_of({"app.py": SERVER.format(asks=ASKS), "others.py": others})
    assert stream.cursor.read is Truth.UNKNOWN


BEHIND = """
import json
import sys

from fastapi import FastAPI
from fastapi.responses import JSONResponse, StreamingResponse

app = FastAPI()


class Busy(Exception):
    pass


@app.exception_handler(Busy)
async def busy(request, exception):
    return JSONResponse({{}}, status_code=503)


class Cached:
    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if any(name == b"authorization" for name, _ in scope.get("headers", [])):
            scope["private"] = True
        await self.app(scope, receive, send)


app.add_middleware(Cached)


@app.get("/progress")
async def progress():
    if json.load(open("busy.json")):
        raise Busy()

    async def body():
        data, text = json.load(sys.stdin), ""
        yield "data: begun\\n\\n"
{asks}
        yield f"data: {{text}}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


def test_a_refusal_says_nothing_of_a_cursor_that_comes_along_among_all_headers() -> None:
    """An exception that a handler of the tree answers was taken for a sign that something depends on the cursor."""
    stream = stream_of(BEHIND.format(asks=ASKS))
    assert stream.cursor.read is Truth.NO
    assert stream.ids.kind is IdKind.NONE
