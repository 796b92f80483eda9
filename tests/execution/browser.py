"""A client like a browser's EventSource: it comes back with the last id that it holds, and returns cookies."""

from __future__ import annotations

import json
import re
import threading
import time
from dataclasses import dataclass, field

from tests.premises.answers import Answer, ask

RETRY_SECONDS = 0.2
TEXT = re.compile(r"\b([a-z]\d+)\b")
"""What the tests publish: "a4" is the fourth text that was published through replica A."""


@dataclass
class Browser:
    """One EventSource. `received` are the texts, `statuses` those of its connections, `ids` what it was given."""

    port: int
    path: str
    cursor: str | None = None
    cookies: dict[str, str] = field(default_factory=dict)
    received: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)

    def connect(self, seconds: float, until: str | None = None, count: int = 0) -> Answer:
        """One connection, read for some time, or until a text or a number of them has arrived, and then cut."""
        headers = {"Last-Event-ID": self.cursor} if self.cursor else {}
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{k}={v}" for k, v in self.cookies.items())

        def enough(body: str) -> bool:
            found = texts_of(body)
            return until in found or 0 < count <= len(found)

        answer = ask(self.port, self.path, headers, seconds=seconds, until=enough)
        self.answers.append(answer)
        self.statuses.append(answer.status)
        given = answer.headers.get("set-cookie")
        if given:
            name, _, value = given.partition(";")[0].partition("=")
            self.cookies[name] = value
        if answer.status == 200:
            self.received.extend(texts_of(answer.body))
            for event in whole_events(answer.body):
                self.ids.extend(value for name, value in event if name == "id")
            self.cursor = self.ids[-1] if self.ids else self.cursor
        return answer

    def follow(self, seconds: float, wanted: list[str]) -> None:
        """Connections one after the other, until all texts have come, time is over, or a status stops it."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and not set(wanted) <= set(self.received):
            answer = self.connect(left, until=wanted[-1] if wanted else None)
            if answer.status != 200:
                return
            if answer.ended != "open":
                time.sleep(RETRY_SECONDS)


def whole_events(body: str) -> list[list[tuple[str, str]]]:
    """The fields of each event that has arrived whole; only those count, and give an id."""
    text = body.replace("\r\n", "\n")
    whole = text[: text.rfind("\n\n") + 1]
    return [
        [(name, value.strip()) for name, _, value in (line.partition(":") for line in event.split("\n"))]
        for event in whole.split("\n\n")
    ]


def texts_of(body: str) -> list[str]:
    """The texts that have arrived."""
    data = [value for event in whole_events(body) for name, value in event if name == "data"]
    return [text for value in data for text in TEXT.findall(value)]


class Following(threading.Thread):
    """A browser that follows in the background while the test publishes."""

    def __init__(self, browser: Browser, seconds: float, wanted: list[str]) -> None:
        super().__init__()
        self.browser, self.seconds, self.wanted = browser, seconds, wanted
        self.start()
        time.sleep(0.6)

    def run(self) -> None:
        self.browser.follow(self.seconds, self.wanted)

    def done(self) -> Browser:
        """The browser, when it has what it wanted or its time is over."""
        self.join()
        return self.browser


def publish(port: int, path: str, *texts: str) -> None:
    """Publishes through one process."""
    for text in texts:
        headers = {"Content-Type": "application/json"}
        answer = ask(port, path, headers, method="POST", body=json.dumps({"text": text}))
        assert answer.status // 100 == 2, (text, answer)
        time.sleep(0.01)  # ids from the clock differ


def outcome(browser: Browser, missed: list[str]) -> str:
    """What a reconnect came to: "loud: STATUS", "no ids", "clean" (all that was missed, in order, once each), or
    "corrupt"."""
    status = browser.statuses[-1]
    if status != 200:
        return f"loud: {status}"
    if browser.cursor is None:
        return "no ids"
    return "clean" if browser.received[: len(missed)] == missed else "corrupt"
