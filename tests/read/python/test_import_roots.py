"""What an import means where a folder is a package, and the program is started inside it all the same."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Scope, Where
from sselint.read.python.source.modules import ModuleTable
from sselint.source import Source
from tests.read.python.programs import stream_of

ENDPOINT = """
from fastapi import APIRouter, Header
from fastapi.responses import StreamingResponse
from {feeds} import feed

router = APIRouter()

@router.get("/news")
async def news(last_event_id: str = Header(None)):
    return StreamingResponse(feed.after(last_event_id), media_type="text/event-stream")
"""
FEED = """
class Feed:
    def __init__(self):
        self.told = []

    def tell(self, text):
        self.told.append((len(self.told), text))

    async def after(self, last):
        for number, text in list(self.told):
            if last is None or number > int(last):
                yield f"id: {number}\\ndata: {text}\\n\\n"

feed = Feed()
"""
MAIN = """
from fastapi import FastAPI
from routes import news

app = FastAPI()
app.include_router(news.router)
"""


def test_a_program_started_inside_a_package_finds_its_own_modules() -> None:
    """`server/__init__.py` is there, and every import is written from inside `server`."""
    stream = stream_of({
        "server/__init__.py": "",
        "server/main.py": MAIN,
        "server/routes/__init__.py": "",
        "server/routes/news.py": ENDPOINT.format(feeds="feeds.memory"),
        "server/feeds/__init__.py": "",
        "server/feeds/memory.py": FEED,
    })
    assert len(stream.apps) == 1
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.INDEX, Scope.OVERLAPPING), stream.ids.why
    assert stream.replay.where is Where.MEMORY
    assert stream.on_foreign.outcome is Outcome.COMPARED


FOLDER = ("api/__init__.py", "api/app.py", "api/mcp/__init__.py", "api/mcp/server.py", "api/queue.py", "api/feed.py")


@pytest.mark.parametrize(
    "name, unit, meant",
    [
        ("mcp.server", "api", None),  # the library, as the rules know
        ("queue", "api", None),  # the standard library
        ("feed", "api", "api/feed.py"),
        ("feed", ".", None),  # one word alone, and nothing says that the program starts there
    ],
)
def test_what_may_be_a_library_is_one(name: str, unit: str, meant: str | None) -> None:
    sources = [Source(path, "", "python", unit=unit) for path in FOLDER]
    table = ModuleTable(sources, {"mcp"})
    found = table.resolve(name, table.at("api/app.py"))
    assert (found.path if found is not None else None) == meant


def test_a_script_finds_what_stands_beside_it() -> None:
    """Python looks in the folder of the file that it is told to run, whatever else that folder is."""
    run = 'if __name__ == "__main__":\n    pass\n'
    texts = dict.fromkeys(("tools/__init__.py", "tools/store.py", "lib/__init__.py", "lib/a.py"), "")
    texts["tools/serve.py"] = run
    texts["lib/b.py"] = "def main():\n    if __name__ == '__main__': pass\n"
    table = ModuleTable([Source(path, text, "python") for path, text in texts.items()])
    found = table.resolve("store", table.at("tools/serve.py"))
    assert found is not None and found.path == "tools/store.py"
    assert table.resolve("b", table.at("lib/a.py")) is None
