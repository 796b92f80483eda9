"""Pools: processes that one address stands for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sselint.facts.place import Evidence, Truth
from sselint.facts.route import Count


class Rolling(str, Enum):
    """What a release does to the number of processes that answer at one moment."""

    SURGE_WRITTEN = "surge_written"
    """Two generations overlap, and somebody wrote that down (maxSurge, start-first)."""
    SURGE_DEFAULT = "surge_default"
    """Two generations overlap by the platform's default."""
    REPLACED = "replaced"
    """The old one is gone before the new one starts (Recreate, a StatefulSet, compose up)."""
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Setting:
    """An environment variable of a pool; `value` None means set, but to what cannot be known (a secret, a template).
    `own` says that each replica finds a value of its own there. What the command says to a script of the tree stands
    among the variables, by its flag: `--workers`; `--` says that these are all of them."""

    name: str
    value: str | None
    evidence: Evidence = ()
    own: bool = False


@dataclass(frozen=True)
class Volume:
    """A mount. `shared` says whether every replica of the pool sees the same files."""

    mount_path: str
    shared: Truth
    why: str
    evidence: Evidence = ()
    source: str | None = None
    """The file or folder of the tree that is mounted, where it is one."""


@dataclass(frozen=True)
class Pool:
    """Processes that one address stands for.

    `kind` is "replicas" (pods, containers, tasks: each with an address of its own) or "workers" (processes behind one
    socket: a balancer without affinity). A container that starts workers is a pool of replicas with the workers as
    `workers`. `name` reads like "Deployment app". `addresses` are the names an outer hop reaches it by (service names,
    "deployment/app"). `starts` is the application on the command line (`module:attribute`, path not resolved);
    `command` the words as written. `image`, `build_context` and `dockerfile` (paths relative to the root) link it to a
    unit. `affinity` is that of its own address (workers and plain DNS: none). `settles_environment` is True where
    `environment` is all there is: a variable that is missing from it is not set. `number_from` is the variable that
    says how many processes there are, with what holds where it is not set. `only_as_script`: the start
    stands below `if __name__ == "__main__"`, so that importing its file does not run it.
    """

    path: str
    line: int
    format: str
    kind: str
    name: str
    processes: Count
    rolling: Rolling = Rolling.UNKNOWN
    rolling_evidence: Evidence = ()
    addresses: frozenset[str] = frozenset()
    answers: str = "one"
    command: tuple[str, ...] = ()
    starts: str | None = None
    app_directory: str | None = None
    image: str | None = None
    build_context: str | None = None
    dockerfile: str | None = None
    environment: tuple[Setting, ...] = ()
    settles_environment: bool = False
    volumes: tuple[Volume, ...] = ()
    workers: Pool | None = None
    evidence: Evidence = ()
    entrypoint: tuple[str, ...] = ()
    """The words at the head of `command` that replace an image's ENTRYPOINT (Kubernetes `command`, `entrypoint` of
    compose) or are it (Dockerfile). Empty: `command` are the arguments to whatever ENTRYPOINT the image has."""
    number_from: Setting | None = None
    only_as_script: bool = False
    variant: str = ""
    """Which of several alternative sets of files it is deployed with ("overlays/prod", "chart (values-prod.yaml)",
    "docker-compose.prod.yml"); empty where there is one. Routes and pools of two different variants never meet."""
