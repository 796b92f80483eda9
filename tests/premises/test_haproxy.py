"""What rules/affinity/haproxy.yaml claims, asked of a real HAProxy.

For each row its configuration is read by sselint (and must be told to be that row), and the events are provoked. `make
test` runs the events that decide a row's strength; `make premises` runs every event of every row and form.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sselint.affinity import CLIENTS_OWN, CONFIGURED_AWAY, AffinityRow, strength_of
from sselint.catalogue import affinity_rows
from sselint.facts import Meets, RoutingEvent, Strength
from sselint.read import haproxy
from sselint.read.haproxy.persistence import Assumed
from sselint.source import Source, Tree
from tests.premises.haproxy_lab import NEVER, QUICK, Lab, Replica, Setup, lab
from tests.premises.haproxy_setups import SETUPS

pytestmark = pytest.mark.premises

ROWS = {row.id: row for row in affinity_rows("haproxy")}


# -- events ------------------------------------------------------------------------------------------------------------


def plain(at: Lab) -> Counter[str]:
    return at.reconnect(at.clients)


def init(at: Lab) -> Counter[str]:
    """The stream after the POST that created the session goes to the process that created it."""
    at.establish(post=True)
    return Counter("same" if client.replica == client.creator else "other" for client in at.clients)


def key_lost(at: Lab) -> Counter[str]:
    for client in at.clients:
        client.forget()
    return at.reconnect(at.clients)


def key_lapsed(at: Lab) -> Counter[str]:
    """The lifetime is over while the streams are open and busy."""
    assert at.setup.lapsing
    time.sleep(at.setup.lapsing[2])
    return at.reconnect(at.clients)


def down(at: Lab) -> Counter[str]:
    name, victims = at.victim()
    at.replicas[name].crash()
    return at.reconnect(victims)


def down_detected(at: Lab) -> Counter[str]:
    name, victims = at.victim()
    at.replicas[name].crash()
    at.wait_down(name)
    return at.reconnect(victims)


def drain(at: Lab) -> Counter[str]:
    name, victims = at.victim()
    at.set_state(name, "drain")
    return at.reconnect(victims)


def maintenance(at: Lab) -> Counter[str]:
    name, victims = at.victim()
    at.set_state(name, "maint")
    return at.reconnect(victims)


def check_fails(at: Lab) -> Counter[str]:
    name, victims = at.victim()
    at.replicas[name].health = 503
    at.wait_down(name)
    return at.reconnect(victims)


def removed(at: Lab) -> Counter[str]:
    name, victims = at.victim()
    at.members.remove(name)
    at.reload()
    return at.reconnect(victims)


def moved(at: Lab) -> Counter[str]:
    name, victims = at.victim()
    at.replicas[name].crash()
    at.replicas[name] = Replica(name, at.setup.cookie, at.setup.sets)
    at.replicas[name].start()
    at.reload()
    return at.reconnect(victims)


def scale_out(at: Lab) -> Counter[str]:
    at.members.append("r4")
    at.reload()
    return at.reconnect(at.clients)


def reload(at: Lab) -> Counter[str]:
    at.reload()
    return at.reconnect(at.clients)


def restart(at: Lab) -> Counter[str]:
    at.restart()
    return at.reconnect(at.clients)


def second_proxy(at: Lab) -> Counter[str]:
    return at.reconnect(at.clients, at.second())


EVENTS: dict[RoutingEvent, Callable[[Lab], Counter[str]]] = {
    RoutingEvent.PLAIN: plain,
    RoutingEvent.INIT: init,
    RoutingEvent.KEY_LOST: key_lost,
    RoutingEvent.KEY_LAPSED: key_lapsed,
    RoutingEvent.DOWN: down,
    RoutingEvent.DOWN_DETECTED: down_detected,
    RoutingEvent.DRAIN: drain,
    RoutingEvent.MAINTENANCE: maintenance,
    RoutingEvent.CHECK_FAILS: check_fails,
    RoutingEvent.REMOVED: removed,
    RoutingEvent.MOVED: moved,
    RoutingEvent.SCALE_OUT: scale_out,
    RoutingEvent.RELOAD: reload,
    RoutingEvent.RESTART: restart,
    RoutingEvent.SECOND_PROXY: second_proxy,
}


def outcomes(setup: Setup, event: RoutingEvent, folder: Path) -> Counter[str]:
    """What the sessions of a fresh lab meet after the event."""
    if event is RoutingEvent.KEY_LAPSED and setup.lapsing:
        setup = replace(setup, backend=setup.backend.replace(*setup.lapsing[:2]))
    with lab(setup, folder, NEVER if event is RoutingEvent.DOWN else QUICK) as at:
        if event is RoutingEvent.KEY_LAPSED:
            for replica in at.replicas.values():
                replica.heartbeat = 0.3
        if event is not RoutingEvent.INIT:
            at.establish()
        return EVENTS[event](at)


def fits(met: Counter[str], said: Meets) -> bool:
    """Whether the sessions met what the row says. `same` and `error` allow nothing else. `other`: nobody comes back
    (who is not led elsewhere gets an error). `depends`: at least one is led elsewhere; that none is although clients
    are balanced at random has probability 3**-30 (0.75**30 = 2e-4 where only a fourth of the keys may move)."""
    kinds = set(met)
    if said in (Meets.SAME, Meets.ERROR):
        return kinds == {said.value}
    return "other" in kinds and (said is Meets.DEPENDS or "same" not in kinds)


# -- what sselint says of the configurations ---------------------------------------------------------------------------


def derived_row(setup: Setup, folder: Path) -> str:
    """The row that the reader gives the configuration as it is written for the proxy."""
    at = Lab(setup, folder)
    source = Source("haproxy.cfg", at.text(at.port, Path("/run/haproxy.sock")), "haproxy")
    cookies = frozenset(name for name in (setup.cookie, setup.sets.partition("=")[0]) if name)
    reading = haproxy.read((source,), Tree(".", (), lambda _: b""), Assumed(cookies, setup.client == "mcp"))
    return reading.routes[0].affinity.row.removeprefix("haproxy/")


@pytest.mark.parametrize("name", SETUPS)
def test_reader_gives_the_row(name: str, tmp_path: Path) -> None:
    assert derived_row(SETUPS[name], tmp_path) == name.partition("/")[0]


def test_every_row_has_a_setup() -> None:
    assert {name.partition("/")[0] for name in SETUPS} == set(ROWS)
    assert all(row.premise == f"tests/premises/test_haproxy.py::test_row[{row.id}]" for row in ROWS.values())


# -- the rows ----------------------------------------------------------------------------------------------------------

DECIDES = (
    RoutingEvent.PLAIN, RoutingEvent.INIT, RoutingEvent.MAINTENANCE, RoutingEvent.DRAIN, RoutingEvent.DOWN_DETECTED,
    RoutingEvent.RESTART,
)  # fmt: skip
"""Events that move clients, the quickest to provoke first."""


def deciding(row: AffinityRow) -> list[RoutingEvent]:
    """The events that show why a row is as strong as it is: the first one that moves a client, after a plain reconnect
    that does not; for a strict row, those that move the clients of its look-alikes."""
    said = dict(row.events)
    if strength_of(said) is Strength.STRICT:
        return [e for e in (RoutingEvent.PLAIN, RoutingEvent.MAINTENANCE, RoutingEvent.DOWN_DETECTED) if e in said]
    counts = [e for e in DECIDES if e not in CLIENTS_OWN | CONFIGURED_AWAY]
    moves = next(e for e in counts if said.get(e) in (Meets.OTHER, Meets.DEPENDS))
    return [moves] if moves is RoutingEvent.PLAIN or RoutingEvent.PLAIN not in said else [RoutingEvent.PLAIN, moves]


@pytest.mark.parametrize("row_id", ROWS)
def test_row(row_id: str, tmp_path: Path) -> None:
    row = ROWS[row_id]
    for event in deciding(row):
        met, said = outcomes(SETUPS[row_id], event, tmp_path), dict(row.events)[event]
        assert fits(met, said), f"{event.value}: the row says {said.value}, met {dict(met)}"


def _cells() -> list[tuple[str, RoutingEvent]]:
    return [
        (name, event)
        for name, setup in SETUPS.items()
        for event in dict(ROWS[name.partition("/")[0]].events)
        if (event is not RoutingEvent.CHECK_FAILS or setup.checked)
        and (event is not RoutingEvent.KEY_LAPSED or setup.lapsing)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "event"), _cells(), ids=lambda value: getattr(value, "value", value))
def test_cell(name: str, event: RoutingEvent, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    said = dict(ROWS[name.partition("/")[0]].events)[event]
    met = outcomes(SETUPS[name], event, tmp_path)
    record_property("premise", ["haproxy", name, event.value, said.value, dict(met)])
    assert fits(met, said), f"the row says {said.value}, met {dict(met)}"
