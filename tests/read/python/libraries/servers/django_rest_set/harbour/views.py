import time

from django.http import StreamingHttpResponse
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

calls = []


class Following:
    @action(detail=False, methods=["get"], url_path="calls")
    def follow(self, request):
        return StreamingHttpResponse(self.behind(self.place(request)), content_type="text/event-stream")

    def place(self, request):
        return int(request.headers.get("Last-Event-ID", "0"))

    def behind(self, position):
        while True:
            for number, ship in list(calls):
                if number > position:
                    position = number
                    yield f"id: {number}\ndata: {ship}\n\n"
            time.sleep(0.5)


class Ships(Following, ViewSet):
    def list(self, request):
        return Response(calls)

    def create(self, request):
        calls.append((len(calls) + 1, request.data["ship"]))
        return Response(status=201)
