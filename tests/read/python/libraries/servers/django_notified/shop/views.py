"""Silent: rows behind the cursor, then what PostgreSQL tells all that listen, whichever client it was told with."""

import json

import psycopg
from django.db import connection
from django.http import HttpResponse, StreamingHttpResponse

from shop.models import Order


def framed(number, text):
    return f"id: {number}\ndata: {text}\n\n"


async def told(after):
    listener = await psycopg.AsyncConnection.connect("dbname=shop", autocommit=True)
    if after:
        async for row in Order.objects.filter(pk__gt=after):
            yield framed(row.pk, row.text)
    await listener.execute("LISTEN orders")
    async for notice in listener.notifies():
        said = json.loads(notice.payload)
        yield framed(said.get("number"), said.get("text"))


async def stream(request):
    return StreamingHttpResponse(told(request.headers.get("Last-Event-ID")), content_type="text/event-stream")


def order(request):
    made = Order.objects.create(text=request.POST["text"])
    said = json.dumps({"number": made.pk, "text": made.text})
    with connection.cursor() as cursor:
        cursor.execute(f"NOTIFY orders, '{said}'")
    return HttpResponse("ordered")
