"""Packages and their modules that import one another."""

from __future__ import annotations

import pytest

from tests.read.python.programs import stream_of

VIEWS = """
from flask import Response
BACK

said = []


@bp.route("/feed")
def feed():
    def events():
        for number, text in enumerate(said):
            yield f"id: {number}\\ndata: {text}\\n\\n"

    return Response(events(), mimetype="text/event-stream")


@bp.route("/say", methods=["POST"])
def say():
    said.append("something")
    return "said"
"""

APP = """
from flask import Flask


def make():
    from news import bp

    app = Flask(__name__)
    app.register_blueprint(bp, url_prefix="/news")
    return app
"""

PACKAGE = """
from flask import Blueprint

bp = Blueprint("news", __name__)

FORTH
"""


@pytest.mark.parametrize("back", ["from news import bp", "from . import bp"])
@pytest.mark.parametrize("forth", ["from .views import *", "from . import views", "from news.views import feed, say"])
def test_a_blueprint_whose_package_takes_its_views_at_the_end(back: str, forth: str) -> None:
    """Whichever of the two is read first: the blueprint is that of the package."""
    files = {
        "news/views.py": VIEWS.replace("BACK", back),
        "news/__init__.py": PACKAGE.replace("FORTH", forth),
        "app.py": APP,
    }
    stream = stream_of(files)
    assert (stream.url, [app.attribute for app in stream.apps]) == ("/news/feed", ["make"])


def test_all_names_of_a_module_come_with_what_it_makes_itself() -> None:
    """Look-alike: the module has a blueprint of its own, which takes the place of the package's."""
    own = 'from flask import Blueprint\n\nbp = Blueprint("views", __name__, url_prefix="/own")'
    files = {
        "news/views.py": VIEWS.replace("BACK", own),
        "news/__init__.py": PACKAGE.replace("FORTH", "from .views import *"),
        "app.py": APP.replace(', url_prefix="/news"', ""),
    }
    assert stream_of(files).url == "/own/feed"
