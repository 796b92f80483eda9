"""Tasks and what they give, and generators that are asked for one element at a time.

A task is run where it is begun. What a run of it did comes to light where somebody waits for it: until then it went on
beside the path.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sselint.read.python.interpreter import iteration
from sselint.read.python.interpreter.machine import Arguments, Ended, Machine, Raised, Signal
from sselint.read.python.interpreter.trace import ASKS, Event
from sselint.read.python.interpreter.values import (
    Collection,
    Const,
    Cursor,
    Exceptional,
    Function,
    Generator,
    Input,
    Item,
    Partial,
    Ref,
    Tuple,
    Unknown,
    Value,
    leaves,
)
from sselint.read.python.source.modules import Site

if TYPE_CHECKING:
    from collections.abc import Callable

NOTHING = Const.of(None)
TOLD = frozenset({"cursor", *ASKS})
"""What a path notes where it does something with the cursor."""
ENDLESS = "a task that goes on for ever"


@dataclass
class Done:
    """What running a task came to: its value or the signal that it ended with, and what it did."""

    value: Value
    signal: Signal | None
    trace: list[Event]
    live: Item | None
    cancelled: bool = False


@dataclass
class Drawn:
    """The elements of a generator that are still to be asked for, and what comes behind the last."""

    items: list[Item]
    end: Signal


def task(value: Value, signal: Signal | None, trace: list[Event], live: Item | None) -> Generator:
    """A task that was run."""
    return Generator(None, None, "task", (Done(value, signal, trace, live),))


def asked_at_once(trace: list[Event], request: list[Event]) -> list[Event]:
    """What a task asked of the cursor goes to what the request did: what it fills a queue with is asked for with it.
    Gives what is left for who waits for the task."""
    request.extend(event for event in trace if event.kind in TOLD)
    return [event for event in trace if event.kind not in TOLD]


def is_task(value: Value) -> bool:
    """Whether a value is a task that was run."""
    return isinstance(value, Generator) and value.kind == "task"


def lasting(m: Machine, value: Value) -> Partial | None:
    """What a task goes on with when the request that began it is over: a method of an object that is given nothing of
    the request. Whoever comes first begins it, and whoever comes later finds it at work. None for any other task."""
    if isinstance(value, Generator) and value.kind == "coroutine" and value.scope is not None:
        function, given = value.function, tuple(value.scope.variables.values())[1:]
    elif isinstance(value, Partial) and not value.keywords:
        function, given = value.function, value.positional
    else:
        return None
    if not isinstance(function, Function) or not isinstance(function.receiver, Ref):
        return None
    if any(_is_of_request(m, leaf) for argument in given for leaf in leaves(argument)):
        return None
    return Partial(function, given, ())


def _is_of_request(m: Machine, value: Value) -> bool:
    made_now = isinstance(value, Ref) and m.object(value).kind == "instance" and m.own(value)
    return made_now or isinstance(value, Input | Cursor | Tuple)


def joined(m: Machine, value: Generator) -> Value:
    """What a task gives to who waits for it. Raises what it ended with."""
    done: Done = value.operands[0]
    m.trace.extend(done.trace)
    done.trace = []
    if done.cancelled and done.signal is not None:
        return NOTHING
    if done.signal is not None:
        raise done.signal
    m.live = done.live or m.live
    return done.value


def waited(m: Machine, a: Arguments) -> Value:
    """`asyncio.wait(tasks)`: those that ended, and the set of those that did not, which a program may fill up again.
    Goes on for ever where all do."""
    from sselint.read.python.interpreter import calls

    given = [v if is_task(v) else calls.run_apart(m, v, a.site) for v in iteration.known_items(m, a.first())]
    goes_on = [is_task(v) and isinstance(_done(v).signal, Ended) for v in given]
    ended = [v for v, more in zip(given, goes_on, strict=True) if not more]
    if given and not ended:
        raise Ended
    pending = m.make("set", "set", a.site, a.frame)
    m.overlay.items[pending] = [Item(v) for v, more in zip(given, goes_on, strict=True) if more]
    return Tuple((Collection(0, tuple(Item(v) for v in ended)), pending))


def _done(value: Value) -> Done:
    assert isinstance(value, Generator)
    found: Done = value.operands[0]
    return found


def method(m: Machine, receiver: Generator, name: str, a: Arguments) -> Value | None:
    """A method of a task or of a generator, None where it is not known."""
    found = (TASK if receiver.kind == "task" else GENERATOR).get(name)
    return found(m, receiver, a) if found is not None else None


def _cancel(m: Machine, receiver: Generator, a: Arguments) -> Value:
    _done(receiver).cancelled = True
    return Const.of(True)


def _then(m: Machine, receiver: Generator, a: Arguments) -> Value:
    from sselint.read.python.interpreter import calls

    calls.run_apart(m, calls.call(m, a.first(), (receiver,), {}, a.site, a.frame), a.site)
    return NOTHING


def drawn(m: Machine, generator: Generator, site: Site | None) -> Value:
    """The next element of a generator of the tree that is asked again and again: it is run once, to its end. Raises
    what stands behind its last element."""
    found = m.drawn.get(generator)
    if found is None:
        found = m.drawn[generator] = _run(m, generator, site)
    if not found.items:
        raise found.end
    item = found.items.pop(0)
    m.live = item if item.phase or item.source else m.live
    return item.value


def _run(m: Machine, generator: Generator, site: Site | None) -> Drawn:
    from sselint.read.python.interpreter import calls

    items: list[Item] = []

    def keep(element: Value, _: Site) -> None:
        origin = next((i for i in reversed(m.current) if i.phase or i.source), m.live)
        items.append(Item(element, origin.source, origin.phase, origin.selection) if origin else Item(element))

    try:
        calls.run_generator(m, generator, keep)
    except (Ended, Raised) as signal:
        return Drawn(items, signal)
    return Drawn(items, Raised(Exceptional("StopAsyncIteration"), site))


TASK: dict[str, Callable[[Machine, Generator, Arguments], Value]] = {
    "result": lambda m, receiver, a: joined(m, receiver),
    "cancel": _cancel,
    "add_done_callback": _then,
    "done": lambda m, receiver, a: Unknown("whether a task is done"),
}
GENERATOR: dict[str, Callable[[Machine, Generator, Arguments], Value]] = {
    "__aiter__": lambda m, receiver, a: receiver,
    "__iter__": lambda m, receiver, a: receiver,
    "__anext__": lambda m, receiver, a: drawn(m, receiver, a.site),
    "__next__": lambda m, receiver, a: drawn(m, receiver, a.site),
    "asend": lambda m, receiver, a: drawn(m, receiver, a.site),
    "send": lambda m, receiver, a: drawn(m, receiver, a.site),
    "aclose": lambda m, receiver, a: NOTHING,
    "close": lambda m, receiver, a: NOTHING,
}
