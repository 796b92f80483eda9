import asyncio
import bisect
import json
from dataclasses import asdict, dataclass

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

from .ids import snowflake

app = FastAPI()


@dataclass
class Beat:
    id: int
    text: str


beats: list[Beat] = []


@app.post("/beats")
def beat(text: str):
    item = Beat(snowflake(), text)
    beats.append(item)
    return asdict(item)


def encode(item: Beat) -> str:
    return f"id:{item.id}\nevent:beat\ndata:{json.dumps(asdict(item))}\n\n"


@app.get("/beats/stream")
async def stream(request: Request):
    header = request.headers.get("last-event-id", "")
    last = int(header) if header.isdecimal() else 0

    async def gen():
        at = bisect.bisect_right(beats, last, key=lambda b: b.id)
        while True:
            for item in beats[at:]:
                at += 1
                yield encode(item)
            await asyncio.sleep(0.1)

    return StreamingResponse(gen(), media_type="text/event-stream")
