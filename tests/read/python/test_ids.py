"""Where ids come from: every shape that is common in public code, each beside a look-alike with another answer."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Minted, Scope
from tests.read.python.programs import HEAD, answered, published, stream_of

COUNTER, INDEX, CLOCK = (
    (IdKind.COUNTER, Scope.OVERLAPPING),
    (IdKind.INDEX, Scope.OVERLAPPING),
    (IdKind.CLOCK, Scope.ORDERED_LOCAL),
)
RANDOM, EPOCH = (IdKind.RANDOM, Scope.UNIQUE_LOCAL), (IdKind.EPOCH_PREFIXED, Scope.UNIQUE_LOCAL)
REPLICA = (IdKind.REPLICA_PREFIXED, Scope.UNIQUE_LOCAL)
STORE, CONSTANT = (IdKind.STORE, Scope.SHARED), (IdKind.CONSTANT, Scope.SHARED)

SHAPES = {
    "module counter": (
        COUNTER,
        """
        log, last = [], 0

        def publish(text):
            global last
            last += 1
            log.append((str(last), text))
        """,
    ),
    "counter in an attribute": (
        COUNTER,
        """
        log = []

        class Numbers:
            def __init__(self):
                self._n = 0

            def take(self):
                self._n += 1
                return f"{self._n:012x}"

        numbers = Numbers()

        def publish(text):
            log.append((numbers.take(), text))
        """,
    ),
    "a token that is kept in the same attribute": (
        RANDOM,
        """
        import secrets
        log = []

        class Tokens:
            def __init__(self):
                self._n = ""

            def take(self):
                self._n = secrets.token_hex(8)
                return self._n

        tokens = Tokens()

        def publish(text):
            log.append((tokens.take(), text))
        """,
    ),
    "counter in a dict": (
        COUNTER,
        """
        log, counts = [], {}

        def publish(topic, text):
            counts[topic] = counts.get(topic, 0) + 1
            log.append((str(counts[topic]), text))
        """,
    ),
    "counter in a dict by setdefault": (
        COUNTER,
        """
        log, counts = [], {}

        def publish(topic, text):
            counts.setdefault(topic, 0)
            counts[topic] += 1
            log.append((str(counts[topic]), text))
        """,
    ),
    "counter in a list of one": (
        COUNTER,
        """
        log, cell = [], [0]

        def publish(text):
            cell[0] += 1
            log.append((str(cell[0]), text))
        """,
    ),
    "counter in a dataclass field": (
        COUNTER,
        """
        from dataclasses import dataclass, field
        log = []

        @dataclass
        class Channel:
            seq: int = field(default=0, repr=False)

            def next_id(self):
                self.seq += 1
                return self.seq

        channel = Channel()

        def publish(text):
            log.append((str(channel.next_id()), text))
        """,
    ),
    "itertools.count behind a helper": (
        COUNTER,
        """
        import itertools
        log, numbers = [], itertools.count(1)

        def make_id():
            return "evt_%03d" % next(numbers)

        def publish(text):
            log.append((make_id(), text))
        """,
    ),
    "length after append": (
        INDEX,
        """
        log, texts = [], []

        def publish(text):
            texts.append(text)
            log.append((str(len(texts)), text))
        """,
    ),
    "last element plus one": (
        COUNTER,
        """
        log = []

        def publish(text):
            number = log[-1][0] + 1 if log else 1
            log.append((number, text))
        """,
    ),
    "uuid": (
        RANDOM,
        """
        import uuid
        log = []

        def publish(text):
            event_id = str(uuid.uuid4())
            log.append((event_id, text))
        """,
    ),
    "uuid by default factory": (
        RANDOM,
        """
        import uuid
        from dataclasses import dataclass, field
        log = []

        @dataclass
        class Event:
            text: str
            id: str = field(default_factory=lambda: uuid.uuid4().hex)

        def publish(text):
            event = Event(text)
            log.append((event.id, event.text))
        """,
    ),
    "uuid in __post_init__": (
        RANDOM,
        """
        import uuid
        from dataclasses import dataclass
        log = []

        @dataclass
        class Event:
            text: str
            id: str = ""

            def __post_init__(self):
                self.id = self.id or uuid.uuid1().hex

        def publish(text):
            event = Event(text)
            log.append((event.id, event.text))
        """,
    ),
    "clock in milliseconds": (
        CLOCK,
        """
        import time
        log = []

        def publish(text):
            log.append((int(time.time() * 1000), text))
        """,
    ),
    "clock as text": (
        CLOCK,
        """
        from datetime import datetime
        log = []

        def publish(text):
            log.append((str(datetime.now().timestamp()), text))
        """,
    ),
    "clock and counter, as a Redis stream writes them": (
        CLOCK,
        """
        import itertools, time
        log, numbers = [], itertools.count()

        def publish(text):
            log.append((f"{int(time.time() * 1000)}-{next(numbers)}", text))
        """,
    ),
    "XADD": (
        STORE,
        """
        import redis
        kv, log = redis.Redis(), []

        def publish(text):
            log.append((kv.xadd("feed", {"text": text}), text))
        """,
    ),
    "XADD whose id is thrown away": (
        COUNTER,
        """
        import itertools, redis
        kv, log, numbers = redis.Redis(), [], itertools.count(1)

        def publish(text):
            number = next(numbers)
            kv.xadd("feed", {"text": text})
            log.append((str(number), text))
        """,
    ),
    "boot token and counter": (
        EPOCH,
        """
        import itertools, secrets
        BOOT, log, numbers = secrets.token_hex(4), [], itertools.count(1)

        def publish(text):
            log.append((f"{BOOT}:{next(numbers)}", text))
        """,
    ),
    "a token for each call and a counter": (
        RANDOM,
        """
        import itertools, secrets
        log, numbers = [], itertools.count(1)

        def publish(text):
            log.append((f"{secrets.token_hex(4)}:{next(numbers)}", text))
        """,
    ),
    "shared epoch and counter": (
        COUNTER,
        """
        import itertools, os
        EPOCH, log, numbers = os.environ["RELEASE"], [], itertools.count(1)

        def publish(text):
            log.append((f"{EPOCH}:{next(numbers)}", text))
        """,
    ),
    "epoch that is written down": (
        COUNTER,
        """
        import itertools
        log, numbers = [], itertools.count(1)

        def publish(text):
            log.append((f"v1:{next(numbers)}", text))
        """,
    ),
    "replica name and counter": (
        REPLICA,
        """
        import itertools, socket
        HOST, log, numbers = socket.gethostname(), [], itertools.count(1)

        def publish(text):
            log.append((f"{HOST}-{next(numbers)}", text))
        """,
    ),
    "concatenated": (
        COUNTER,
        """
        import itertools
        log, numbers = [], itertools.count(1)

        def publish(text):
            log.append(("evt-" + str(next(numbers)).zfill(8), text))
        """,
    ),
    "formatted by method": (
        RANDOM,
        """
        import uuid
        log = []

        def publish(text):
            log.append(("{}-{}".format("evt", uuid.uuid4()), text))
        """,
    ),
    "functools.partial": (
        COUNTER,
        """
        import functools, itertools
        log, numbers = [], itertools.count(1)
        take = functools.partial(next, numbers)

        def publish(text):
            log.append((str(take()), text))
        """,
    ),
    "a class attribute": (
        COUNTER,
        """
        log = []

        class Event:
            made = 0

            def __init__(self, text):
                Event.made += 1
                self.id, self.text = str(Event.made), text

        def publish(text):
            event = Event(text)
            log.append((event.id, event.text))
        """,
    ),
    "a constant table": (CONSTANT, 'log = [("1", "plan"), ("2", "act"), ("3", "report")]'),
    "the same table, which grows": (
        COUNTER,
        """
        import itertools
        log, numbers = [("1", "plan"), ("2", "act")], itertools.count(3)

        def publish(text):
            log.append((str(next(numbers)), text))
        """,
    ),
    "overridden by a subclass": (
        COUNTER,
        """
        import uuid
        log = []

        class Named:
            def name(self):
                return uuid.uuid4().hex

            def publish(self, text):
                log.append((self.name(), text))

        class Numbered(Named):
            def name(self):
                return f"ev{len(log) + 1:05d}" if False else str(self.next())

            def next(self):
                self.n = getattr(self, "n", 0) + 1
                return self.n

        store = Numbered()
        """,
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shape(name: str) -> None:
    """The kind and scope of each shape."""
    expected, store = SHAPES[name]
    ids = stream_of(published(store)).ids
    assert (ids.kind, ids.scope) == expected, ids.why
    assert ids.minted is Minted.PUBLISHED
    assert ids.evidence, "an id has a place in the source"


def test_evidence_leads_from_where_it_is_made_to_the_wire() -> None:
    """Made, stored, sent: the first span is where the id is minted, the last where it goes out."""
    ids = stream_of(published(SHAPES["uuid"][1])).ids
    notes = [span.note for span in ids.evidence]
    assert notes[0] == "made here"
    assert "stored here" in notes
    assert notes[-1] == "put on the wire here"


def test_imported_through_a_package() -> None:
    """The minting function stands in another module and is re-exported."""
    files = {
        "app.py": HEAD
        + "from events import publish_to\nlog = []\n\n\ndef publish(text):\n    publish_to(log, text)\n"
        + published("")[len(HEAD) :],
        "events/__init__.py": "from .making import publish_to\n",
        "events/making.py": (
            "import itertools\nnumbers = itertools.count(1)\n\n\n"
            "def publish_to(log, text):\n    log.append((str(next(numbers)), text))\n"
        ),
    }
    ids = stream_of(files).ids
    assert (ids.kind, ids.scope) == COUNTER
    assert ids.evidence[0].path == "events/making.py"


def test_made_in_the_generator_names_nothing() -> None:
    """An id of one connection is another thing than one that all connections see."""
    own = """
    import itertools

    async def body():
        for number in itertools.count(1):
            yield {"id": str(number), "data": "tick"}

    return EventSourceResponse(body())
    """
    assert stream_of(answered(own)).ids.minted is Minted.CONNECTION
    assert stream_of(published(SHAPES["itertools.count behind a helper"][1])).ids.minted is Minted.PUBLISHED


DRAWN = """
import random
draws = MADE
mark = draws.getrandbits(64)
log = []


def publish(text):
    log.append((KEY, text))
"""


@pytest.mark.parametrize("key", ["f'{draws.getrandbits(64):x}'", "f'{mark:x}-{len(log)}'"])
def test_what_begins_at_a_seed_that_is_written_down_is_the_same_in_each_process(key: str) -> None:
    ids = stream_of(published(DRAWN.replace("MADE", "random.Random(42)").replace("KEY", key))).ids
    assert ids.scope is Scope.OVERLAPPING


@pytest.mark.parametrize("made", ["random.Random()", "random.Random(None)", "random.SystemRandom(42)"])
def test_what_begins_anywhere_is_not(made: str) -> None:
    """Without a seed, or with one that the operating system's randomness takes no notice of."""
    key = "f'{draws.getrandbits(64):x}'"
    ids = stream_of(published(DRAWN.replace("MADE", made).replace("KEY", key))).ids
    assert ids.scope is Scope.UNIQUE_LOCAL
