"""`request.respond()` makes a response of Sanic, its first `send()` begins it."""

import sys

from sanic import Sanic
from sanic.exceptions import SanicException

app = Sanic("begins")


@app.get("/handler")
async def handler(request):
    raise SanicException("foreign", status_code=409)


@app.get("/unsent")
async def unsent(request):
    await request.respond(content_type="text/event-stream")
    raise SanicException("foreign", status_code=409)


@app.get("/sent")
async def sent(request):
    response = await request.respond(content_type="text/event-stream")
    await response.send("id: 1\ndata: a\n\n")
    raise SanicException("foreign", status_code=409)


if __name__ == "__main__":
    app.run(host="127.0.0.1", port=int(sys.argv[1]), single_process=True, access_log=False)
