"""The samples, run: three replicas of each behind the real proxy with the sample's own configuration, and a client like
a browser that is cut off, or whose replica is restarted, and comes back. What it receives fits the sample's verdict."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.execution.browser import Browser
from tests.execution.fleet import UVICORN, Replica, edge, redis, replicas
from tests.premises.answers import ask

pytestmark = pytest.mark.execution

SAMPLES = Path(__file__).parents[2] / "sample_configs"
EVENTS = "/tasks/events"
LETTERS = "abc"


@dataclass(frozen=True)
class Running:
    """A sample that runs: its replicas by letter, and the port of its balancer."""

    replicas: dict[str, Replica]
    front: int

    def work(self, *texts: str) -> None:
        """Tasks, each for the replica that its text begins with, which tells its steps as three events."""
        for text in texts:
            headers, port = {"Content-Type": "application/json"}, self.replicas[text[0]].port
            answer = ask(port, "/tasks", headers, method="POST", body=json.dumps({"text": text}))
            assert (answer.status, answer.headers["location"]) == (202, EVENTS)
        time.sleep(0.75)

    def opened(self, *letters: str) -> tuple[Browser, str]:
        """A browser that holds the first task of a replica, one of those named, and that replica."""
        for _ in range(20):
            browser = Browser(self.front, EVENTS)
            browser.connect(4, count=3)
            assert len(browser.received) == 3, browser.answers[-1]
            home = browser.received[0][0]
            if home in letters:
                return browser, home
        raise AssertionError(f"the balancer chose none of {letters} in 20 tries")


@contextmanager
def running(sample: str, config: str, folder: Path) -> Iterator[Running]:
    """The sample with three replicas, each of which has done one task."""
    with ExitStack() as stack:
        environment = {"REDIS_URL": stack.enter_context(redis(folder))} if "policy-1" in sample else {}
        made = stack.enter_context(replicas(SAMPLES / sample, f"{UVICORN} agent:app", folder, 3, environment))
        names = {f"agent-{letter}": replica.port for letter, replica in zip(LETTERS, made, strict=True)}
        front = stack.enter_context(edge(SAMPLES / sample / config, names, folder))
        found = Running(dict(zip(LETTERS, made, strict=True)), front)
        yield found


CONFIGS = {"haproxy": "haproxy.cfg", "nginx": "nginx.conf", "envoy": "envoy.yaml"}


@pytest.mark.parametrize("proxy", CONFIGS)
def test_routing_on_the_id_gives_a_client_the_events_of_another_replica(proxy: str, tmp_path: Path) -> None:
    """Nothing is broken: the first number of B "belongs" to A, which has told an event of that number too."""
    with running(f"{proxy}-routes-on-last-event-id", CONFIGS[proxy], tmp_path) as fleet:
        fleet.work("a1", "b1", "c1")
        browser, home = fleet.opened("b", "c")
        browser.received.clear()
        fleet.work("a2", "b2", "c2")
        answer = browser.connect(1)
    assert answer.status == 200
    assert set(browser.received) == {"a2"}, f"its own replica was {home}"


@pytest.mark.parametrize("proxy", CONFIGS)
def test_a_restart_gives_the_same_numbers_out_again(proxy: str, tmp_path: Path) -> None:
    """A rolling restart of the very replica that the id leads to: its second life has an event of that number, and what
    the first one told last is lost without a word."""
    with running(f"{proxy}-routes-on-last-event-id", CONFIGS[proxy], tmp_path) as fleet:
        fleet.work("a1", "b1", "c1")
        browser, home = fleet.opened("a")
        browser.received.clear()
        fleet.work("a2")
        fleet.replicas[home].stop()
        fleet.replicas[home].start()
        fleet.work("a3")
        fleet.work("a4")
        answers = [browser.connect(1.5) for _ in range(2)]
    assert 200 in {a.status for a in answers}
    assert "a2" not in browser.received
    assert set(browser.received) == {"a4"}


def test_policy_1_continues_on_whichever_replica(tmp_path: Path) -> None:
    """The replica that served it is gone, and so is its cookie: another one tells what it missed, and no more."""
    with running("policy-1-shared-replay", "haproxy.cfg", tmp_path) as fleet:
        fleet.work("a1", "b1", "c1")
        browser = Browser(fleet.front, EVENTS)
        browser.connect(4, count=9)
        assert sorted(browser.received) == ["a1"] * 3 + ["b1"] * 3 + ["c1"] * 3
        browser.received.clear()
        fleet.work("b2")
        fleet.replicas["a"].stop()
        browser.cookies.clear()
        statuses = []
        while 200 not in statuses and len(statuses) < 5:
            statuses.append(browser.connect(4, count=3).status)
        browser.connect(0.5)
    assert browser.received == ["b2"] * 3


def test_policy_2_continues_at_home_and_is_refused_when_home_is_restarted(tmp_path: Path) -> None:
    with running("policy-2-pinned-fail-closed", "envoy.yaml", tmp_path) as fleet:
        fleet.work("a1", "b1", "c1")
        browser, home = fleet.opened(*LETTERS)
        for number in "23":
            fleet.work(f"{home}{number}")
            assert browser.connect(4, count=3).status == 200
        assert browser.received == [f"{home}{n}" for n in "111222333"]
        fleet.replicas[home].stop()
        gone = [browser.connect(0.7).status for _ in range(3)]
        fleet.replicas[home].start()
        fleet.work(f"{home}4")
        back = browser.connect(0.7).status
    assert 200 not in gone
    assert back == 409
    assert f"{home}4" not in browser.received


def test_policy_3_promises_nothing(tmp_path: Path) -> None:
    """No event has an id, so that a client has nothing to come back with; it asks for the state."""
    with running("policy-3-no-resumption", "nginx.conf", tmp_path) as fleet:
        browser = Browser(fleet.front, EVENTS)
        fleet.work("a1")
        state = ask(fleet.replicas["a"].port, "/tasks")
        answer = browser.connect(0.5)
    assert answer.status == 200
    assert (browser.ids, browser.cursor) == ([], None)
    assert json.loads(state.body)[-1].endswith("a1")


UNAVAILABLE = 503
"""What HAProxy says until its health check has failed three times: there is no redispatch."""


def moved(sample: str, folder: Path) -> tuple[list[int], Browser]:
    """What a client of an epoch sample is answered that comes back when its replica is gone: first by HAProxy itself,
    which is left out, then by another replica."""
    with running(sample, "haproxy.cfg", folder) as fleet:
        fleet.work("a1", "b1", "c1")
        browser, home = fleet.opened(*LETTERS)
        fleet.work(f"{home}2")
        assert browser.connect(4, count=3).status == 200
        assert browser.received == [f"{home}{n}" for n in "111222"], "at home it continues"
        browser.received.clear()
        fleet.replicas[home].stop()
        statuses = []
        deadline = time.monotonic() + 30
        while not {200, 409} & set(statuses) and time.monotonic() < deadline:
            statuses.append(browser.connect(5).status)
        return [s for s in statuses if s != UNAVAILABLE], browser


def test_an_epoch_that_is_refused_before_the_response_is_loud(tmp_path: Path) -> None:
    statuses, browser = moved("epoch-refused-before-the-response", tmp_path)
    assert statuses == [409]
    assert browser.received == []


def test_an_epoch_that_is_refused_inside_the_response_is_a_200_with_nothing_in_it(tmp_path: Path) -> None:
    """The welcome arrives, then the body breaks off; the browser keeps its id and comes back for ever."""
    statuses, browser = moved("epoch-raised-inside-the-response", tmp_path)
    assert statuses == [200]
    assert browser.received == []
    last = browser.answers[-1]
    assert (last.ended, last.body) == ("aborted", ": welcome\n\n")
    assert browser.cursor is not None
