"""Fires: the same rows in a file: each machine has a table, and a sequence, of its own."""

import time

from django.http import StreamingHttpResponse

from shop.models import Order


def rows(after):
    while True:
        for order in Order.objects.filter(pk__gt=after).order_by("pk")[:100]:
            after = order.pk
            yield f"id: {order.pk}\ndata: {order.text}\n\n"
        time.sleep(1)


def stream(request):
    after = int(request.headers.get("Last-Event-ID", 0))
    return StreamingHttpResponse(rows(after), content_type="text/event-stream")
