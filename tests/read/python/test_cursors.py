"""The paper run with a cursor that was minted elsewhere: every common way to look one up, beside what refuses it."""

from __future__ import annotations

import pytest

from sselint.facts import Outcome, Truth
from tests.read.python.programs import answered, stream_of

CLOSED, HEAD, ALL = Outcome.FAIL_CLOSED, Outcome.FROM_HEAD, Outcome.REPLAY_ALL
COMPARED, EMPTY, IGNORED, NOT_READ = Outcome.COMPARED, Outcome.EMPTY, Outcome.IGNORED, Outcome.NOT_READ

RANDOM = """
import asyncio, uuid
log, index, live = [], {}, set()


def publish(text):
    key = uuid.uuid4().hex
    index[key] = len(log)
    log.append((key, text))
    for queue in live:
        queue.put_nowait((key, text))
"""

COUNTER = """
import asyncio, itertools
log, numbers, live = [], itertools.count(1), set()


def publish(text):
    number = next(numbers)
    log.append((number, text))
    for queue in live:
        queue.put_nowait((number, text))
"""

FINITE = """
async def body():
    for key, text in events:
        yield {"id": str(key), "data": text}

return EventSourceResponse(body())
"""

READ = 'cursor = request.headers.get("Last-Event-ID")\n'

LOOKUPS = {
    "membership, refused": (
        CLOSED,
        """
        keys = [key for key, _ in log]
        if cursor and cursor not in keys:
            return Response("unknown", status_code=409)
        events = log[keys.index(cursor) + 1:] if cursor else log
        """,
    ),
    "membership, all of it": (
        ALL,
        """
        keys = [key for key, _ in log]
        events = log[keys.index(cursor) + 1:] if cursor in keys else log
        """,
    ),
    "membership, none of it": (
        EMPTY,
        """
        keys = [key for key, _ in log]
        events = log[keys.index(cursor) + 1:] if cursor in keys else []
        """,
    ),
    ".get, refused": (
        CLOSED,
        """
        place = index.get(cursor)
        if cursor and place is None:
            return Response(status_code=204)
        events = log[place + 1:] if cursor else log
        """,
    ),
    ".get with a default": (ALL, "events = log[index.get(cursor, -1) + 1:]"),
    "subscript, guarded": (
        ALL,
        """
        try:
            events = log[index[cursor] + 1:]
        except KeyError:
            events = log
        """,
    ),
    "subscript, refused": (
        CLOSED,
        """
        try:
            events = log[index[cursor] + 1:] if cursor else log
        except KeyError:
            return Response("gone", status_code=410)
        """,
    ),
    "subscript, unguarded, before the response": (CLOSED, "events = log[index[cursor] + 1:] if cursor else log"),
    ".index, guarded by pass": (
        ALL,
        """
        start = 0
        try:
            start = [key for key, _ in log].index(cursor) + 1
        except ValueError:
            pass
        events = log[start:]
        """,
    ),
    "next with a default": (
        ALL,
        """
        start = next((n + 1 for n, (key, _) in enumerate(log) if key == cursor), 0)
        events = log[start:]
        """,
    ),
    "next without a default": (
        CLOSED,
        """
        start = next(n + 1 for n, (key, _) in enumerate(log) if key == cursor) if cursor else 0
        events = log[start:]
        """,
    ),
    "search loop with break": (
        EMPTY,
        """
        start = len(log)
        for n, (key, _) in enumerate(log):
            if key == cursor:
                start = n + 1
                break
        events = log[start:]
        """,
    ),
    "search loop with else": (
        CLOSED,
        """
        for n, (key, _) in enumerate(log):
            if key == cursor:
                events = log[n + 1:]
                break
        else:
            if cursor:
                return Response("unknown", status_code=400)
            events = log
        """,
    ),
    "found flag": (
        EMPTY,
        """
        events, found = [], False
        for key, text in log:
            if found:
                events.append((key, text))
            elif key == cursor:
                found = True
        """,
    ),
    "dropwhile": (
        EMPTY,
        """
        import itertools
        events = itertools.islice(itertools.dropwhile(lambda row: row[0] != cursor, list(log)), 1, None)
        """,
    ),
    "walrus": (
        CLOSED,
        """
        if cursor and (place := index.get(cursor)) is None:
            return Response("unknown", status_code=409)
        events = log[place + 1:] if cursor else log
        """,
    ),
    "match": (
        CLOSED,
        """
        match index.get(cursor, "none") if cursor else -1:
            case "none":
                return Response("unknown", status_code=409)
            case place:
                events = log[place + 1:]
        """,
    ),
    "only logged": (
        IGNORED,
        """
        print("client came back with", cursor)
        events = log
        """,
    ),
}


@pytest.mark.parametrize("name", LOOKUPS)
def test_unknown_cursor(name: str) -> None:
    """What a random id that this process never gave out meets."""
    expected, lookup = LOOKUPS[name]
    stream = stream_of(answered(READ + _flat(lookup) + FINITE, RANDOM))
    run = stream.on_foreign
    assert run.outcome is expected, run.why
    assert stream.cursor.read is Truth.YES
    assert stream.on_overlap is None, "a random id is never equal to one of this process"


COMPARISONS = {
    "as numbers": "events = [row for row in log if row[0] > int(cursor or 0)]",
    "as text": "events = [row for row in log if str(row[0]) > (cursor or '')]",
    "mirrored": "events = [row for row in log if not int(cursor or 0) >= row[0]]",
    "skipping": """
        events = []
        for row in log:
            if row[0] <= int(cursor or 0):
                continue
            events.append(row)
        """,
    "filter": "events = filter(lambda row: row[0] > int(cursor or 0), list(log))",
    "as a position": "events = log[int(cursor or 0):]",
    "bisect": """
        import bisect
        events = log[bisect.bisect_right([n for n, _ in log], int(cursor or 0)):]
        """,
}


@pytest.mark.parametrize("name", COMPARISONS)
def test_compared(name: str) -> None:
    """A foreign number compares with one's own: whatever is greater here is sent, known or not."""
    stream = stream_of(answered(READ + _flat(COMPARISONS[name]) + FINITE, COUNTER))
    assert stream.on_foreign.outcome is COMPARED, stream.on_foreign.why
    assert stream.on_overlap is not None
    assert stream.on_overlap.outcome is COMPARED


def test_a_bound_refuses_what_lies_ahead_and_not_what_is_known() -> None:
    """A cursor ahead of the log is refused; one that equals an id of this process passes: overlap decides."""
    handler = """
    seen = int(cursor or 0)
    if log and seen > log[-1][0]:
        return Response("ahead", status_code=409)
    events = [row for row in log if row[0] > seen]
    """
    stream = stream_of(answered(READ + _flat(handler) + FINITE, COUNTER))
    assert stream.on_overlap is not None
    assert stream.on_overlap.outcome is COMPARED


def test_epoch_is_compared_before_the_number() -> None:
    """Another process's boot token is seen, whatever the number behind it; without the comparison it is not."""
    store = RANDOM.replace("key = uuid.uuid4().hex", 'key = f"{BOOT}:{len(log)}"') + "\nBOOT = uuid.uuid4().hex\n"
    refusing = """
    boot, _, number = (cursor or "").partition(":")
    if cursor and boot != BOOT:
        return Response("another process", status_code=409)
    events = log[int(number or -1) + 1:]
    """
    tolerant = refusing.replace('return Response("another process", status_code=409)', "pass")
    assert stream_of(answered(READ + _flat(refusing) + FINITE, store)).on_foreign.outcome is CLOSED
    assert stream_of(answered(READ + _flat(tolerant) + FINITE, store)).on_foreign.outcome is COMPARED


LATE = """
async def body():
    {first}
    place = index.get(cursor, -1) if not cursor or cursor in index else None
    if place is None:
        raise LookupError(cursor)
    for key, text in log[place + 1:]:
        yield {{"id": key, "data": text}}

return EventSourceResponse(body())
"""


@pytest.mark.parametrize("first", ['yield {"comment": "hello"}', "pass"])
def test_refusal_in_the_generator_comes_too_late(first: str) -> None:
    """Under ASGI the head leaves before the generator runs: a raise there is an aborted 200."""
    run = stream_of(answered(READ + LATE.format(first=first), RANDOM)).on_foreign
    assert (run.outcome, run.late) == (EMPTY, True)


RESET = """
async def body():
    start = 0
    if cursor:
        if cursor not in index:
            yield {{"event": "{event}", "data": ""}}
            return
        start = index[cursor] + 1
    for key, text in log[start:]:
        yield {{"id": key, "data": text}}

return EventSourceResponse(body())
"""


@pytest.mark.parametrize(
    ("event", "refuses"),
    [
        ("reset", True),
        ("stream-truncated", True),
        ("refetch", True),
        ("out_of_sync", True),
        ("history-lost", True),
        ("message", False),
        ("reload", False),
        ("synced", False),
    ],
)
def test_reset_event(event: str, refuses: bool) -> None:
    """An explicit reset in the stream is a refusal with status 200; an event of another name is none, and neither is
    one whose name servers also give to what they publish."""
    run = stream_of(answered(READ + RESET.format(event=event), RANDOM)).on_foreign
    assert (run.outcome is CLOSED) is refuses
    assert run.reset is refuses


TYPED = """
async def body():
    known = not cursor or cursor in index
    if not known:
        yield MESSAGE
    for key, text in log[index[cursor] + 1 if cursor and known else 0:]:
        yield {"id": key, "data": text}

return EventSourceResponse(body())
"""


@pytest.mark.parametrize(
    ("message", "refuses"),
    [
        ('{"data": json.dumps({"type": "reset"})}', True),
        ("""{"data": '{"event": "resync", "why": "unknown"}'}""", True),
        ('{"data": json.dumps({"text": "reset"})}', False),
        ('{"data": json.dumps({"type": "hello"})}', False),
        ('{"data": json.dumps({"type": "reset"}), "id": "1"}', False),
    ],
)
def test_what_a_message_says_that_it_is(message: str, refuses: bool) -> None:
    """A message whose data says so tells the client to start again as an event of that name does; one that speaks of
    it, or that has an id as what is published has, does not."""
    handler = "import json\n" + READ + TYPED.replace("MESSAGE", message)
    run = stream_of(answered(handler, RANDOM)).on_foreign
    assert (run.outcome is CLOSED, run.reset) == (refuses, refuses)


SPELLINGS = {
    'request.headers.get("last-event-id")': True,
    'request.headers.get("LAST-EVENT-ID", None)': True,
    'request.headers["Last-Event-ID"] if "Last-Event-ID" in request.headers else None': True,
    "request.headers.get(NAME)": True,
    'request.query_params.get("lastEventId")': True,
    'request.query_params.get("last_event_id") or request.headers.get("last-event-id")': True,
    'dict(request.scope["headers"]).get(b"last-event-id", b"").decode()': True,
    'request.headers.get("x-request-id")': False,
}


@pytest.mark.parametrize("expression", SPELLINGS)
def test_where_the_cursor_is_read(expression: str) -> None:
    """Header in any casing, by a constant, in the query, in the ASGI scope; another header is none."""
    handler = f'NAME = "Last-Event-ID"\ncursor = {expression}\nevents = log[index.get(cursor, -1) + 1:]\n'
    stream = stream_of(answered(handler + FINITE, RANDOM))
    assert (stream.cursor.read is Truth.YES) is SPELLINGS[expression]
    if not SPELLINGS[expression]:
        assert stream.on_foreign.outcome is NOT_READ


def test_malformed_cursor_is_a_run_of_its_own() -> None:
    """Swallowing a malformed cursor is seen, and refusing it is told apart from refusing a foreign one."""
    swallowing = """
    try:
        seen = int(cursor or 0)
    except ValueError:
        seen = 0
    events = [row for row in log if row[0] > seen]
    """
    refusing = swallowing.replace("seen = 0\n    events", 'return Response("malformed", status_code=400)\n    events')
    swallowed = stream_of(answered(READ + _flat(swallowing) + FINITE, COUNTER)).on_malformed
    refused = stream_of(answered(READ + _flat(refusing) + FINITE, COUNTER))
    assert swallowed is not None
    assert swallowed.outcome is not CLOSED
    assert refused.on_malformed is not None
    assert refused.on_malformed.outcome is CLOSED
    assert refused.on_foreign.outcome is COMPARED


def test_exception_handler_registered_elsewhere() -> None:
    """A domain exception is a 410 only where a handler makes it one."""
    raising = """
    if cursor and cursor not in index:
        raise Lost(cursor)
    events = log[index.get(cursor, -1) + 1:]
    """
    store = (
        RANDOM
        + "\n\nclass Lost(Exception):\n    pass\n"
        + "\n\ndef lost(request, error):\n    return Response(status_code=STATUS)\n"
    )
    program = answered(READ + _flat(raising) + FINITE, store.replace("STATUS", "410"))
    handled = program.replace("Starlette(routes=", "Starlette(exception_handlers={Lost: lost}, routes=")
    assert stream_of(handled).on_foreign.status == 410
    assert stream_of(program).on_foreign.status == 500
    calm = answered(READ + _flat(raising) + FINITE, store.replace("STATUS", '200, media_type="text/event-stream"'))
    calm = calm.replace("Starlette(routes=", "Starlette(exception_handlers={Lost: lost}, routes=")
    assert stream_of(calm).on_foreign.outcome is EMPTY


def _flat(text: str) -> str:
    import textwrap

    return textwrap.dedent(text).strip() + "\n"


BEHIND = """
last = request.headers.get("last-event-id")
missed = list(log)
if last:
    behind = (log[-1][0] if log else EMPTY) - int(last)
    if behind < 0:
        return Response("unknown", status_code=409)
    missed = log[len(log) - behind:]

async def body():
    for number, text in missed:
        yield {"id": str(number), "data": text}

return EventSourceResponse(body())
"""


def test_a_cursor_is_beyond_a_log_without_an_event() -> None:
    """What a small number less the cursor is, is less than nothing."""
    filled = "\nlog = []\n\n\ndef publish(text):\n    log.append((len(log) + 1, text))\n"
    stream = stream_of(answered(BEHIND.replace("EMPTY", "0"), filled))
    assert (stream.on_foreign.outcome, stream.on_foreign.status) == (Outcome.FAIL_CLOSED, 409)
    assert stream.on_overlap is not None
    assert stream.on_overlap.outcome is Outcome.COMPARED
