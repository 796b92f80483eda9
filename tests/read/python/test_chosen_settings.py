"""Settings that an environment variable chooses, however the variable is written down before it is asked."""

from __future__ import annotations

import pytest

from sselint.facts import Scope, Where
from tests.read.python.programs import settings, stream_of

FILES = {
    "club/asgi.py": "from django.core.asgi import get_asgi_application\n\napplication = get_asgi_application()\n",
    "club/urls.py": """
    from django.urls import path
    from club import views

    urlpatterns = [path("notes", views.notes)]
    """,
    "club/models.py": """
    from django.db import models

    class Note(models.Model):
        text = models.TextField()
    """,
    "club/views.py": """
    from django.http import StreamingHttpResponse
    from club.models import Note

    def notes(request):
        behind = int(request.headers.get("Last-Event-ID", 0))

        def body():
            for note in Note.objects.filter(id__gt=behind).order_by("id"):
                yield f"id: {note.id}\\ndata: {note.text}\\n\\n"

        return StreamingHttpResponse(body(), content_type="text/event-stream")
    """,
}
SETTINGS = """
import os

ROOT_URLCONF = "club.urls"
LARGE = ("postgres", "postgresql")
kind = os.getenv("CLUB_DATABASE", "sqlite"){written}
if {test}:
    DATABASES = {{"default": {{"ENGINE": "django.db.backends.postgresql", "NAME": "club"}}}}
else:
    DATABASES = {{"default": {{"ENGINE": "django.db.backends.sqlite3", "NAME": "club.sqlite3"}}}}
"""
TESTS = ["kind == 'postgres'", "kind in {'postgres', 'postgresql'}", "kind in LARGE", "kind not in ['sqlite']"]


def files(written: str, test: str) -> dict[str, str]:
    """A project whose settings ask for a variable in a way."""
    return {**FILES, "club/settings.py": SETTINGS.format(written=written, test=test)}


@pytest.mark.parametrize("written", ["", ".lower()", ".strip().lower()"])
@pytest.mark.parametrize("test", TESTS)
def test_where_rows_are_is_open_until_the_deployment_says_so(written: str, test: str) -> None:
    """Settings below an `if` are settings; neither branch is taken for the only one."""
    project = files(written, test)
    stream = stream_of(project)
    assert (stream.ids.scope, stream.replay.where) == (Scope.UNKNOWN, Where.UNKNOWN), stream.replay.why
    assert stream.environment == {"CLUB_DATABASE"}
    told = stream_of(project, settings(CLUB_DATABASE="postgres"))
    assert (told.ids.scope, told.replay.where) == (Scope.SHARED, Where.SHARED), told.replay.why
    unset = stream_of(project, settings())
    assert (unset.ids.scope, unset.replay.where) == (Scope.SHARED, Where.POD_DISK), unset.replay.why


def test_what_a_method_makes_of_a_variable_is_what_is_asked() -> None:
    project = files(".strip().lower()", "kind == 'postgres'")
    assert stream_of(project, settings(CLUB_DATABASE=" Postgres ")).replay.where is Where.SHARED
    assert stream_of(files("", "kind == 'postgres'"), settings(CLUB_DATABASE="Postgres")).replay.where is Where.POD_DISK


def test_settings_that_are_the_same_either_way_are_settled() -> None:
    """The look-alike: the variable chooses a name, and both are the same kind of database."""
    both = SETTINGS.replace("sqlite3", "postgresql").format(written=".lower()", test="kind in LARGE")
    stream = stream_of({**FILES, "club/settings.py": both})
    assert (stream.ids.scope, stream.replay.where) == (Scope.SHARED, Where.SHARED), stream.replay.why


ASKED = "".join(f"FLAG_{n} = os.getenv('FLAG_{n}', '') == 'on'\nif FLAG_{n}:\n    extra = {n}\n" for n in range(20))


def test_a_branch_that_no_run_took_is_not_forgotten() -> None:
    """So many other variables are asked first that not every answer is tried."""
    project = files(".lower()", "kind in LARGE")
    project["club/settings.py"] = "import os\n" + ASKED + project["club/settings.py"]
    stream = stream_of(project)
    assert (stream.ids.scope, stream.replay.where) == (Scope.UNKNOWN, Where.UNKNOWN), stream.replay.why
    assert "CLUB_DATABASE" in stream.environment
    assert stream_of(project, settings(CLUB_DATABASE="postgres")).replay.where is Where.SHARED


def test_one_place_that_sets_them_is_enough() -> None:
    """The look-alike: as many variables, and the settings hang on none of them."""
    large = SETTINGS.format(written="", test="True").partition("else:")[0]
    stream = stream_of({**FILES, "club/settings.py": "import os\n" + ASKED + large})
    assert (stream.ids.scope, stream.replay.where) == (Scope.SHARED, Where.SHARED), stream.replay.why
