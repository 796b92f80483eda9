"""Fires: no framework at all; the cursor is a pair of bytes among the headers."""

import asyncio

events = []


async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    if scope["method"] == "POST":
        message = await receive()
        events.append((len(events) + 1, message["body"]))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})
        return
    last = 0
    for name, value in scope["headers"]:
        if name == b"last-event-id":
            last = int(value)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
    while True:
        for number, text in events:
            if number > last:
                frame = b"id: %d\ndata: %s\n\n" % (number, text)
                await send({"type": "http.response.body", "body": frame, "more_body": True})
                last = number
        await asyncio.sleep(0.2)
