"""StreamingHttpResponse of Django, as WSGI (`application`) and as ASGI (`app`)."""

from django.conf import settings
from django.core.asgi import get_asgi_application
from django.core.wsgi import get_wsgi_application
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.urls import path

settings.configure(ROOT_URLCONF=__name__, SECRET_KEY="x", ALLOWED_HOSTS=["*"])


def handler(request):
    return HttpResponse("foreign", status=409)


def frames(first):
    if first:
        yield first
    raise Http404


async def async_frames(first):
    if first:
        yield first
    raise Http404


def view(first):
    def plain(request):
        return StreamingHttpResponse(frames(first), content_type="text/event-stream")

    return plain


def async_view(first):
    async def plain(request):
        return StreamingHttpResponse(async_frames(first), content_type="text/event-stream")

    return plain


FRAME = "id: 1\ndata: a\n\n"
urlpatterns = [
    path("handler", handler),
    path("unsent", view(None)),
    path("sent", view(FRAME)),
    path("async/unsent", async_view(None)),
    path("async/sent", async_view(FRAME)),
]
application = get_wsgi_application()
app = get_asgi_application()
