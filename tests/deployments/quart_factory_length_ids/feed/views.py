from quart import Blueprint, abort, current_app, make_response, request

from .broker import ServerSentEvent

blueprint = Blueprint("feed", __name__)


@blueprint.post("/messages")
async def create():
    body = await request.get_json()
    number = await current_app.broker.publish(body["message"])
    return {"number": number}, 201


@blueprint.get("/sse")
async def sse():
    if "text/event-stream" not in request.accept_mimetypes:
        abort(400)
    since = request.headers.get("Last-Event-ID", default=0, type=int)

    async def send_events():
        async for number, message in current_app.broker.subscribe(since):
            event = ServerSentEvent(message, id=number, event="message")
            yield event.encode()

    response = await make_response(
        send_events(),
        {"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "Transfer-Encoding": "chunked"},
    )
    response.timeout = None
    return response
