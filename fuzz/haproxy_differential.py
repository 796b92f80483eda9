"""Random HAProxy backends, asked of the reader and of a real HAProxy: does sselint promise more than the proxy keeps?

usage: python -m fuzz.haproxy_differential [SECONDS] [SEED]

Prints every configuration for which a row says `same` or `error` and a client was led elsewhere, and exits 1 if there
is one. How often a client came back although the row says that it is led elsewhere is counted: being too careful about
a mixture of mechanisms is no fault, but a change in that number is worth a look.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from sselint.facts import Affinity, KeyCarrier, Meets, RoutingEvent
from sselint.read import haproxy
from sselint.read.haproxy.persistence import Assumed
from sselint.source import Source, Tree
from tests.premises.haproxy_lab import CHECK, NEVER, QUICK, Lab, Setup, lab
from tests.premises.test_haproxy import EVENTS

PARTS = (
    (0.9, """balance roundrobin|balance leastconn|balance source|balance hdr(X-Client-Id)|balance url_param sid
        |balance first|balance random|balance uri|balance hdr(Mcp-Session-Id)|balance hash req.cook(APP)
        |balance hash src|balance static-rr"""),
    (0.3, "hash-type consistent|hash-type map-based"),
    (0.1, "hash-balance-factor 150"),
    (0.5, """cookie SRV insert indirect nocache|cookie SRV insert|cookie APP prefix|cookie APP rewrite
        |cookie SRV insert indirect postonly|cookie SRV insert preserve
        |cookie SRV insert indirect dynamic\ndynamic-cookie-key k|cookie SRV insert maxidle 1h"""),
    (0.4, """stick on src|stick match src\nstick store-request src|stick on req.hdr(X-Client-Id)|stick on urlp(sid)
        |stick on req.hdr(Mcp-Session-Id)|stick on req.cook(APP)|stick store-request src|stick match src
        |stick match req.hdr(Mcp-Session-Id)\nstick store-response res.hdr(Mcp-Session-Id)
        |stick match req.cook(APP)\nstick store-response res.cook(APP)|stick on src if METH_POST"""),
    (0.2, "use-server {n} if { req.hdr(Mcp-Session-Id) -m beg {n}. }"),
    (0.4, "option redispatch|option redispatch 1|option redispatch 5|option redispatch -1|option redispatch 0"),
    (0.3, "option persist|no option persist|force-persist if TRUE|force-persist if METH_POST"),
    (0.2, "ignore-persist if TRUE|ignore-persist unless TRUE|ignore-persist if METH_POST"),
    (0.3, "retries 0|retries 1|retries 3"),
)  # fmt: skip
"""Probability and alternatives of each kind of line."""
ASKED = (
    RoutingEvent.DRAIN, RoutingEvent.MAINTENANCE, RoutingEvent.DOWN, RoutingEvent.DOWN_DETECTED,
    RoutingEvent.CHECK_FAILS, RoutingEvent.RELOAD,
)  # fmt: skip


def setup(dice: random.Random) -> Setup:
    """A random configuration with a random client and application."""
    lines = [dice.choice(text.split("|")).strip() for chance, text in PARTS if dice.random() < chance]
    if any(line.startswith("stick ") for line in lines):
        lines.append("stick-table type string len 64 size 10k" + dice.choice(("", " expire 30m")))
    server = dice.choice((CHECK, CHECK, "")) + dice.choice(("", " cookie {n}", " cookie {n}"))
    other = dice.choice(("", "", " backup", " non-stick", " weight 0", " disabled"))
    special = {dice.choice(("r1", "r2", "r3")): server + other} if other else {}
    client, cookie = dice.choice(("browser", "mcp", "header", "query")), dice.choice(("", "APP"))
    return Setup("\n".join(lines), server, client, special, cookie=cookie, sets=dice.choice(("", "", "SRV=r3")))


def read(given: Setup, folder: Path) -> Affinity:
    """What the reader says of it."""
    at = Lab(given, folder)
    cookies = frozenset(name for name in (given.cookie, given.sets.partition("=")[0]) if name)
    source = Source("haproxy.cfg", at.text(at.port, Path("/run/haproxy.sock")), "haproxy")
    reading = haproxy.read((source,), Tree(".", (), lambda _: b""), Assumed(cookies, given.client == "mcp"))
    return reading.routes[0].affinity


def presented(affinity: Affinity, given: Setup) -> bool:
    """Whether the client presents the key: of others the row says nothing."""
    name = affinity.key.name.lower()
    return not (
        (name == "mcp-session-id" and given.client != "mcp")
        or (name == "x-client-id" and given.client != "header")
        or (affinity.key.carrier is KeyCarrier.QUERY and given.client != "query")
        or (name == "app" and not given.cookie)
    )


def main(seconds: float, seed: int) -> int:
    """Runs until the time is over; the number of broken promises."""
    dice, end = random.Random(seed), time.monotonic() + seconds  # noqa: S311
    counts: Counter[str] = Counter()
    while time.monotonic() < end:
        given = setup(dice)
        with tempfile.TemporaryDirectory() as name:
            affinity = read(given, Path(name))
            said = dict(affinity.events)
            if not presented(affinity, given):
                continue
            for event in (RoutingEvent.PLAIN, *dice.sample(ASKED, 2)):
                if event not in said or (event is RoutingEvent.CHECK_FAILS and not given.checked):
                    continue
                with lab(given, Path(name), NEVER if event is RoutingEvent.DOWN else QUICK) as at:
                    at.establish(21)
                    met = EVENTS[event](at)
                counts["cells"] += 1
                counts["too careful"] += said[event] in (Meets.OTHER, Meets.DEPENDS) and "other" not in met
                if said[event] in (Meets.SAME, Meets.ERROR) and "other" in met:
                    counts["broken"] += 1
                    print(
                        f"{event.value}: {affinity.row} says {said[event].value}, met {dict(met)}\n{given}", flush=True
                    )
    print(f"{counts['cells']} cells, {counts['too careful']} too careful, {counts['broken']} broken promises")
    return min(counts["broken"], 1)


if __name__ == "__main__":
    sys.exit(main(*(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0, int(sys.argv[2]) if len(sys.argv) > 2 else 0)))
