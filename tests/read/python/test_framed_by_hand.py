"""Events whose lines are written by hand: which of their parts is the id, and what hides none."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Truth
from tests.read.python.programs import answered, stream_of

FRAMES = {
    "one f-string": 'yield f"id: {key}\\ndata: {text}\\n\\n"',
    "percent": 'yield "id: %s\\ndata: %s\\n\\n" % (key, text)',
    "bytes": 'yield b"id: " + key.encode() + b"\\ndata: " + text.encode() + b"\\n\\n"',
    "several pieces": 'yield f"id:{key}\\n"\n            yield f"data:{text}\\n\\n"',
    "a list of lines": (
        'lines = [f"event: note"]\n            if key:\n                lines.append(f"id: {key}")\n'
        '            lines.append(f"data: {text}")\n            yield "\\n".join(lines) + "\\n\\n"'
    ),
    "added up": (
        'out = ""\n            out += f"id: {key}\\n"\n'
        '            out += "data: %s\\n" % text\n            yield out + "\\n"'
    ),
}


@pytest.mark.parametrize("name", FRAMES)
def test_framed_by_hand(name: str) -> None:
    """The id is found however the frame is put together; without its line there is none."""
    handler = f"""
    from starlette.responses import StreamingResponse

    async def body():
        for key, text in list(log):
            {FRAMES[name]}

    return StreamingResponse(body(), media_type="text/event-stream")
    """
    assert stream_of(answered(handler)).ids.kind is IdKind.RANDOM
    silent = handler.replace("id:", "event:").replace('b"id', 'b"event')
    ids = stream_of(answered(silent)).ids
    assert ids.kind is IdKind.NONE
    assert ids.reaches_fresh_client is Truth.NO


def test_other_ids_are_not_event_ids() -> None:
    """A JSON-RPC id, a listener's name and an id in the payload are not the `id` field."""
    handler = """
    import json, uuid

    listener = uuid.uuid4().hex

    async def body():
        for key, text in list(log):
            yield {"event": "message", "data": json.dumps({"id": key, "listener": listener, "text": text})}

    return EventSourceResponse(body())
    """
    assert stream_of(answered(handler)).ids.kind is IdKind.NONE


def test_id_of_a_heartbeat_does_not_hide_the_others() -> None:
    """A constant id on control frames is not where the ids come from."""
    handler = """
    async def body():
        yield {"id": "0", "event": "hello", "data": ""}
        for key, text in list(log):
            yield {"id": key, "data": text}

    return EventSourceResponse(body())
    """
    assert stream_of(answered(handler)).ids.kind is IdKind.RANDOM


@pytest.mark.parametrize(
    ("sent", "reaches"),
    [
        ("yield ServerSentEvent(**json.loads(message))", Truth.UNKNOWN),
        ('yield {"data": "x", "id": json.loads(message)["id"]}', Truth.UNKNOWN),
        ("yield f\"id: {json.loads(message)['id']}\\ndata: x\\n\\n\"", Truth.YES),
    ],
    ids=["a payload spread out", "a field of a payload", "an id line in the text"],
)
def test_an_id_out_of_sight_may_be_none_unless_its_line_is_written(sent: str, reaches: Truth) -> None:
    stream = stream_of(
        f"""
        import json
        from redis.asyncio import Redis
        from sse_starlette import EventSourceResponse, ServerSentEvent
        from starlette.applications import Starlette
        from starlette.routing import Route
        redis = Redis()

        async def feed(request):
            async def body():
                async with redis.pubsub() as channel:
                    await channel.subscribe("feed")
                    async for message in channel.listen():
                        {sent}

            return EventSourceResponse(body())


        app = Starlette(routes=[Route("/feed", feed)])
        """
    )
    assert stream.ids.kind is IdKind.UNKNOWN
    assert stream.ids.reaches_fresh_client is reaches


BEHIND = {
    "an event that frames itself": "ServerSentEvent(data=text).encode()",
    "what frames it out of sight": "framing.encoded(text)",
}


@pytest.mark.parametrize("name", BEHIND)
def test_an_id_written_in_front_of_what_frames_the_event(name: str) -> None:
    """The line belongs to the event that follows it; without the line it is not known whether there is an id where what
    frames the event is out of sight."""
    handler = f"""
    import framing
    from sse_starlette.sse import ServerSentEvent
    from starlette.responses import StreamingResponse

    async def body():
        for key, text in list(log):
            yield f"id: {{key}}\\n{{{BEHIND[name]}}}"

    return StreamingResponse(body(), media_type="text/event-stream")
    """
    assert stream_of(answered(handler)).ids.kind is IdKind.RANDOM
    silent = handler.replace("id: {", "event: {")
    expected = IdKind.UNKNOWN if "framing.enc" in BEHIND[name] else IdKind.NONE
    assert stream_of(answered(silent)).ids.kind is expected
