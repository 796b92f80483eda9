import json
import time

from django.http import HttpResponseBadRequest, JsonResponse, StreamingHttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST

from .models import OrderEvent


@csrf_exempt
@require_POST
def place(request):
    event = OrderEvent.objects.create(kind="placed", payload=json.loads(request.body))
    return JsonResponse({"id": event.pk}, status=201)


def frames(after):
    idle = 0
    while idle < 120:
        rows = OrderEvent.objects.filter(pk__gt=after).order_by("pk")[:100]
        idle = 0 if rows else idle + 1
        for row in rows:
            after = row.pk
            yield f"id: {row.pk}\nevent: {row.kind}\ndata: {json.dumps(row.payload)}\n\n"
        time.sleep(1)


@require_GET
def stream(request):
    raw = request.META.get("HTTP_LAST_EVENT_ID", "0")
    try:
        after = int(raw)
    except ValueError:
        return HttpResponseBadRequest("bad cursor")
    response = StreamingHttpResponse(frames(after), content_type="text/event-stream")
    response["X-Accel-Buffering"] = "no"
    return response
