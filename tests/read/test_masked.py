"""Units, programs and Dockerfiles that a template prints: what it prints is of unknown content, and nothing else is."""

from __future__ import annotations

import pytest

from sselint.facts import Pool
from sselint.read import masked
from tests.read.texts import numbers, only_pool, sources_of, workers


def settings(pool: Pool) -> dict[str, str | None]:
    return {s.name: s.value for s in pool.environment}


SYSTEMD = """\
[Unit]
Description={{ name }}
{% if database %}
After={{ database }}.service
{% endif %}
[Service]
Environment=MODE={{ mode }} LEVEL=info
Environment="WEB_CONCURRENCY={{ n }}"
ExecStart=/usr/bin/gunicorn -b {{ bind }} app:app
"""
SUPERVISOR = """\
[program:{{ site }}-web]
command={{ venv }}/bin/gunicorn -w {{ workers }} app:app
environment=MODE="{{ mode }}",LEVEL="info"
numprocs={{ count }}
"""
DOCKER = """\
{# base image #}
FROM {{ image }}
ENV MODE={{ mode }} LEVEL=info
ENV WEB_CONCURRENCY={{ n }}
CMD uvicorn app:app --port {{ port }}
"""


def test_a_unit() -> None:
    pool = only_pool({"feed.service.j2": SYSTEMD})
    assert (pool.starts, workers(pool), pool.line) == ("app:app", (1, None), 9)
    assert settings(pool) == {"MODE": None, "LEVEL": "info", "WEB_CONCURRENCY": None}


def test_a_program() -> None:
    pool = only_pool({"supervisor.conf": SUPERVISOR})
    assert (pool.name, pool.starts) == ("supervisord program {{ site }}-web", "app:app")
    assert (numbers(pool.processes), workers(pool)) == ((1, None), (1, None))
    assert settings(pool) == {"MODE": None, "LEVEL": "info"}


def test_a_dockerfile() -> None:
    pool = only_pool({"Dockerfile.j2": DOCKER})
    assert (pool.starts, workers(pool), pool.line) == ("app:app", (1, None), 5)
    assert settings(pool) == {"MODE": None, "LEVEL": "info", "WEB_CONCURRENCY": None}


def test_a_procfile() -> None:
    pool = only_pool({"Procfile": "web: uvicorn app:app --workers {{ n }}\n"})
    assert (pool.starts, workers(pool)) == ("app:app", (1, None))


@pytest.mark.parametrize(
    ("path", "text"),
    [("a.service", SYSTEMD), ("supervisor.conf", SUPERVISOR), ("Dockerfile", DOCKER)],
)
def test_lines_stay_lines(path: str, text: str) -> None:
    """Also where a tag runs over several of them."""
    text = text.replace("{{ mode }}", "{{\n  mode\n}}")
    (source,) = sources_of({path: text})
    assert len(masked.lines(source)) == text.count("\n") + 1
    assert "$(template)" in "".join(masked.lines(source))


def test_without_tags_nothing_changes() -> None:
    text = "[Service]\nExecStart=uvicorn app:app ____\n"
    (source,) = sources_of({"a.service": text})
    assert masked.lines(source) == text.split("\n")
    assert masked.known("____") == "____"
