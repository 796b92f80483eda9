"""Fires: as ag_ui_runs, with a number in front of what the encoder makes, counted by the process."""

from ag_ui.core import RunAgentInput
from ag_ui.encoder import EventEncoder
from crew import crew
from fastapi import FastAPI
from fastapi.responses import StreamingResponse

app = FastAPI()
sent = 0


@app.post("/runs")
async def start(given: RunAgentInput):
    encoder = EventEncoder()

    async def events():
        global sent
        async for event in crew.run(given):
            sent += 1
            yield f"id: {sent}\n{encoder.encode(event)}"

    return StreamingResponse(events(), media_type=encoder.get_content_type())
