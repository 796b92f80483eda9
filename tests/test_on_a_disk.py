"""Ids that a file gives out, or keeps once: the same for all that open it, and its volume says who does."""

from __future__ import annotations

from pathlib import Path

import pytest

from sselint.facts import Truth
from sselint.findings import Judgement, Verdict
from sselint.pipeline import audit
from sselint.policies import judge_deployment
from sselint.settings import load_settings

HEAD = """
import sqlite3
from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse

app = FastAPI()
"""
ROWS = """
db = sqlite3.connect("/data/events.db", check_same_thread=False)
db.execute("CREATE TABLE IF NOT EXISTS events (COLUMNS)")
counts = {}


@app.post("/{run}")
def publish(run: str, text: str):
    counts[run] = counts.get(run, 0) + 1
    db.execute("INSERT")
    db.commit()


@app.get("/{run}")
def follow(run: str, seen: int = Header(0, alias="Last-Event-ID")):
    def body():
        for seq, text in db.execute("SELECT seq, text FROM events WHERE run = ? AND seq > ? ORDER BY seq", (run, seen)):
            yield f"id: {seq}\\ndata: {text}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""
LINES = """
@app.post("/{run}")
def publish(run: str, text: str):
    with open("/data/events.log", "a") as log:
        log.write(text)


@app.get("/{run}")
def follow(run: str, seen: int = Header(-1, alias="Last-Event-ID")):
    def body():
        with open("/data/events.log") as log:
            for number, line in enumerate(log):
                if number > seen:
                    yield f"id: {number}\\ndata: {line.strip()}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""
SERVERS = {
    "numbered by the table": ROWS.replace(
        "TABLE", "seq INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT, text TEXT"
    ).replace('"INSERT"', '"INSERT INTO events (run, text) VALUES (?, ?)", (run, text)'),
    "counted, and kept once": ROWS.replace(
        "COLUMNS", "run TEXT, seq INTEGER, text TEXT, PRIMARY KEY (run, seq)"
    ).replace('"INSERT"', '"INSERT INTO events (run, seq, text) VALUES (?, ?, ?)", (run, counts[run], text)'),
    "the place of a line": LINES,
}
COMPOSE = """
services:
  app:
    build: .
    deploy: {replicas: 3}
    VOLUMES
  proxy:
    image: nginx
    volumes: ["./nginx.conf:/etc/nginx/nginx.conf:ro"]
    ports: ["80:80"]
"""
PROXY = """
events {}
http {
  upstream app { server app:8000; }
  server { listen 80; location / { proxy_pass http://app; proxy_buffering off; } }
}
"""


def _judged(folder: Path, server: str, volumes: str) -> Judgement:
    (folder / "app.py").write_text(HEAD + server)
    (folder / "Dockerfile").write_text(
        'FROM python:3.12\nCOPY app.py .\nCMD ["uvicorn", "app:app", "--host", "0.0.0.0"]\n'
    )
    (folder / "compose.yaml").write_text(COMPOSE.replace("VOLUMES", volumes))
    (folder / "nginx.conf").write_text(PROXY)
    (deployment,) = audit([folder], load_settings([folder])).deployments
    return judge_deployment(deployment)


@pytest.mark.parametrize("server", SERVERS.values(), ids=SERVERS)
def test_each_replica_with_a_disk_of_its_own_gives_out_the_same_ids(server: str, tmp_path: Path) -> None:
    judged = _judged(tmp_path, server, "")
    assert judged.verdict is Verdict.CORRUPT
    assert {c.name: c.value for c in judged.conditions}["per_process_ids"] is Truth.YES


@pytest.mark.parametrize("server", SERVERS.values(), ids=SERVERS)
def test_replicas_that_share_the_volume_share_the_ids(server: str, tmp_path: Path) -> None:
    """Look-alike: one machine, one folder of it for all."""
    judged = _judged(tmp_path, server, 'volumes: ["./data:/data"]')
    assert judged.verdict is Verdict.SHARED_REPLAY
