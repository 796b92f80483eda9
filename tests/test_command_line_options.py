"""What a script is told on its command line: how many workers it starts, and which store it makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from sselint.deployment import Deployment
from sselint.facts import Where
from sselint.pipeline import audit
from sselint.settings import load_settings

SERVER = """
import argparse
import asyncio
import itertools

import redis.asyncio as redis
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

parser = argparse.ArgumentParser(description="a feed")
network = parser.add_argument_group("network")
network.add_argument("-p", "--port", type=int, default=8000)
parser.add_argument("-w", "--number-of-workers", type=int, default=DEFAULT)
parser.add_argument("--durable", action="store_true")
parser.add_argument("files", nargs="*")
options = parser.parse_args()
app = FastAPI()


class Kept:
    def __init__(self):
        self.events, self.count = [], itertools.count(1)

    async def put(self, text):
        self.events.append((str(next(self.count)), text))

    async def after(self, last):
        return [(key, text) for key, text in self.events if int(key) > int(last)]


class Logged:
    def __init__(self):
        self.log = redis.from_url("redis://log")

    async def put(self, text):
        await self.log.xadd("feed", {"text": text})

    async def after(self, last):
        return [(key, fields["text"]) for key, fields in await self.log.xrange("feed", f"({last}")]


store = Logged() if options.durable else Kept()


@app.post("/publish")
async def publish(request: Request):
    await store.put((await request.body()).decode())


@app.get("/feed")
async def feed(request: Request):
    async def frames(last):
        while True:
            for key, text in await store.after(last):
                last = key
                yield f"id: {key}\\ndata: {text}\\n\\n"
            await asyncio.sleep(1)

    return StreamingResponse(frames(request.headers.get("last-event-id", "0")), media_type="text/event-stream")


def main():
    uvicorn.run("main:app", port=options.port, workers=options.number_of_workers)


if __name__ == "__main__":
    main()
"""


def deployed(tmp_path: Path, command: str, default: str = "1", **files: str) -> Deployment:
    """The one deployment of the server, whose Dockerfile ends with a command."""
    (tmp_path / "main.py").write_text(SERVER.replace("DEFAULT", default))
    (tmp_path / "Dockerfile").write_text(f"FROM python:3.12\nCOPY . .\n{command}\n")
    for name, text in files.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    (deployment,) = audit([tmp_path], load_settings([tmp_path])).deployments
    return deployment


def workers(deployment: Deployment) -> tuple[int, int | None]:
    """How many processes share the socket of one container."""
    pools = [hop.pool for hop in deployment.hops if hop.pool is not None and hop.pool.kind == "workers"]
    return (pools[0].processes.low, pools[0].processes.high) if pools else (1, 1)


@pytest.mark.parametrize(
    ("command", "default", "expected"),
    [
        ('CMD ["python", "main.py", "--number-of-workers", "4"]', "1", (4, 4)),
        ('CMD ["python", "main.py", "--number-of-workers=4"]', "1", (4, 4)),
        ("CMD python main.py --port 80 --number-of-workers 4", "1", (4, 4)),
        ('CMD ["python", "main.py"]', "1", (1, 1)),
        ('CMD ["python", "main.py", "--port", "4"]', "1", (1, 1)),
        ('CMD ["python", "main.py", "--", "--number-of-workers", "4"]', "1", (1, 1)),
        ('CMD ["python", "main.py"]', "3", (3, 3)),
        ('CMD ["python", "main.py"]', "None", (1, 1)),
    ],
)
def test_workers_that_an_option_says(command: str, default: str, expected: tuple[int, int], tmp_path: Path) -> None:
    """As many as the command says, else the default. Look-alikes: another option, and a word that is none."""
    assert workers(deployed(tmp_path, command, default)) == expected


@pytest.mark.parametrize(
    "command",
    [
        "CMD python main.py --number-of-workers $WORKERS",
        "CMD python main.py $ARGUMENTS",
        'CMD ["python", "main.py", "-w", "4"]',
    ],
    ids=["a variable that nothing sets", "any options", "a short flag"],
)
def test_workers_that_the_command_does_not_tell(command: str, tmp_path: Path) -> None:
    assert workers(deployed(tmp_path, command))[1] is None


def test_the_command_of_a_platform_replaces_that_of_the_image(tmp_path: Path) -> None:
    compose = "services:\n  feed:\n    build: .\n    command: python main.py --number-of-workers 2\n"
    assert workers(deployed(tmp_path, 'CMD ["python", "main.py"]', compose=compose)) == (2, 2)


@pytest.mark.parametrize(
    ("command", "where"),
    [
        ('CMD ["python", "main.py", "--durable"]', Where.SHARED),
        ('CMD ["python", "main.py"]', Where.MEMORY),
        ("CMD python main.py $ARGUMENTS", Where.UNKNOWN),
    ],
)
def test_a_store_that_an_option_chooses(command: str, where: Where, tmp_path: Path) -> None:
    assert deployed(tmp_path, command).stream.replay.where is where


START = {
    "click": """
import click
import uvicorn


@click.command()
@click.option("--port", default=8000, type=int)
@click.option("--workers", "-w", "count", default=1, help="how many")
def main(port, count):
    uvicorn.run("main:app", port=port, workers=count)


if __name__ == "__main__":
    main()
""",
    "a command of a click group": """
import click
import uvicorn


@click.group()
def commands():
    pass


@commands.command()
@click.option("--workers", type=int)
def serve(workers):
    uvicorn.run("main:app", workers=workers)


if __name__ == "__main__":
    commands()
""",
    "typer": """
from typing import Annotated

import typer
import uvicorn

commands = typer.Typer()


@commands.command()
def serve(port: int = 8000, workers: Annotated[int, typer.Option(help="how many")] = 1):
    uvicorn.run("main:app", port=port, workers=workers)


if __name__ == "__main__":
    commands()
""",
    "an option of typer as a default": """
import typer
import uvicorn

commands = typer.Typer()


@commands.command()
def serve(port: int = 8000, workers: int = typer.Option(1, "--workers", help="how many")):
    uvicorn.run("main:app", port=port, workers=workers)


if __name__ == "__main__":
    commands()
""",
}
"""Scripts whose `--workers` says how many processes there are, one where it is not given."""


@pytest.mark.parametrize("start", START)
@pytest.mark.parametrize(("argument", "expected"), [(', "--workers", "4"', (4, 4)), (', "--port", "4"', (1, 1))])
def test_parameters_that_are_options(start: str, argument: str, expected: tuple[int, int], tmp_path: Path) -> None:
    """Look-alike: the default holds where the command gives another option."""
    (tmp_path / "start.py").write_text(START[start])
    command = f'CMD ["python", "start.py"{argument}]'
    assert workers(deployed(tmp_path, command)) == expected
