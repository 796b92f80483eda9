"""Functions that put an application together: all that they register answers, however much there is of it."""

from __future__ import annotations

import pytest

from tests.read.python.programs import stream_of

ASKED = "    if os.environ.get('PAGE_{number}'):\n        app.state.page_{number} = True\n"
SITE = """
import itertools
import os

from fastapi import FastAPI
from fastapi.responses import StreamingResponse

numbers = itertools.count(1)


async def feed():
    async def body():
        while True:
            yield f"id: {{next(numbers)}}\\ndata: x\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")


{pages}

PAGES = [{named}{listed}]


def create_app():
    app = FastAPI()
{asked}
    for path, handler in PAGES:
        app.add_api_route(path, handler)
    return app
"""


def site(listed: str) -> str:
    several = range(40)
    pages = "\n\n".join(f"async def page{n}():\n    return {n}" for n in several)
    named = "".join(f'("/page{n}", page{n}), ' for n in several)
    asked = "".join(ASKED.format(number=n) for n in range(30))
    return SITE.format(pages=pages, named=named, listed=listed, asked=asked)


@pytest.mark.parametrize(("listed", "url"), [('("/feed", feed)', "/feed"), ("", None)])
def test_the_last_entry_of_a_long_table_is_mounted(listed: str, url: str | None) -> None:
    """Look-alike: one that the table leaves out answers nowhere."""
    stream = stream_of(site(listed))
    assert (stream.url, bool(stream.apps)) == (url, url is not None)
