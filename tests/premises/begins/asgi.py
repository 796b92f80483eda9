"""No framework: a refusal that is its own answer, and exceptions before and after `http.response.start`."""


async def app(scope, receive, send):
    if scope["type"] != "http":
        raise RuntimeError("no lifespan")
    if scope["path"] == "/handler":
        await send({"type": "http.response.start", "status": 409, "headers": []})
        await send({"type": "http.response.body", "body": b"foreign"})
        return
    if scope["path"] == "/raises":
        raise ValueError("foreign")
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
    if scope["path"] == "/sent":
        await send({"type": "http.response.body", "body": b"id: 1\ndata: a\n\n", "more_body": True})
    raise ValueError("foreign")
