"""django-eventstream without the fan-out through Redis: events in a database that all processes share."""

import os
import sys

from django.conf import settings

STORED = {"EVENTSTREAM_STORAGE_CLASS": "django_eventstream.storage.DjangoModelStorage"}

settings.configure(
    ROOT_URLCONF=__name__,
    SECRET_KEY="x",
    ALLOWED_HOSTS=["*"],
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django_eventstream"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ["DATABASE"]}},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    **(STORED if "STORED" in os.environ else {}),
)

import django  # noqa: E402

django.setup()

import django_eventstream  # noqa: E402
from django.core.asgi import get_asgi_application  # noqa: E402
from django.http import HttpResponse  # noqa: E402
from django.urls import include, path  # noqa: E402


def send(request):
    django_eventstream.send_event("news", "message", request.GET["text"], json_encode=False)
    return HttpResponse("sent")


urlpatterns = [path("events/", include(django_eventstream.urls), {"channels": ["news"]}), path("send", send)]
app = get_asgi_application()

if __name__ == "__main__":
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
