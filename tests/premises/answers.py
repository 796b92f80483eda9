"""One HTTP request on loopback, and what came of it: the status, the body as far as it came, and how it ended."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.message import Message


@dataclass(frozen=True)
class Answer:
    """`ended` is "complete", "aborted" (the connection broke inside the body), "open" (it still was when the time was
    over), or, without a response and with `status` 0, "refused" or "silent" (the time was over)."""

    status: int
    body: str
    ended: str
    headers: Mapping[str, str]

    @property
    def ids(self) -> list[str]:
        """The values of the `id:` fields."""
        return self.fields("id")

    @property
    def data(self) -> list[str]:
        """The values of the `data:` fields."""
        return self.fields("data")

    def fields(self, name: str) -> list[str]:
        """The values of one field of the events."""
        lines = self.body.replace("\r\n", "\n").split("\n")
        return [line[len(name) + 1 :].strip() for line in lines if line.startswith(f"{name}:")]


def ask(
    port: int,
    path: str,
    headers: Mapping[str, str] | None = None,
    *,
    method: str = "GET",
    body: str | None = None,
    seconds: float = 10,
    until: str | Callable[[str], bool] | None = None,
) -> Answer:
    """Sends a request to 127.0.0.1 and reads the answer to its end, until `seconds` pass, or until the body holds
    `until` (or is what it wants); then the connection is closed."""
    enough = until if callable(until) else lambda text: until is not None and until in text
    deadline = time.monotonic() + seconds
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request(method, path, body=body, headers={"Accept": "text/event-stream", **(headers or {})})
        response = connection.getresponse()
    except (ConnectionError, http.client.HTTPException, TimeoutError) as error:
        connection.close()
        return Answer(0, "", "silent" if isinstance(error, TimeoutError) else "refused", {})
    received = bytearray()
    ended = "complete"
    try:
        while not enough(received.decode(errors="replace")):
            left = deadline - time.monotonic()
            if left <= 0:
                ended = "open"
                break
            if connection.sock is not None:
                connection.sock.settimeout(left)
            piece = response.read1(65_536)
            if not piece:
                break
            received += piece
        else:
            ended = "open"
    except TimeoutError:
        ended = "open"
    except (http.client.HTTPException, ConnectionError):
        ended = "aborted"
    finally:
        response.close()
        connection.close()
    return Answer(response.status, received.decode(errors="replace"), ended, _plain(response.headers))


def _plain(headers: Message) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
