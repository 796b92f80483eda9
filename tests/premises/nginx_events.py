"""What can happen to routing between two connections of a client, provoked on a real nginx."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from sselint.facts import Meets, RoutingEvent
from tests.premises.nginx_clients import Session
from tests.premises.nginx_lab import Lab


def plain(lab: Lab) -> Counter[str]:
    return lab.come_back(lab.sessions)


def init(lab: Lab) -> Counter[str]:
    """Whether the stream comes from the replica that created the session; for a cookie that the application issues on
    the first response, whether the next connection returns."""
    if lab.setup.sessions == "mcp":
        return Counter("same" if s.home == s.created_on else "other" for s in lab.sessions)
    return lab.come_back(lab.sessions)


def key_lost(lab: Lab) -> Counter[str]:
    for session in lab.sessions:
        session.forget(lab.source())
    return lab.come_back(lab.sessions)


def down(lab: Lab) -> Counter[str]:
    """The replica refuses connections, and nothing has noticed yet."""
    name, victims = lab.victim()
    lab.replicas[name].stop()
    return lab.come_back(victims)


def down_detected(lab: Lab) -> Counter[str]:
    """After nginx has seen it fail: open-source nginx checks nothing, a failed request is its only sign."""
    name, victims = lab.victim()
    lab.replicas[name].stop()
    for session in victims[:3]:
        session.stream(lab.first.port)
    return lab.come_back(victims)


def drain(lab: Lab) -> Counter[str]:
    name, victims = lab.victim()
    lab.reload(**{name: "drain"})
    return lab.come_back(victims)


def maintenance(lab: Lab) -> Counter[str]:
    name, victims = lab.victim()
    lab.reload(**{name: "down"})
    return lab.come_back(victims)


def removed(lab: Lab) -> Counter[str]:
    name, victims = lab.victim()
    lab.reload(*(n for n in ("r1", "r2", "r3") if n != name))
    return lab.come_back(victims)


def moved(lab: Lab) -> Counter[str]:
    name, victims = lab.victim()
    replica = lab.replicas[name]
    replica.stop()
    replica.host = "127.0.1.9"
    replica.start()
    lab.reload()
    return lab.come_back(victims)


def scale_out(lab: Lab) -> Counter[str]:
    lab.reload("r1", "r2", "r3", "r4")
    return lab.come_back(lab.sessions)


def reload(lab: Lab) -> Counter[str]:
    lab.reload()
    return lab.come_back(lab.sessions)


def restart(lab: Lab) -> Counter[str]:
    lab.first.stop()
    lab.first.start(lab.text(lab.first))
    return lab.come_back(lab.sessions)


def second_proxy(lab: Lab) -> Counter[str]:
    lab.second.start(lab.text(lab.second))
    Session(0, "browser", lab.source()).stream(lab.second.port)  # one step out of lock-step with the first
    return lab.come_back(lab.sessions, lab.second.port)


EVENTS: dict[RoutingEvent, Callable[[Lab], Counter[str]]] = {
    RoutingEvent.PLAIN: plain,
    RoutingEvent.INIT: init,
    RoutingEvent.KEY_LOST: key_lost,
    RoutingEvent.DOWN: down,
    RoutingEvent.DOWN_DETECTED: down_detected,
    RoutingEvent.DRAIN: drain,
    RoutingEvent.MAINTENANCE: maintenance,
    RoutingEvent.REMOVED: removed,
    RoutingEvent.MOVED: moved,
    RoutingEvent.SCALE_OUT: scale_out,
    RoutingEvent.RELOAD: reload,
    RoutingEvent.RESTART: restart,
    RoutingEvent.SECOND_PROXY: second_proxy,
}
"""How each event is provoked. KEY_LAPSED needs a key with a short life: see `lapsed`."""


def lapsed(lab: Lab, seconds: float) -> Counter[str]:
    """Sessions hold streams with an event every 0.3 s open for `seconds`, longer than their key lives; then all come
    back."""
    lab.connect()
    with ThreadPoolExecutor(len(lab.sessions)) as pool:
        held = list(pool.map(lambda s: s.stream(lab.first.port, f"beat=0.3&for={seconds}"), lab.sessions))
    assert [answer.replica for answer in held] == [session.home for session in lab.sessions]
    return lab.come_back(lab.sessions)


def meaning(met: Counter[str]) -> Meets:
    """What sessions met, as the rows word it: OTHER where any moved and none got an error, DEPENDS where some got an
    error and others moved or returned."""
    kinds = {kind for kind, number in met.items() if number}
    if kinds == {"same"}:
        return Meets.SAME
    if kinds == {"error"}:
        return Meets.ERROR
    return Meets.DEPENDS if "error" in kinds else Meets.OTHER
