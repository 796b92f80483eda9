"""What happens between two connections of a client, provoked for real; each gives what the sessions then met."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from sselint.facts import Meets, RoutingEvent
from tests.premises.envoy_lab import HEALTH_CHECKS, Lab, Setup, lab
from tests.premises.envoy_peers import Client, Replica


def plain(at: Lab) -> Counter[str]:
    met: Counter[str] = Counter()
    for _ in range(at.setup.rounds):
        for client in at.clients:
            client.close()
        at.wait_idle()
        met += at.reconnect(at.clients)
    return met


def init(at: Lab) -> Counter[str]:
    """The process that created the session knows it; one that does not is as good as another one."""
    return Counter("same" if c.event["known"] else "other" for c in at.clients)


def key_lost(at: Lab) -> Counter[str]:
    strangers = []
    for number, client in enumerate(at.clients):
        client.close()
        stranger = Client(number, client.kind, has_key=False)
        stranger.replica = client.replica
        strangers.append(stranger)
    at.clients = strangers
    return at.reconnect(strangers)


def down(at: Lab) -> Counter[str]:
    name, victims = at.victim()
    at.replicas[name].crash()
    if at.setup.ejecting:  # the first failure ejects the host: a moment later, on the main thread
        return at.reconnect(victims[:1]) + _after(0.3, at, victims[1:])
    return at.reconnect(victims)


def _after(seconds: float, at: Lab, clients: list[Client]) -> Counter[str]:
    time.sleep(seconds)
    return at.reconnect(clients)


def down_detected(at: Lab) -> Counter[str]:
    name, victims = at.victim()
    at.replicas[name].crash()
    if at.setup.checked:
        at.wait_unhealthy(name)
    elif at.setup.ejecting:
        at.reconnect(victims[:3])
        at.wait_ejected(name)
    else:
        at.reconnect(victims[:3])  # nothing detects: time passes and others fail
        time.sleep(0.3)
    return at.reconnect(victims)


def drain(at: Lab) -> Counter[str]:
    return _with_status(at, "DRAINING")


def maintenance(at: Lab) -> Counter[str]:
    return _with_status(at, "UNHEALTHY")


def _with_status(at: Lab, status: str) -> Counter[str]:
    name, victims = at.victim()
    at.hosts[name] = status
    at.write_hosts()
    at.settle()
    return at.reconnect(victims)


def check_fails(at: Lab) -> Counter[str]:
    name, victims = at.victim()
    at.replicas[name].health = 503
    if at.setup.checked and not at.setup.per_replica:
        at.wait_unhealthy(name)
    else:
        time.sleep(0.5)
    return at.reconnect(victims)


def removed(at: Lab) -> Counter[str]:
    name, victims = at.victim()
    del at.hosts[name]
    at.write_hosts()
    if at.setup.checked:
        time.sleep(0.5)  # Envoy keeps a removed host that passes its check, so there is nothing to wait for
    else:
        at.settle()
    return at.reconnect(victims)


def moved(at: Lab) -> Counter[str]:
    name, victims = at.victim()
    at.replicas[name].crash()
    at.replicas[name] = Replica(name)
    at.replicas[name].start()
    at.write_hosts()
    if at.setup.checked:
        at.wait_present(name)
    else:
        at.settle()
    return at.reconnect(victims)


def scale_out(at: Lab) -> Counter[str]:
    at.hosts = {"r4": "", **at.hosts}
    at.write_hosts()
    at.settle()
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
    RoutingEvent.DOWN: down,
    RoutingEvent.DOWN_DETECTED: down_detected,
    RoutingEvent.DRAIN: drain,
    RoutingEvent.MAINTENANCE: maintenance,
    RoutingEvent.CHECK_FAILS: check_fails,
    RoutingEvent.REMOVED: removed,
    RoutingEvent.MOVED: moved,
    RoutingEvent.SCALE_OUT: scale_out,
    RoutingEvent.RESTART: restart,
    RoutingEvent.SECOND_PROXY: second_proxy,
}
"""How each event is provoked. KEY_LAPSED has a test of its own, because it needs a cookie with a lifetime."""


def meaning(met: Counter[str]) -> Meets:
    """What the sessions met, as a row says it: ERROR is `its own process or an error`, DEPENDS some of it and another
    process too."""
    kinds = set(met)
    if "other" not in kinds:
        return Meets.ERROR if "error" in kinds else Meets.SAME
    return Meets.OTHER if kinds == {"other"} else Meets.DEPENDS


def agrees(claim: Meets, met: Counter[str]) -> bool:
    """Whether a measurement bears a claim out. `depends` says that a session may land elsewhere: one that does proves
    it, and that all do is no contradiction."""
    return "other" in met if claim is Meets.DEPENDS else meaning(met) is claim


RARE_CHECKS = [{**HEALTH_CHECKS[0], "interval": "60s", "no_traffic_interval": "60s"}]
"""What has gone down is not noticed before the sessions are back, however slow the machine is."""


def measure(setup: Setup, event: RoutingEvent, folder: Path, claim: Meets | None = None) -> Counter[str]:
    """What sessions meet after an event. Where the claim is that some *may* land elsewhere, luck gets three chances: of
    ten sessions that are balanced over a dead host and two others by load, none moves in one run of a few hundred."""
    met: Counter[str] = Counter()
    for chance in range(3 if claim is Meets.DEPENDS else 1):
        met += _measured(setup, event, folder / str(chance))
        if "other" in met:
            break
    return met


def _measured(setup: Setup, event: RoutingEvent, folder: Path) -> Counter[str]:
    folder.mkdir(parents=True)
    if event is RoutingEvent.DOWN and setup.checked:
        setup = replace(setup, cluster={**setup.cluster, "health_checks": RARE_CHECKS})
    with lab(setup, folder) as at:
        at.establish()
        return EVENTS[event](at)
