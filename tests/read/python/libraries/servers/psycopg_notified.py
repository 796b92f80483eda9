"""Silent: what the database notifies of is passed on as it comes. That has no history, and is named by who sent it."""

import json

import psycopg
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.applications import Starlette
from starlette.routing import Route


async def notes(topic):
    connection = await psycopg.AsyncConnection.connect("postgresql://db/app", autocommit=True)
    await connection.execute(f"LISTEN {topic}")
    arriving = connection.notifies()
    async for note in arriving:
        yield ServerSentEvent(**json.loads(note.payload))


async def feed(request):
    return EventSourceResponse(notes(request.path_params["topic"]))


app = Starlette(routes=[Route("/{topic}", feed)])
