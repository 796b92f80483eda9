"""Whether a stream may be part of a deployment: what mounts it decides, and where it stands."""

from __future__ import annotations

import pytest

from tests.read.python.programs import stream_of

VIEWS = (
    "from starlette.responses import StreamingResponse\nimport itertools\nnumbers = itertools.count(1)\n\n\n"
    "async def frames():\n    while True:\n        yield f'id: {next(numbers)}\\ndata: x\\n\\n'\n\n\n"
    "async def events(request):\n    return StreamingResponse(frames(), media_type='text/event-stream')\n"
)
APP = (
    "from starlette.applications import Starlette\nfrom starlette.routing import Route\n"
    "from library.views import events\n"
    "app = Starlette(routes=[Route('/events', events)])\n"
)


@pytest.mark.parametrize(
    ("places", "deployable"),
    [
        (["server.py"], True),
        (["examples/chat/server.py"], False),
        (["examples/chat/server.py", "server.py"], True),
        (["docs/tutorial/main.py"], False),
        (["docs_src/asgi/page.py"], False),
        (["contests/server.py"], True),
    ],
)
def test_what_mounts_library_code_decides(places: list[str], deployable: bool) -> None:
    """The library of an SDK's own repository, mounted by its examples alone, is nobody's deployment."""
    files = {"library/__init__.py": "", "library/views.py": VIEWS, **dict.fromkeys(places, APP)}
    stream = stream_of(files)
    assert {a.path for a in stream.apps} == set(places)
    assert stream.deployable is deployable


def test_an_example_stays_one_whatever_mounts_it() -> None:
    files = {"examples/__init__.py": "", "examples/views.py": VIEWS, "server.py": APP.replace("library", "examples")}
    stream = stream_of(files)
    assert not stream.deployable
