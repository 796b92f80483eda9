"""Silent: the encoder of AG-UI frames each event of a run as data alone; the media type is the one that it says."""

from ag_ui.core import RunAgentInput
from ag_ui.encoder import EventEncoder
from crew import crew
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()


@app.post("/runs")
async def start(given: RunAgentInput, request: Request):
    encoder = EventEncoder(accept=request.headers.get("accept"))

    async def events():
        async for event in crew.run(given):
            yield encoder.encode(event)

    return StreamingResponse(events(), media_type=encoder.get_content_type())
