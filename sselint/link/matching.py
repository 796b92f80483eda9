"""Which routes take the requests of a stream: its path against the matches of the routes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sselint.facts import Route, Stream


def serves(route: Route, stream: Stream) -> bool:
    """Whether the route can take requests for the stream's path. A path that is not known can be any."""
    if not route.match.paths or stream.url is None:
        return True
    return any(_matches(kind, value, stream.url) for kind, value in route.match.paths)


def names_path_of(route: Route, stream: Stream) -> bool:
    """Whether the route takes the stream's path by name, and not as a part of everything there is."""
    paths = [(kind, value) for kind, value in route.match.paths if kind != "regex" and value not in ("", "/")]
    return stream.url is not None and any(_matches(kind, value, stream.url) for kind, value in paths)


def _matches(kind: str, value: str, url: str) -> bool:
    fixed = re.split(r"[{<:*]", url)[0]
    parametrised = fixed != url
    if kind == "exact":
        return value == url or (parametrised and value.startswith(fixed))
    if kind == "prefix":
        return url.startswith(value) or (parametrised and value.startswith(fixed))
    try:
        return parametrised or re.search(value, url) is not None
    except re.error:
        return True


def most_specific(routes: Sequence[Route]) -> list[Route]:
    """Of the matching routes of one listener, those that win. Routes that are taken on a header's condition stay: they
    and the unconditional one behind them are one choice."""
    best: dict[tuple[str, str, tuple[str, ...]], int] = {}
    for route in routes:
        if not route.match.headers:
            listener = _listener(route)
            best[listener] = min(best.get(listener, route.match.priority), route.match.priority)
    return [r for r in routes if r.match.priority <= best.get(_listener(r), r.match.priority)]


def _listener(route: Route) -> tuple[str, str, tuple[str, ...]]:
    return route.path, route.format, route.match.hosts
