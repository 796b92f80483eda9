"""A deployment: one stream behind one chain of hops and pools. What `link` makes and `judge` judges."""

from __future__ import annotations

from dataclasses import dataclass

from sselint.facts import ClientSighting, Evidence, FileReport, Pool, Route, Stream, Truth


@dataclass(frozen=True)
class Hop:
    """One step of the way from the client to the process: a route (a balancer) or a pool (processes at one address).

    Exactly one of `route` and `pool` is set. `why` says why it was linked; `assumed` is True for a last-resort link
    (the unit holds exactly one server and one pool or route), which the report names as an assumption. `per_member` is
    True for a pool that stands for a member of the route before it, or for several: its numbers are those of one.
    """

    why: str
    route: Route | None = None
    pool: Pool | None = None
    assumed: bool = False
    evidence: Evidence = ()
    per_member: bool = False

    @property
    def name(self) -> str:
        """The hop's name as people read it."""
        return self.route.name if self.route else self.pool.name if self.pool else "?"


@dataclass(frozen=True)
class Client:
    """A client as the settings name it, or the default one (`named` False). Facts from `rules/clients/`.

    `sends_last_event_id` and `keeps_cookies` are unknown for a client that the rules do not describe.
    """

    name: str
    sends_last_event_id: Truth
    keeps_cookies: Truth
    keeps_session_header: Truth
    named: bool
    why: str
    evidence: Evidence = ()


@dataclass(frozen=True)
class Deployment:
    """One stream, the hops in front of it (outermost first), and who talks to it.

    `name` is what the report calls it. `pod_disk_shared` answers, for a stream that replays from a file, whether all
    processes of this deployment see the same file. `candidates` is not empty where several pools or routes could be in
    front and nothing decides: then the verdict is unknown, with these named.
    """

    name: str
    stream: Stream
    hops: tuple[Hop, ...] = ()
    clients: tuple[Client, ...] = ()
    sightings: tuple[ClientSighting, ...] = ()
    declared_policy: str | None = None
    pod_disk_shared: Truth = Truth.UNKNOWN
    pod_disk_why: str = ""
    pod_disk_evidence: Evidence = ()
    assumptions: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()

    def is_one_of_several(self, pool: Pool) -> bool:
        """Whether the pool stands for one of several members of the route before it: what a release adds for a while
        is then one more of them, and nothing new."""
        before = [
            h.route for hop, h in zip(self.hops[1:], self.hops, strict=False) if hop.pool == pool and hop.per_member
        ]
        return any(route is not None and route.members.high != 1 for route in before)


@dataclass(frozen=True)
class Audit:
    """All that was read and linked under one root. `loose_routes` have no stream behind them."""

    root: str
    deployments: tuple[Deployment, ...] = ()
    streams: tuple[Stream, ...] = ()
    routes: tuple[Route, ...] = ()
    pools: tuple[Pool, ...] = ()
    loose_routes: tuple[Route, ...] = ()
    files: tuple[FileReport, ...] = ()
