"""A client of MCP's streamable HTTP in plain requests, so that a test sees every status and every event itself."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests.premises.answers import Answer, ask

REVISION = "2025-06-18"
"""The last revision without a priming event: every id on the wire is that of a message."""


@dataclass
class McpClient:
    """A client with a session at the process on `port`, if the server there opens one."""

    port: int
    path: str
    label: str
    revision: str = REVISION
    session: str | None = None
    tool: str = "work"

    def headers(self, session: str | None = None) -> dict[str, str]:
        """What it sends with every request."""
        found = {"MCP-Protocol-Version": self.revision, "Accept": "application/json, text/event-stream"}
        session = session or self.session
        return {**found, "Mcp-Session-Id": session} if session else found

    def post(self, method: str, params: Any, number: int | None = None, until: str | None = None) -> Answer:
        """Sends one JSON-RPC request, or a notification if it has no number."""
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        body = json.dumps(message if number is None else {**message, "id": number})
        headers = {**self.headers(), "Content-Type": "application/json"}
        return ask(self.port, self.path, headers, method="POST", body=body, until=until)

    def initialize(self) -> Answer:
        """Opens a session, where the server has sessions."""
        who = {"protocolVersion": self.revision, "capabilities": {}, "clientInfo": {"name": self.label, "version": "1"}}
        answer = self.post("initialize", who, 0)
        self.session = answer.headers.get("mcp-session-id")
        self.post("notifications/initialized", {})
        return answer

    def call(self, steps: int, *, until: str | None = None, number: int = 1) -> Answer:
        """Calls the tool, and cuts the stream once it holds `until`."""
        arguments = {"label": self.label, "steps": steps}
        return self.post("tools/call", {"name": self.tool, "arguments": arguments}, number, until)

    def resume(self, port: int, cursor: str | None, *, session: str | None = None, seconds: float = 1.0) -> Answer:
        """Comes back to a process with a cursor, and reads for some time."""
        headers = {**self.headers(session), **({"Last-Event-ID": cursor} if cursor else {})}
        return ask(port, self.path, headers, seconds=seconds)


def words(answer: Answer) -> list[str]:
    """What the messages of a stream say: "A:mine:1" for the first step that A reports, "A:mine:done" for a result."""
    messages = [json.loads(data) for data in answer.data if data]
    return [text for text in map(_text, messages) if text]


def _text(message: dict[str, Any]) -> str:
    if "params" in message:
        logged = message["params"]["data"]
        return str(logged["msg"] if isinstance(logged, dict) else logged)
    content = message["result"].get("content")
    return str(content[0]["text"]) if content else ""
