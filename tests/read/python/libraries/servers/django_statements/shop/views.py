"""Fires: each process numbers the rows that it writes, in a statement of its own."""

import itertools
import time

from django.db import connection, connections
from django.http import HttpResponse
from django.http.response import StreamingHttpResponse

numbers = itertools.count(1)


def rows(after):
    while True:
        with connections["default"].cursor() as cursor:
            cursor.execute("SELECT number, text FROM orders WHERE number > %s ORDER BY number", [after])
            for number, text in cursor.fetchall():
                after = number
                yield f"id: {number}\ndata: {text}\n\n"
        time.sleep(1)


def stream(request):
    return StreamingHttpResponse(rows(int(request.headers.get("Last-Event-ID", 0))), content_type="text/event-stream")


def order(request):
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO orders (number, text) VALUES (%s, %s)", [next(numbers), request.POST["text"]])
    return HttpResponse("ordered")
