"""Generators of Flask, bare and wrapped in `stream_with_context`."""

from flask import Flask, Response, abort, stream_with_context

app = Flask(__name__)


@app.get("/handler")
def handler():
    abort(409)


def frames(first):
    if first:
        yield first
    abort(409)


@app.get("/unsent")
def unsent():
    return Response(frames(None), mimetype="text/event-stream")


@app.get("/context/unsent")
def context_unsent():
    return Response(stream_with_context(frames(None)), mimetype="text/event-stream")


@app.get("/sent")
def sent():
    return Response(frames("id: 1\ndata: a\n\n"), mimetype="text/event-stream")


@app.get("/context/sent")
def context_sent():
    return Response(stream_with_context(frames("id: 1\ndata: a\n\n")), mimetype="text/event-stream")


if __name__ == "__main__":
    import sys

    app.run("127.0.0.1", int(sys.argv[1]))
