"""Streams without ids in trees where not all ways are followed: that no file writes an id is proof enough."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Truth, Where
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
