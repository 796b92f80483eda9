"""A real Envoy in front of three replicas in this process, clients with a cookie jar, and events provoked for real.

Hosts come by EDS from a watched file, so that draining, removal and new addresses are what a control plane would do. A
failure is a refused connection. `update_merge_window` is 0 s, which only takes away a wait of a second.
"""

from __future__ import annotations

import http.client
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sselint.facts import Route
from sselint.read import envoy
from sselint.source import Source, Tree
from tests import proxies
from tests.premises.envoy_peers import SECONDS, Client, Replica

TYPES = "type.googleapis.com/envoy."
SESSIONS = 30
"""Sessions of a run: ten on each replica under round robin. Under balancing at random all thirty come back with
probability 3**-30, and all ten of one replica with 3**-10 = 2e-5: so often would a `same` pass by luck."""

HEALTH_CHECKS = [
    {
        "timeout": "1s",
        "interval": "0.1s",
        "no_traffic_interval": "0.1s",
        "unhealthy_threshold": 1,
        "healthy_threshold": 1,
        "http_health_check": {"path": "/health"},
    }
]


# -- configurations ----------------------------------------------------------------------------------------------------


def stateful_session(state: str, inner: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """The stateful_session filter. `state` is cookie, header or envelope; `more` goes beside the session state."""
    message = {"cookie": "CookieBased", "header": "HeaderBased", "envelope": "Envelope"}[state] + "SessionState"
    typed = {"@type": f"{TYPES}extensions.http.stateful_session.{state}.v3.{message}", **inner}
    return {
        "name": "envoy.filters.http.stateful_session",
        "typed_config": {
            "@type": f"{TYPES}extensions.filters.http.stateful_session.v3.StatefulSession",
            "session_state": {"name": f"envoy.http.stateful_session.{state}", "typed_config": typed},
            **more,
        },
    }


ROUTER = {
    "name": "envoy.filters.http.router",
    "typed_config": {"@type": f"{TYPES}extensions.filters.http.router.v3.Router"},
}


@dataclass(frozen=True)
class Setup:
    """What differs from a plain configuration: fields of the cluster, of the route's action (None takes one away), of
    the route itself and of the connection manager, filters before the router, and the kind of client.

    `weighted` sends to the members of two clusters (r1, r2 and r3); `per_replica` adds a route and a cluster of one
    host for each replica, taken on this header match (a function of the replica's name). `rounds` is how often a plain
    reconnect is asked for, where a single one moves somebody only most of the time.
    """

    client: str = "browser"
    cluster: Mapping[str, Any] = field(default_factory=dict)
    route: Mapping[str, Any] = field(default_factory=dict)
    level: Mapping[str, Any] = field(default_factory=dict)
    manager: Mapping[str, Any] = field(default_factory=dict)
    filters: tuple[Mapping[str, Any], ...] = ()
    weighted: bool = False
    per_replica: Callable[[str], Mapping[str, Any]] | None = None
    rounds: int = 1

    @property
    def checked(self) -> bool:
        """Whether hosts are actively checked."""
        return "health_checks" in self.cluster

    @property
    def ejecting(self) -> bool:
        """Whether hosts that fail are ejected."""
        return "outlier_detection" in self.cluster


class Lab:
    """Three replicas (a fourth for scale-out) and the Envoys in front of them."""

    def __init__(self, setup: Setup, folder: Path) -> None:
        self.setup = setup
        self.folder = folder
        self.replicas = {name: Replica(name) for name in ("r1", "r2", "r3", "r4")}
        self.hosts: dict[str, str] = dict.fromkeys(("r1", "r2", "r3"), "")
        """The hosts that EDS names, with their health status ("" is none)."""
        self.port = proxies.free_port()
        self.admin = proxies.free_port()
        self._process: Any = None
        self._more: list[Any] = []
        self.clients: list[Client] = []

    # -- life --

    def __enter__(self) -> Lab:
        with ExitStack() as undone:
            undone.callback(self._end)
            for replica in self.replicas.values():
                replica.start()
            self._process = self._start(self.port, self.admin)
            self.settle()
            undone.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _end(self) -> None:
        for client in self.clients:
            client.close()
        for process in [self._process, *self._more]:
            if process is not None:
                proxies.stop(process)
        for replica in self.replicas.values():
            replica.crash()

    def _start(self, port: int, admin: int) -> Any:
        self.write_hosts()
        path = self.folder / f"envoy-{port}.json"
        path.write_text(json.dumps(self.configuration(port, admin), indent=1))
        log = self.folder / f"envoy-{port}.log"
        command = [
            proxies.envoy(), "-c", path, "--concurrency", "1", "--disable-hot-restart", "-l", "warning",
        ]  # fmt: skip
        process = proxies.start(command, log)
        proxies.wait_until_listening(process, port, log)
        return process

    def restart(self) -> None:
        """The proxy ends and starts again."""
        proxies.stop(self._process)
        self._process = self._start(self.port, self.admin)
        self.settle()

    def second(self) -> int:
        """Another proxy with the same configuration; its port."""
        port, admin = proxies.free_port(), proxies.free_port()
        self._more.append(self._start(port, admin))
        self.settle(admin)
        Client(0, "browser").initialize(port)  # so that two round robins in step do not look like affinity
        return port

    # -- configuration --

    def configuration(self, port: int, admin: int) -> dict[str, Any]:
        """The bootstrap."""
        manager = {
            "@type": f"{TYPES}extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
            "stat_prefix": "lab",
            "use_remote_address": True,
            "route_config": {
                "name": "lab",
                "virtual_hosts": [{"name": "feed", "domains": ["*"], "routes": list(self._routes())}],
            },
            "http_filters": [*self.setup.filters, ROUTER],
            **self.setup.manager,
        }
        chain = {"filters": [{"name": "envoy.filters.network.http_connection_manager", "typed_config": manager}]}
        return {
            "admin": {"address": _address(admin)},
            "node": {"id": "lab", "cluster": "lab"},
            "static_resources": {
                "listeners": [{"name": "public", "address": _address(port), "filter_chains": [chain]}],
                "clusters": list(self._clusters()),
            },
        }

    def _routes(self) -> Iterator[dict[str, Any]]:
        for name in ("r1", "r2", "r3", "r4") if self.setup.per_replica else ():
            assert self.setup.per_replica is not None
            match = {"prefix": "/", "headers": [self.setup.per_replica(name)]}
            yield {"match": match, "route": {"cluster": f"only-{name}", "timeout": "0s"}}
        target: dict[str, Any] = {"cluster": "feed"}
        if self.setup.weighted:
            weights = [{"name": "feed", "weight": 50}, {"name": "rest", "weight": 50}]
            target = {"weighted_clusters": {"clusters": weights}}
        own = dict(self.setup.route)
        if "weighted_clusters" in own:
            target["weighted_clusters"].update(own.pop("weighted_clusters"))
        action = {name: value for name, value in {**target, "timeout": "0s", **own}.items() if value is not None}
        yield {"match": {"prefix": "/"}, "route": action, **self.setup.level}

    def _clusters(self) -> Iterator[dict[str, Any]]:
        for name in ("feed", "rest") if self.setup.weighted else ("feed",):
            watched = {"path": str(self._hosts_file(name)), "watched_directory": {"path": str(self.folder)}}
            source = {"resource_api_version": "V3", "path_config_source": watched}
            own = dict(self.setup.cluster)
            common = {"update_merge_window": "0s", **own.pop("common_lb_config", {})}
            yield {
                "name": name,
                "type": "EDS",
                "connect_timeout": "1s",
                "common_lb_config": common,
                "eds_cluster_config": {"eds_config": source},
                **own,
            }
        for name in ("r1", "r2", "r3", "r4") if self.setup.per_replica else ():
            own = {k: v for k, v in self.setup.cluster.items() if k != "lb_policy"}
            yield {
                "name": f"only-{name}",
                "type": "STATIC",
                "connect_timeout": "1s",
                "load_assignment": self._assignment(f"only-{name}", [name]),
                **own,
            }

    def _hosts_file(self, cluster: str) -> Path:
        return self.folder / f"{cluster}.eds.json"

    def _assignment(self, cluster: str, names: list[str]) -> dict[str, Any]:
        endpoints = []
        for name in names:
            entry: dict[str, Any] = {"endpoint": {"address": _address(self.replicas[name].port)}}
            if self.hosts.get(name):
                entry["health_status"] = self.hosts[name]
            endpoints.append(entry)
        return {"cluster_name": cluster, "endpoints": [{"lb_endpoints": endpoints}]}

    def write_hosts(self) -> None:
        """Tells Envoy the hosts of this moment."""
        names = list(self.hosts)
        parts = {"feed": names}
        if self.setup.weighted:
            parts = {"feed": names[:-1], "rest": names[-1:]}
        for cluster, members in parts.items():
            resource = {
                "@type": f"{TYPES}config.endpoint.v3.ClusterLoadAssignment",
                **self._assignment(cluster, members),
            }
            path = self._hosts_file(cluster)
            fresh = path.with_suffix(".tmp")
            fresh.write_text(json.dumps({"version_info": str(time.time_ns()), "resources": [resource]}))
            fresh.replace(path)

    # -- waiting --

    def settle(self, admin: int | None = None) -> None:
        """Waits until Envoy's view of the hosts is `self.hosts` and the health of the replicas."""
        want = {self.replicas[n].port: status or "HEALTHY" for n, status in self.hosts.items()}
        self._wait(lambda hosts: {p: h["eds_health_status"] for p, h in hosts.items()} == want, admin)
        if self.setup.checked:
            self._wait(lambda hosts: not any("failed_active_health_check" in h for h in hosts.values()), admin)

    def wait_idle(self) -> None:
        """Waits until Envoy has noticed that no stream is open any more: what balances by load counts those."""

        def active(host: Mapping[str, Any]) -> int:
            return sum(int(s.get("value", 0)) for s in host["stats"] if s["name"] == "rq_active")

        self._wait(lambda _: not any(active(host) for host in self._hosts(self.admin)))

    def wait_unhealthy(self, name: str) -> None:
        """Waits until the health check has noticed a replica."""
        port = self.replicas[name].port
        self._wait(lambda hosts: hosts.get(port, {}).get("failed_active_health_check", False))

    def wait_present(self, name: str) -> None:
        """Waits until a replica is a host and healthy."""
        port = self.replicas[name].port
        self._wait(lambda hosts: port in hosts and "failed_active_health_check" not in hosts[port])

    def wait_ejected(self, name: str) -> None:
        """Waits until outlier detection has ejected a replica."""
        port = self.replicas[name].port
        self._wait(lambda hosts: hosts.get(port, {}).get("failed_outlier_check", False))

    def _wait(self, reached: Callable[[dict[int, Any]], bool], admin: int | None = None) -> None:
        deadline = time.monotonic() + SECONDS
        while not reached(hosts := self._seen_by_envoy(admin or self.admin)):
            assert time.monotonic() < deadline, f"Envoy still sees {hosts}, wanted {self.hosts}"
            time.sleep(0.02)
        time.sleep(0.1)  # from the main thread to the worker

    def _seen_by_envoy(self, admin: int) -> dict[int, Any]:
        return {h["address"]["socket_address"]["port_value"]: h["health_status"] for h in self._hosts(admin)}

    def _hosts(self, admin: int) -> list[dict[str, Any]]:
        connection = http.client.HTTPConnection("127.0.0.1", admin, timeout=SECONDS)
        connection.request("GET", "/clusters?format=json")
        statuses = json.loads(connection.getresponse().read())["cluster_statuses"]
        connection.close()
        own = [s for s in statuses if s["name"] in {"feed", "rest"}]
        return [h for s in own for h in s.get("host_statuses", [])]

    # -- events --

    def establish(self, number: int = SESSIONS) -> None:
        """New clients, each with an open stream."""
        for client in self.clients:
            client.close()
        self.clients = [Client(i, self.setup.client) for i in range(number)]
        for client in self.clients:
            if client.kind == "mcp":
                assert client.initialize(self.port).status == 200
            answer = client.stream(self.port)
            assert answer.status == 200, answer
            client.replica = answer.replica

    def reconnect(self, clients: list[Client], port: int | None = None) -> Counter[str]:
        """Cuts the streams and opens them again in another order, so that round robin does not look like affinity."""
        for client in clients:
            client.close()
        order = random.sample(clients, len(clients))
        return Counter(client.stream(port or self.port).against(client.replica) for client in order)

    def victim(self) -> tuple[str, list[Client]]:
        """The replica with the most clients, and these."""
        counts = Counter(c.replica for c in self.clients)
        name = max((n for n in self.hosts), key=lambda n: counts[n])
        return name, [c for c in self.clients if c.replica == name]


def _address(port: int) -> dict[str, Any]:
    return {"socket_address": {"address": "127.0.0.1", "port_value": port}}


@contextmanager
def lab(setup: Setup, folder: Path) -> Iterator[Lab]:
    """A running lab."""
    with Lab(setup, folder) as running:
        yield running


def routes_of(setup: Setup, folder: Path) -> tuple[Route, ...]:
    """What the reader makes of the configuration that the lab runs."""
    text = json.dumps(Lab(setup, folder).configuration(80, 81), indent=1)
    return envoy.read((Source("envoy.json", text, "envoy"),), Tree(".", (), lambda _: b"")).routes
