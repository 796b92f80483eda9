"""What the reader must survive: broken files, circles, endless loops, and its own faults."""

from __future__ import annotations

import time

import pytest

from sselint.facts import FileOutcome, IdKind
from sselint.read.python import looks_like
from tests.read.python.programs import answered, published, reading_of, stream_of

UUIDS = """
import uuid
log = []


def publish(text):
    log.append((uuid.uuid4().hex, text))
"""

ODD = {
    "a circle of imports": {
        "app.py": published(UUIDS) + "\nimport other\n",
        "other.py": "from app import log\nfrom other import other\n",
    },
    "a class that inherits from itself": {"app.py": published(UUIDS) + "\n\nclass A(A):\n    pass\n\n\nA().x\n"},
    "endless recursion": {"app.py": published(UUIDS) + "\n\ndef f(n):\n    return f(n + 1)\n\n\nf(0)\n"},
    "an endless loop at import": {"app.py": "while True:\n    pass\n" + published(UUIDS)},
    "iterators of arguments that are not seen": {
        "app.py": published(UUIDS)
        + """

def columns(*rows):
    names, values = zip(*rows)
    for pair in zip(*{}), enumerate(iterable=names), filter(*values), range(*values), map(*values):
        yield from pair


first, second = zip(*[])
third = list(filter(*third_party()))
"""
    },
    "every statement": {
        "app.py": published(UUIDS)
        + """

async def every(a, /, b=1, *args, c, **kwargs):
    global log
    nonlocal_ = lambda *x, **y: (x, y)
    [*args], {**kwargs}, {*args}
    a: int = 1
    a @= b; a //= b; del a
    assert b, c
    async with b as (x, y), c:
        async for z in [w async for w in b if w]:
            continue
        else:
            pass
    try:
        pass
    except* ValueError as group:
        raise group from None
    match b:
        case {"k": [1, *rest], **more} | str() as s if s: ...
        case -1 | None | True | 1.5 | A.B: ...
        case P(1, x=2): ...
        case _: ...
    while (n := await b): break
    else: return
    yield b[1:2, ...:3], b if c else a, not b, -b, b < c < a, f"{b!r:>{c}}", b'', 1j, ...
"""
    },
}


@pytest.mark.parametrize("name", ODD)
def test_odd_program(name: str) -> None:
    """The stream of the program is found all the same, and nothing fails inside."""
    reading = reading_of(ODD[name])
    assert not [f for f in reading.files if f.outcome is FileOutcome.INTERNAL_ERROR]
    if name != "an endless loop at import":
        assert [s.ids.kind for s in reading.streams] == [IdKind.RANDOM]


def test_broken_file_is_named() -> None:
    """A file with stream evidence that is not Python is reported with its place; the others are read."""
    reading = reading_of({"app.py": published(UUIDS), "broken.py": "# text/event-stream\ndef f(:\n    pass\n"})
    assert [(f.path, f.outcome, f.needed) for f in reading.files] == [("broken.py", FileOutcome.UNREADABLE, True)]
    assert reading.files[0].span is not None
    assert reading.files[0].span.line == 3, "where the parser gave up"
    assert len(reading.streams) == 1


def test_nesting_is_measured_before_it_is_parsed() -> None:
    """1,000 brackets kill libcst's process: such a file is refused, and the next one read."""
    deep = "# text/event-stream\nx = " + "(" * 3000 + ")" * 3000 + "\n"
    reading = reading_of({"app.py": published(UUIDS), "deep.py": deep})
    assert [f.path for f in reading.files] == ["deep.py"]
    assert "brackets" in reading.files[0].why
    assert len(reading.streams) == 1


def test_many_branches_take_bounded_time() -> None:
    """Thirty independent conditions have a thousand million paths; not all of them are gone."""
    branches = "\n".join(f'if request.headers.get("x-{n}"):\n    value = {n}' for n in range(30))
    handler = f"""
{branches}
async def body():
    for key, text in list(log):
        yield {{"id": key, "data": text}}

return EventSourceResponse(body())
"""
    began = time.process_time()
    assert stream_of(answered(handler, UUIDS)).ids.kind is IdKind.RANDOM
    assert time.process_time() - began < 30


def test_internal_fault_costs_one_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of sselint's own on one endpoint is reported, and the other endpoint is told."""
    from sselint.read.python import program

    original = program.streams_of

    def failing(world: object, endpoint: object, units: dict[str, str], share: int) -> object:
        if getattr(endpoint, "url", "") == "/feed":
            raise ZeroDivisionError("a fault")
        return original(world, endpoint, units, share)  # type: ignore[arg-type]

    monkeypatch.setattr(program, "streams_of", failing)
    two = published(UUIDS).replace('Route("/feed", feed)', 'Route("/feed", feed), Route("/other", feed)')
    reading = reading_of({"app.py": two})
    assert [s.url for s in reading.streams] == ["/other"]
    assert [(f.path, f.outcome, f.needed) for f in reading.files] == [("app.py", FileOutcome.INTERNAL_ERROR, True)]
    assert "ZeroDivisionError" in reading.files[0].why


@pytest.mark.parametrize(
    ("text", "matters"),
    [
        ('return Response(body(), mimetype="text/event-stream")', True),
        ("from sse_starlette import EventSourceResponse", True),
        ("request.headers.get('Last-Event-ID')", True),
        ("class SSEBroker: ...", True),
        ("print('assess the passengers')", False),
        ("from flask import Flask", False),
    ],
)
def test_cheap_look(text: str, matters: bool) -> None:
    """Evidence is a media type, a header, a library's name; not letters inside a word."""
    assert looks_like("app.py", text) is matters


def test_same_answer_twice() -> None:
    """Two readings of the same tree are the same, to the last span."""
    program = {"app.py": published(UUIDS)}
    assert reading_of(program) == reading_of(program)


@pytest.mark.parametrize(
    "large",
    [
        '"x" * 10**12',
        '10**12 * b"x"',
        '("x",) * 10**12',
        "9 ** 9 ** 9",
        "1 << 10**12",
        '"x".ljust(10**12)',
        '"".zfill(10**12)',
        '"a\\t".expandtabs(10**18)',
        '("a" * 9_000).replace("a", "a" * 9_000)',
    ],
)
def test_a_value_that_few_characters_make_large_is_not_made(large: str) -> None:
    reading = reading_of({"app.py": published(UUIDS) + f"\nlarge = {large}\nafter = large\n"})
    assert not [f for f in reading.files if f.outcome is FileOutcome.INTERNAL_ERROR]
    assert [s.ids.kind for s in reading.streams] == [IdKind.RANDOM]


ARITHMETIC = """
import itertools
import uuid
log = []
tick = itertools.count(1)
HOLDS = 2**4 == 1 << 4 and "-" * 8 == "--------" and "7".zfill(3) == "007" and "a-b".replace("-", "--") == "a--b"


def publish(text):
    log.append((uuid.uuid4().hex if HOLDS else next(tick), text))
"""


def test_ordinary_arithmetic_is_worked_out() -> None:
    """The look-alikes, on which it turns here how ids are made."""
    (stream,) = reading_of({"app.py": published(ARITHMETIC)}).streams
    assert stream.ids.kind is IdKind.RANDOM
    (other,) = reading_of({"app.py": published(ARITHMETIC.replace('"007"', '"07"'))}).streams
    assert other.ids.kind is IdKind.COUNTER
