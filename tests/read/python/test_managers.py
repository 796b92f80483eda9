"""Rows that a model's manager is asked for: its own class, a query set's, or one that is made of the other."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Scope, Where
from tests.read.python.programs import stream_of

FILES = {
    "park/asgi.py": "from django.core.asgi import get_asgi_application\n\napplication = get_asgi_application()\n",
    "park/urls.py": """
    from django.urls import path
    from park import views

    urlpatterns = [path("signs", views.signs)]
    """,
    "park/settings.py": """
    ROOT_URLCONF = "park.urls"
    DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "park"}}
    """,
    "park/views.py": """
    from django.http import StreamingHttpResponse
    from park.models import Sign

    def signs(request):
        seen = int(request.headers.get("Last-Event-ID", 0))

        def body():
            for sign in Sign.objects.put_up_behind(seen):
                yield f"id: {sign.id}\\ndata: {sign.text}\\n\\n"

        return StreamingHttpResponse(body(), content_type="text/event-stream")
    """,
}
MODELS = """
from django.db import models

class Signs(models.{base}):
    def put_up_behind(self, number):
        return {what}

class Sign(models.Model):
    text = models.TextField()
    objects = {manager}
"""
ROWS = 'self.filter(id__gt=number).order_by("id")'


@pytest.mark.parametrize(
    "base, manager",
    [
        ("QuerySet", "Signs.as_manager()"),
        ("QuerySet", "models.Manager.from_queryset(Signs)()"),
        ("Manager", "Signs()"),
    ],
)
def test_the_rows_that_a_manager_is_asked_for(base: str, manager: str) -> None:
    stream = stream_of({**FILES, "park/models.py": MODELS.format(base=base, manager=manager, what=ROWS)})
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.STORE, Scope.SHARED), stream.ids.why
    assert stream.replay.where is Where.SHARED, stream.replay.why
    assert stream.on_foreign.outcome is Outcome.COMPARED, stream.on_foreign.why


def test_a_manager_that_asks_for_no_rows() -> None:
    """The look-alike: the method is found, and gives nothing."""
    stream = stream_of(
        {**FILES, "park/models.py": MODELS.format(base="QuerySet", manager="Signs.as_manager()", what="[]")}
    )
    assert stream.replay.where is Where.NONE, stream.replay.why
