"""Reading nginx text in tests."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sselint.facts import Reading, Route
from sselint.read import nginx
from sselint.source import Source, Tree


def reading(
    files: Mapping[str, str] | str, *, sources: Collection[str] | None = None, client: Collection[str] = ()
) -> Reading:
    """What the reader finds in files (path -> text; a single text is nginx.conf). `sources` are the paths that are
    handed over, all by default; the others are only in the tree. `client` are variables that the client sets itself."""
    files = {"nginx.conf": files} if isinstance(files, str) else dict(files)
    tree = Tree("/root", tuple(sorted(files)), lambda path: files[path].encode())
    given = [Source(path, text, "nginx") for path, text in files.items() if sources is None or path in sources]
    return nginx.read_knowing(given, tree, client)


def only_route(files: Mapping[str, str] | str, *, client: Collection[str] = ()) -> Route:
    """The one route of a configuration."""
    routes = reading(files, client=client).routes
    assert len(routes) == 1, [r.name for r in routes]
    return routes[0]


def http(
    upstream: str = "server r1:80; server r2:80;", location: str = "", *, around: str = "", server: str = ""
) -> str:
    """A configuration with one upstream `be` and one location `/` that passes to it."""
    return f"""events {{}}
http {{
  {around}
  upstream be {{ {upstream} }}
  server {{
    listen 80;
    {server}
    location / {{ proxy_pass http://be; {location} }}
  }}
}}
"""
