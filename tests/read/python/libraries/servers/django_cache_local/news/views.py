"""Fires: the same with the cache that Django has where nothing is said, in the memory of each process."""

import time

from django.core.cache import cache
from django.http import HttpResponse, StreamingHttpResponse
from django.views import View


def publish(request):
    number = cache.incr("number")
    kept = cache.get("events", [])
    cache.set("events", [*kept, {"number": number, "text": request.body.decode()}][-100:])
    return HttpResponse(status=204)


class Feed(View):
    def get(self, request):
        last = int(request.META.get("HTTP_LAST_EVENT_ID", 0))
        return StreamingHttpResponse(frames(last), content_type="text/event-stream")


def frames(last):
    while True:
        for event in cache.get("events", []):
            if event["number"] > last:
                last = event["number"]
                yield f"id: {last}\ndata: {event['text']}\n\n"
        time.sleep(1)
