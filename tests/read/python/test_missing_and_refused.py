"""Headers that are missing, keys in the path, statuses by their names, and rows that a condition does not find."""

from __future__ import annotations

import pytest

from sselint.facts import KeyOrigin, Outcome
from tests.read.python.programs import answered, stream_of

COUNTED_LOG = """
import itertools

log, numbers = [], itertools.count(1)


def publish(text):
    log.append((next(numbers), text))
"""


@pytest.mark.parametrize(("caught", "reaches"), [("KeyError", True), ("IndexError", False)])
def test_a_header_that_is_missing_raises_where_it_is_subscripted(caught: str, reaches: bool) -> None:
    """`headers[name]` without the header is a KeyError: caught, a first visit is served. Look-alike: what is caught is
    another error, and a first visit is refused, so that no client ever learns an id."""
    stream = stream_of(
        answered(
            f"""
            try:
                after = int(request.headers["last-event-id"])
            except {caught}:
                after = 0

            async def body():
                for number, text in log:
                    if number > after:
                        yield {{"id": str(number), "data": text}}

            return EventSourceResponse(body())
            """,
            COUNTED_LOG,
        )
    )
    assert (stream.on_missing.outcome is not Outcome.FAIL_CLOSED) is reaches
    assert stream.on_foreign.outcome is Outcome.COMPARED


def test_the_headers_of_http_server_give_nothing_for_what_is_missing() -> None:
    """`email.message.Message` does not raise."""
    stream = stream_of("""
        import itertools
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

        log, numbers = [], itertools.count(1)


        def publish(text):
            log.append((next(numbers), text))


        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                after = int(self.headers["Last-Event-ID"] or 0)
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                for number, text in log:
                    if number > after:
                        self.wfile.write(f"id: {number}\\ndata: {text}\\n\\n".encode())


        ThreadingHTTPServer(("", 8000), Handler).serve_forever()
        """)
    assert stream.on_missing.outcome is not Outcome.FAIL_CLOSED


@pytest.mark.parametrize(
    ("imported", "status", "outcome"),
    [
        ("from http import HTTPStatus", "HTTPStatus.CONFLICT", Outcome.FAIL_CLOSED),
        ("import http", "http.HTTPStatus(410)", Outcome.FAIL_CLOSED),
        ("from fastapi import status", "status.HTTP_204_NO_CONTENT", Outcome.FAIL_CLOSED),
        ("from litestar.status_codes import HTTP_409_CONFLICT as code", "code", Outcome.FAIL_CLOSED),
        ("from fastapi import status", "status.HTTP_200_OK", Outcome.EMPTY),
        ("from http import HTTPStatus", "HTTPStatus.OK", Outcome.EMPTY),
    ],
)
def test_a_status_by_its_name(imported: str, status: str, outcome: Outcome) -> None:
    """The head of an event stream with such a status refuses. Look-alike: 200 by name is an empty stream."""
    stream = stream_of(
        answered(
            f"""
            {imported}
            from starlette.responses import StreamingResponse
            cursor = request.headers.get("last-event-id")
            keys = [key for key, _ in log]
            if cursor and cursor not in keys:
                return StreamingResponse(iter(()), status_code={status}, media_type="text/event-stream")

            async def body():
                for key, text in log[keys.index(cursor) + 1 if cursor else 0:]:
                    yield {{"id": key, "data": text}}

            return EventSourceResponse(body())
            """
        )
    )
    assert stream.on_foreign.outcome is outcome


@pytest.mark.parametrize(("kind", "made"), [("UUID", "uuid4()"), ("str", "str(uuid4())")])
def test_a_key_in_the_path_whatever_its_type(kind: str, made: str) -> None:
    """`upload: UUID` is what the client sent, not an object of the library: the lookup of it is a guard."""
    stream = stream_of(f"""
        from uuid import UUID, uuid4
        from fastapi import Depends, FastAPI, Header, HTTPException
        from sse_starlette import EventSourceResponse

        app = FastAPI()
        uploads: dict[{kind}, list[str]] = {{}}

        def known(upload: {kind}) -> list[str]:
            try:
                return uploads[upload]
            except KeyError:
                raise HTTPException(404)

        @app.post("/uploads")
        async def start():
            key = {made}
            uploads[key] = ["begun"]
            return {{"upload": key}}

        @app.get("/uploads/{{upload}}/events")
        async def events(steps=Depends(known), last_event_id: int = Header(default=0)):
            async def body():
                for number, step in enumerate(steps[last_event_id:], last_event_id + 1):
                    yield {{"id": str(number), "data": step}}

            return EventSourceResponse(body())
        """)
    assert [(g.key, g.origin, g.status) for g in stream.guards] == [("upload", KeyOrigin.RANDOM_LOCAL, 404)]


@pytest.mark.parametrize(
    ("lines", "outcome"),
    [
        ("archive.select(Line.number > cursor)", Outcome.UNKNOWN),
        ("(line for line in log if line.number > cursor)", Outcome.COMPARED),
    ],
    ids=["a query", "in memory"],
)
def test_a_condition_on_a_column_of_a_mapper_that_nobody_knows(lines: str, outcome: Outcome) -> None:
    """`Line.number > cursor` builds a query: what it gives is unknown. Look-alike: the numbers of objects compare."""
    stream = stream_of(
        answered(
            f"""
            cursor = int(request.headers.get("last-event-id") or 0)

            async def body():
                for line in {lines}:
                    yield {{"id": str(line.number), "data": "x"}}

            return EventSourceResponse(body())
            """,
            """
            import itertools

            import archive
            import peewee

            log, numbers = [], itertools.count(1)


            class Line(peewee.Model):
                number = peewee.AutoField()


            def publish():
                line = Line()
                line.number = next(numbers)
                log.append(line)
            """,
        )
    )
    assert stream.on_foreign.outcome is outcome
