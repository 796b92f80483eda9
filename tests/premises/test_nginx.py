"""What rules/affinity/nginx.yaml claims, asked of a real nginx.

For each row its configuration is read by sselint (and must be told to be that row), then the events are provoked and
what sessions meet is held against the row. `make test` runs the events that decide a row's strength; `make premises`
runs every event of every row and prints the table. See `nginx_lab.SESSIONS` for how little chance can do here.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from sselint.affinity import CLIENTS_OWN, CONFIGURED_AWAY, AffinityRow, strength_of
from sselint.catalogue import affinity_rows
from sselint.facts import Meets, RoutingEvent, Strength
from sselint.read import nginx
from sselint.source import Source, Tree
from tests import proxies
from tests.premises.nginx_events import EVENTS, lapsed, meaning
from tests.premises.nginx_lab import Setup, running
from tests.premises.nginx_setups import LEARN, SETUPS

pytestmark = pytest.mark.premises

ROWS = {row.id: row for row in affinity_rows("nginx")}

MOVING = (Meets.OTHER, Meets.DEPENDS)


def text_of(setup: Setup) -> str:
    """A setup's configuration, for those who read it."""
    members = {name: f"127.0.1.{name[1]}:8080" for name in ("r1", "r2", "r3")}
    return setup.text(Path("/run/nginx"), 8000, members, {})


def row_of(setup: Setup) -> str:
    """The row that the reader finds for a setup; the locations that only a failure leads to are no routes to judge."""
    text = text_of(setup)
    tree = Tree("/root", ("nginx.conf",), lambda _: text.encode())
    routes = nginx.read([Source("nginx.conf", text, "nginx")], tree).routes
    [row] = [r.affinity.row for r in routes if "@any" not in r.name and "/any/" not in r.name]
    return row


def deciding(row: AffinityRow) -> list[RoutingEvent]:
    """The events without which the row's strength would be another one: what already fails at once; the first event
    that moves a client; for a strict row all that do not."""
    events = dict(row.events)
    at_once = [e for e in (RoutingEvent.PLAIN, RoutingEvent.INIT) if events.get(e, Meets.SAME) in MOVING]
    if at_once:
        return at_once[:1]
    count = [e for e in EVENTS if e in events and e not in CLIENTS_OWN | CONFIGURED_AWAY]
    moving = [e for e in count if events[e] in MOVING and e is not RoutingEvent.PLAIN]
    return [RoutingEvent.PLAIN, *moving[:1]] if strength_of(events) is Strength.BEST_EFFORT else count


def test_every_row_has_a_setup_and_the_reader_recognizes_it() -> None:
    assert {name: row_of(setup) for name, setup in SETUPS.items()} == {name: f"nginx/{name}" for name in ROWS}


def test_measured_on_the_version_that_runs_here() -> None:
    said = subprocess.run([proxies.nginx(), "-v"], capture_output=True, text=True, check=True, timeout=20).stderr
    assert {said.strip().rpartition("/")[2]} == {row.version for row in ROWS.values()}


@pytest.mark.parametrize("name", ROWS)
def test_row(name: str, tmp_path: Path) -> None:
    """The events that decide the row's strength meet what it claims."""
    row = ROWS[name]
    claims = dict(row.events)
    for event in deciding(row):
        assert claims[event] is meaning(met(SETUPS[name], event, tmp_path / event.value)), event


@pytest.mark.slow
@pytest.mark.parametrize("name", ROWS)
def test_every_event(name: str, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    """All events of the row meet what it claims; the counts go into the table at the end of the run."""
    wrong = []
    for event, claim in ROWS[name].events:
        if event in EVENTS:
            counts = met(SETUPS[name], event, tmp_path / event.value)
            record_property("premise", ["nginx", name, event.value, claim.value, dict(counts)])
            if meaning(counts) is not claim:
                wrong.append((event.value, claim.value, dict(counts)))
    assert not wrong


def met(setup: Setup, event: RoutingEvent, folder: Path) -> Counter[str]:
    """What sessions meet after an event, in a lab of its own."""
    folder.mkdir()
    with running(setup, folder) as lab:
        lab.connect()
        return EVENTS[event](lab)


@pytest.mark.parametrize(
    ("name", "setup"),
    [
        ("sticky_cookie", Setup("sticky cookie srv_id expires=1s path=/;", location="proxy_buffering off;")),
        ("sticky_learn", Setup(LEARN.format("1s"), sessions="mcp")),
    ],
)
def test_a_key_lapses_during_an_open_busy_stream(name: str, setup: Setup, tmp_path: Path) -> None:
    """A stream is one request: its events do not lengthen a cookie's life nor refresh an entry of the table."""
    with running(setup, tmp_path) as lab:
        assert dict(ROWS[name].events)[RoutingEvent.KEY_LAPSED] is meaning(lapsed(lab, 2.5))


@pytest.mark.parametrize("name", ["sticky_cookie", "sticky_learn"])
def test_a_key_with_a_long_life_outlives_the_stream(name: str, tmp_path: Path) -> None:
    """The look-alike of the lapse: an hour, or the session of the browser."""
    with running(SETUPS[name], tmp_path) as lab:
        assert meaning(lapsed(lab, 2.5)) is Meets.SAME
