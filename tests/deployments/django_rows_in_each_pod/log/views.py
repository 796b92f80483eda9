import time

from django.http import HttpResponse, StreamingHttpResponse
from django.views import View
from django.views.decorators.csrf import csrf_exempt

from log.models import Line


@csrf_exempt
def write(request):
    Line.objects.create(text=request.body.decode())
    return HttpResponse(status=204)


class LogStream(View):
    def get(self, request):
        last = request.headers.get("Last-Event-ID")
        return StreamingHttpResponse(self.lines(int(last) if last and last.isdigit() else 0), content_type="text/event-stream")

    def lines(self, last):
        while True:
            for line in Line.objects.filter(id__gt=last).order_by("id"):
                last = line.id
                yield "id: %d\ndata: %s\n\n" % (line.id, line.text)
            time.sleep(1)
