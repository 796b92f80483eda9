"""Rows of Django models as events, and what a project's settings name by a dotted path."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Scope, Where
from tests.read.python.programs import reading_of, settings, stream_of

MODELS = """
from django.db import models, transaction


class Tally(models.Model):
    room = models.CharField(max_length=40, unique=True)
    value = models.BigIntegerField(default=0)


class Entry(models.Model):
    id = models.AutoField(primary_key=True)
    room = models.CharField(max_length=40)
    number = models.BigIntegerField(default=0)
    text = models.TextField()

    def save(self, *args, **kwargs):
        if not self.number:
            with transaction.atomic():
                tally = Tally.objects.select_for_update().get(room=self.room)
                self.number = tally.value + 1
                super().save(*args, **kwargs)
                tally.value = self.number
                tally.save()
        else:
            super().save(*args, **kwargs)
"""

KEEPERS = """
from news.models import Entry


class Gone(Exception):
    pass


class Rows:
    def add(self, room, text):
        entry = Entry(room=room, text=text)
        entry.save()
        return entry.number

    def behind(self, room, number):
        try:
            Entry.objects.get(room=room, number=number)
        except Entry.DoesNotExist:
            raise Gone()
        return Entry.objects.filter(room=room, number__gt=number).order_by("number")


kept = []


class Held:
    def add(self, room, text):
        kept.append(Entry(room=room, text=text, number=len(kept) + 1))

    def behind(self, room, number):
        return [entry for entry in kept if entry.number > number]


class Nothing:
    def add(self, room, text):
        return None

    def behind(self, room, number):
        return []
"""

VIEWS = """
import sys
from importlib import import_module
from django.conf import settings
from django.http import HttpResponse, StreamingHttpResponse

if sys.version_info < (3,):
    number_of = ord
else:
    number_of = int


def keeper():
    if not hasattr(settings, "NEWS_KEEPER"):
        return None
    module, _, name = settings.NEWS_KEEPER.rpartition(".")
    return getattr(import_module(module), name)()


def say(request):
    keeper().add(request.POST["room"], request.POST["text"])
    return HttpResponse("said")


def feed(request):
    last = request.META.get("HTTP_LAST_EVENT_ID")
    kept = keeper()
    try:
        missed = kept.behind(request.GET["room"], number_of(last)) if last and kept else []
    except Gone:
        {gone}

    def body():
        for entry in missed:
            yield f"id: {entry.number}\\ndata: {entry.text}\\n\\n"

    return StreamingHttpResponse(body(), content_type="text/event-stream")
"""

URLS = """
from django.urls import path
from news import views

urlpatterns = [path("feed", views.feed), path("say", views.say)]
"""
GONE = 'return HttpResponse("gone", status=409)'
POSTGRES = 'DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql"}}\n'
BY_ADDRESS = 'import dj_database_url\nDATABASES = {"default": dj_database_url.config(default="sqlite:///news.db")}\n'


def _project(*lines: str, gone: str = GONE) -> dict[str, str]:
    views = VIEWS.replace("{gone}", gone).replace("import sys", "import sys\nfrom news.keepers import Gone", 1)
    return {
        "site/__init__.py": "",
        "site/settings.py": 'ROOT_URLCONF = "news.urls"\n' + "".join(lines),
        "site/asgi.py": "from django.core.asgi import get_asgi_application\n\napplication = get_asgi_application()\n",
        "news/__init__.py": "",
        "news/models.py": MODELS,
        "news/keepers.py": KEEPERS,
        "news/views.py": views,
        "news/urls.py": URLS,
    }


KEPT = 'NEWS_KEEPER = "news.keepers.Rows"\n'


@pytest.mark.parametrize(
    ("database", "where", "scope"),
    [
        (POSTGRES, Where.SHARED, Scope.SHARED),
        (POSTGRES.replace("postgresql", "sqlite3"), Where.POD_DISK, Scope.SHARED),
        ("DATABASES = load()\n", Where.UNKNOWN, Scope.UNKNOWN),
    ],
    ids=["a server", "a file", "out of sight"],
)
def test_rows_of_a_keeper_that_the_settings_name(database: str, where: Where, scope: Scope) -> None:
    """The number is a row's, counted by a row of the same database in `save()`; where that is the settings say."""
    stream = stream_of(_project(KEPT, database))
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.STORE, scope)
    assert stream.replay.where is where
    assert (stream.on_foreign.outcome, stream.on_foreign.status) == (Outcome.FAIL_CLOSED, 409)


@pytest.mark.parametrize(
    ("base", "where"),
    [("DATABASES = {}\n", Where.SHARED), (POSTGRES.replace("postgresql", "sqlite3"), Where.UNKNOWN)],
    ids=["none", "another"],
)
def test_base_settings_without_a_database_leave_it_to_those_that_build_on_them(base: str, where: Where) -> None:
    """Look-alike: the base settings have one of their own, and which ones are used nobody can say."""
    files = _project(KEPT, "from site.base import *\n", POSTGRES) | {"site/base.py": base}
    assert stream_of(files).replay.where is where


@pytest.mark.parametrize(("address", "where"), [(None, Where.POD_DISK), ("postgres://db/news", Where.SHARED)])
def test_a_database_by_its_address(address: str | None, where: Where) -> None:
    given = settings(**({"DATABASE_URL": address} if address else {}))
    assert stream_of(_project(KEPT, BY_ADDRESS), given).replay.where is where


@pytest.mark.parametrize("made", [KEPT.replace("Rows", "Nothing"), ""], ids=["another keeper", "none"])
def test_the_keeper_decides(made: str) -> None:
    """The look-alike: the same classes stand there, and the settings name another or none."""
    stream = stream_of(_project(made, POSTGRES))
    assert stream.replay.where is Where.NONE
    assert stream.on_foreign.outcome is not Outcome.FAIL_CLOSED


def test_a_row_that_is_missing_and_passed_over() -> None:
    stream = stream_of(_project(KEPT, POSTGRES, gone="missed = []"))
    assert stream.replay.where is Where.SHARED
    assert stream.on_foreign.outcome is Outcome.EMPTY


def test_settings_that_say_different_things_are_for_the_environment_to_choose() -> None:
    files = _project(KEPT, POSTGRES) | {"site/offline.py": KEPT.replace("Rows", "Held")}
    stream = stream_of(files)
    assert stream.replay.where is Where.UNKNOWN
    assert "NEWS_KEEPER" in stream.replay.why


def test_two_projects_with_the_same_names() -> None:
    """Each table of routes means the modules beside it."""
    one = {f"one/{path}": text for path, text in _project(KEPT, POSTGRES).items()}
    other = _project(KEPT, POSTGRES) | {"news/views.py": "def feed(request):\n    pass\n\n\nsay = feed\n"}
    files = one | {f"other/{path}": text for path, text in other.items()}
    assert {s.path for s in reading_of(files).streams} == {"one/news/views.py"}


REUSABLE = """
from django.http import StreamingHttpResponse
from news.models import Entry


def feed(request):
    entries = Entry.objects.order_by("pk")
    last = request.{carrier}
    if last:
        entries = entries.filter(pk__gt=last)
    frames = (f"id: {{e.pk}}\\ndata: {{e.text}}\\n\\n" for e in entries)
    return StreamingHttpResponse(frames, content_type="text/event-stream")
"""


@pytest.mark.parametrize(
    ("carrier", "read"),
    [
        ('META.get("HTTP_LAST_EVENT_ID")', Outcome.COMPARED),
        ('GET.get("lastEventId")', Outcome.COMPARED),
        ('META.get("HTTP_REFERER")', Outcome.NOT_READ),
    ],
)
def test_a_view_that_no_project_of_the_tree_routes(carrier: str, read: Outcome) -> None:
    """An application to be used in others reads its cursor all the same. Look-alike: another header."""
    (stream,) = reading_of({"news/models.py": MODELS, "news/views.py": REUSABLE.format(carrier=carrier)}).streams
    assert stream.on_foreign.outcome is read
