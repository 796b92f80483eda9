"""A name in front of a number: which of the processes that a deployment runs it tells apart."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from sselint.facts import Scope
from sselint.findings import Verdict
from sselint.pipeline import audit
from sselint.policies import judge_deployment
from sselint.settings import load_settings

SERVER = """
import asyncio
import itertools
import os
import socket
import uuid

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import StreamingResponse

app = FastAPI()
events = []
count = itertools.count(1)
NAME = {name}


@app.post("/publish")
async def publish(request: Request):
    events.append((f"{{NAME}}-{{next(count)}}", (await request.body()).decode()))


@app.get("/events")
async def feed(request: Request):
    last = request.headers.get("last-event-id")
    if last is not None and last not in [key for key, _ in events]:
        raise HTTPException(409)

    async def frames():
        place = [key for key, _ in events].index(last) + 1 if last else 0
        while True:
            for key, text in events[place:]:
                place += 1
                yield f"id: {{key}}\\ndata: {{text}}\\n\\n"
            await asyncio.sleep(1)

    return StreamingResponse(frames(), media_type="text/event-stream")
"""

IMAGE = 'FROM python:3.12\nCOPY app.py .\nCMD ["uvicorn", "app:app"{workers}]\n'
ONE, FOUR = IMAGE.format(workers=""), IMAGE.format(workers=', "--workers", "4"')

PROXY = """
events {}
http {
  upstream api { MEMBERS }
  server { listen 80; location / { proxy_pass http://api; proxy_buffering off; } }
}
"""

NAMED_SERVICES = """
services:
  one:
    build: .
    environment: {FIRST}
  two:
    build: .
    environment: {SECOND}
"""

SWARM = """
services:
  api:
    image: example/api
    build: .
    environment: {INSTANCE: "VALUE"}
    deploy: {replicas: 3}
"""

PODS = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec:
  replicas: 3
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec:
      containers:
        - name: api
          image: example/api
          command: [uvicorn, "app:app"]
          env: [{name: REPLICA, VALUE}]
---
apiVersion: v1
kind: Service
metadata: {name: api}
spec: {selector: {app: api}, ports: [{port: 80, targetPort: 8000}]}
"""

PROGRAM = """
[program:api]
command=uvicorn app:app --uds /run/api%(process_num)d.sock
process_name=%(program_name)s_%(process_num)d
numprocs=3
environment=NUMBER_OF_PROCESS="VALUE"
"""

SOCKETS = PROXY.replace("MEMBERS", "".join(f"server unix:/run/api{n}.sock; " for n in range(3)))


def services(first: str, second: str) -> dict[str, str]:
    """Two services of one image behind nginx."""
    named = NAMED_SERVICES.replace("FIRST", first).replace("SECOND", second)
    return {
        "Dockerfile": ONE,
        "compose.yaml": named,
        "nginx.conf": PROXY.replace("MEMBERS", "server one:8000; server two:8000;"),
    }


def pods(value: str) -> dict[str, str]:
    return {"k8s.yaml": PODS.replace("VALUE", value)}


HOST = 'os.environ["HOSTNAME"]'
INSTANCE = 'os.environ.get("INSTANCE_ID", "api")'
REPLICA = 'os.environ["REPLICA"]'
FALLBACK = 'os.environ.get("INSTANCE_ID", uuid.uuid4().hex)'
TASK = 'os.environ["INSTANCE"]'
NUMBER = 'os.environ["NUMBER_OF_PROCESS"]'

TOLD_APART = {
    "two services, each with a value": (INSTANCE, services("INSTANCE_ID: a", "INSTANCE_ID: b")),
    "the pod's name, from the downward API": (REPLICA, pods("valueFrom: {fieldRef: {fieldPath: metadata.name}}")),
    "the slot of a swarm's task": (TASK, {"Dockerfile": ONE, "compose.yaml": SWARM.replace("VALUE", "{{.Task.Slot}}")}),
    "the name of a swarm's task, in a list": (
        TASK,
        {
            "Dockerfile": ONE,
            "compose.yaml": SWARM.replace('{INSTANCE: "VALUE"}', '["INSTANCE={{.Service.Name}}-{{.Task.ID}}"]'),
        },
    ),
    "the host's name, one process each": (HOST, pods("value: x")),
    "supervisord's number of the process": (
        NUMBER,
        {"supervisord.conf": PROGRAM.replace("VALUE", "%(process_num)d"), "nginx.conf": SOCKETS},
    ),
    "the number of the process among workers": ("os.getpid()", {"Dockerfile": FOUR}),
    "host and process": ('f"{socket.gethostname()}.{os.getpid()}"', {"Dockerfile": FOUR}),
    "a random token, as nothing is set": (FALLBACK, services("A: a", "A: b")),
}

SHARED = {
    "two services, one value": (INSTANCE, services("INSTANCE_ID: a", "INSTANCE_ID: a")),
    "two services, no value": (INSTANCE, services("A: a", "A: b")),
    "one value for all tasks of a swarm": (TASK, {"Dockerfile": ONE, "compose.yaml": SWARM.replace("VALUE", "a")}),
    "one value for all pods": (REPLICA, pods("value: api")),
    "the host's name among workers": (HOST, {"Dockerfile": FOUR}),
    "the host's name among supervisord's processes": (
        "socket.gethostname()",
        {"supervisord.conf": PROGRAM.replace("VALUE", "1"), "nginx.conf": SOCKETS},
    ),
    "the number of the process among pods": ("os.getpid()", pods("value: x")),
    "a token that is set to one value": (FALLBACK, services("INSTANCE_ID: a", "INSTANCE_ID: a")),
}

OPEN = {
    "something else that the downward API says": (REPLICA, pods("valueFrom: {fieldRef: {fieldPath: spec.nodeName}}")),
    "a secret": (REPLICA, pods("valueFrom: {secretKeyRef: {name: s, key: k}}")),
    "set in one of two services": (INSTANCE, services("INSTANCE_ID: a", "A: b")),
}


def judged(files: Mapping[str, str], name: str, folder: Path) -> tuple[Verdict, Scope]:
    """The verdict on a deployment of the server, and the scope of its ids."""
    for path, text in {"app.py": SERVER.format(name=name), **files}.items():
        (folder / path).write_text(text)
    (deployment,) = audit([folder], load_settings([folder])).deployments
    return judge_deployment(deployment).verdict, deployment.stream.ids.scope


@pytest.mark.parametrize("case", TOLD_APART)
def test_a_name_of_its_own(case: str, tmp_path: Path) -> None:
    """No process has the id of another one: it refuses, and says so."""
    name, files = TOLD_APART[case]
    assert judged(files, name, tmp_path) == (Verdict.LOUD, Scope.UNIQUE_LOCAL)


@pytest.mark.parametrize("case", SHARED)
def test_a_name_that_several_processes_share(case: str, tmp_path: Path) -> None:
    """Look-alikes: another process has its own event of that id, and goes on with its own stream."""
    name, files = SHARED[case]
    assert judged(files, name, tmp_path) == (Verdict.CORRUPT, Scope.OVERLAPPING)


@pytest.mark.parametrize("case", OPEN)
def test_a_name_of_which_nobody_says_whose_it_is(case: str, tmp_path: Path) -> None:
    name, files = OPEN[case]
    assert judged(files, name, tmp_path) == (Verdict.UNKNOWN, Scope.UNKNOWN)
