"""A server that speaks just enough MCP to cut a tool's stream after one id, and says at `/log` what it was sent."""

import json

from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

SEEN = []
SHOWN = ("last-event-id", "cookie", "mcp-session-id")
RESULT = {"content": [{"type": "text", "text": "done"}]}


def answer(number, result):
    return {"jsonrpc": "2.0", "id": number, "result": result}


def stream(text):
    return StreamingResponse(iter([text]), media_type="text/event-stream")


async def mcp(request):
    message = json.loads(await request.body()) if request.method == "POST" else {}
    method = message.get("method", request.method)
    SEEN.append({"method": method, **{name: request.headers.get(name) for name in SHOWN}})
    if method == "initialize":
        who = {"name": "resuming", "version": "1"}
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": who}
        made = JSONResponse(answer(message["id"], result), headers={"mcp-session-id": "s1"})
        made.set_cookie("affinity", "replica-a")
        return made
    if method == "tools/call":
        mcp.number = message["id"]
        return stream("id: e7\nretry: 50\ndata: \n\n")
    if method == "tools/list":
        tool = {"name": "work", "inputSchema": {"type": "object"}}
        return JSONResponse(answer(message["id"], {"tools": [tool]}))
    if method == "GET" and request.headers.get("last-event-id"):
        return stream(f"id: e8\ndata: {json.dumps(answer(mcp.number, RESULT))}\n\n")
    return Response(status_code=405 if method == "GET" else 202)


async def log(request):
    return JSONResponse(SEEN)


async def feed(request):
    """Cookies, for clients of plain HTTP."""
    SEEN.append({"method": "feed", **{name: request.headers.get(name) for name in SHOWN}})
    made = stream("id: 1\ndata: a\n\n")
    made.set_cookie("affinity", "replica-a")
    return made


app = Starlette(
    routes=[Route("/mcp", mcp, methods=["GET", "POST", "DELETE"]), Route("/log", log), Route("/feed", feed)],
)
