"""Fires: a list of the process behind a view of Django, whose addresses two tables put together."""

import asyncio

from django.http import HttpResponse, StreamingHttpResponse
from django.views import View

EVENTS = []


def publish(request):
    EVENTS.append({"id": len(EVENTS) + 1, "text": request.body.decode()})
    return HttpResponse(status=204)


class Feed(View):
    def get(self, request):
        last = int(request.META.get("HTTP_LAST_EVENT_ID", 0))
        return StreamingHttpResponse(frames(last), content_type="text/event-stream")


async def frames(last):
    while True:
        for event in EVENTS:
            if event["id"] > last:
                last = event["id"]
                yield f"id: {last}\ndata: {event['text']}\n\n"
        await asyncio.sleep(0.2)
