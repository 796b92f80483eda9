"""Repositories without a resumable stream get one line and exit 0: nobody is bothered who has nothing to mend."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent

FASTAPI = {
    "requirements.txt": "fastapi\nuvicorn\n",
    "Procfile": "web: uvicorn shop.main:app --workers 4\n",
    "shop/__init__.py": "",
    "shop/main.py": """\
import asyncio
import json

from fastapi import FastAPI
from fastapi.responses import StreamingResponse

app = FastAPI()
prices = {"apple": 1}


@app.get("/prices")
async def all_prices():
    return prices


@app.get("/prices/stream")
async def price_stream():
    async def body():
        while True:
            yield f"data: {json.dumps(prices)}\\n\\n"
            await asyncio.sleep(1)

    return StreamingResponse(body(), media_type="text/event-stream")
""",
}
NGINX = {
    "nginx.conf": """\
events {}
http {
  upstream app { server app-1:8000; server app-2:8000; }
  server { listen 80; location / { proxy_pass http://app; } }
}
""",
}
REST = {
    "requirements.txt": "flask\n",
    "app.py": "from flask import Flask\n\napp = Flask(__name__)\n\n\n@app.get('/')\ndef index():\n    return 'hello'\n",
}


def check(root: Path, files: dict[str, str]) -> tuple[int, str, str]:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "sselint", "check"],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "COLUMNS": "80"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return run.returncode, run.stdout, run.stderr


LOOSE = "1 route without a server in this tree (nginx.conf:4); `--facts` brings a server"


@pytest.mark.parametrize(
    "files, line",
    [
        (FASTAPI, "no resumable stream here: price_stream (shop/main.py:17) sends no ids; policy 3 (no-resumption)"),
        (NGINX, f"no event stream here; {LOOSE}"),
        (FASTAPI | NGINX, "no resumable stream here: price_stream (shop/main.py:17) sends no ids; policy 3"),
        (REST, "no event stream here"),
        ({"README.md": "# nothing\n"}, "no event stream here"),
        ({}, "no event stream here"),
    ],
    ids=["fastapi", "nginx", "fastapi and nginx", "rest", "readme", "empty"],
)
def test_one_line_and_exit_0(files: dict[str, str], line: str, tmp_path: Path) -> None:
    code, out, err = check(tmp_path, files)
    assert (code, err, out.count("\n")) == (0, "", 1)
    assert out.startswith(f"ok  {line}")


def test_a_server_with_something_to_resume_gets_more_than_a_line(tmp_path: Path) -> None:
    """The one line is earned: ids from a counter of each worker are told in full."""
    server = (REPOSITORY / "tests" / "cases" / "29_haproxy_cookie_redispatch" / "app.py").read_text(encoding="utf-8")
    code, out, _ = check(tmp_path, {"app.py": server, "Procfile": "web: uvicorn app:app --workers 4\n"})
    assert (code, out.startswith("error[SSE001] ")) == (1, True)
