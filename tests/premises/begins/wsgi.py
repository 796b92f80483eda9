"""No framework: `start_response` sends nothing by itself, the first piece of the body does."""


def frames(first):
    if first:
        yield first
    raise ValueError("foreign")


def app(environ, start_response):
    if environ["PATH_INFO"] == "/handler":
        start_response("409 Conflict", [])
        return [b"foreign"]
    start_response("200 OK", [("Content-Type", "text/event-stream")])
    return frames(b"id: 1\ndata: a\n\n" if environ["PATH_INFO"] == "/sent" else None)
