import time
import uuid

from django.http import StreamingHttpResponse
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

entered = {}


class Ships(ViewSet):
    def enter(self, request):
        entered[uuid.uuid4().hex] = request.data["ship"]
        return Response(status=201)

    def follow(self, request):
        last = request.headers.get("Last-Event-ID")
        if last is not None and last not in entered:
            return Response({"error": "not one of ours"}, status=409)
        return StreamingHttpResponse(self.behind(last), content_type="text/event-stream")

    def behind(self, last):
        keys = list(entered)
        first = keys.index(last) + 1 if last else 0
        for key in keys[first:]:
            yield f"id: {key}\ndata: {entered[key]}\n\n"
        while True:
            time.sleep(0.5)
            for key in list(entered):
                if key not in keys:
                    keys.append(key)
                    yield f"id: {key}\ndata: {entered[key]}\n\n"
