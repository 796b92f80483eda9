"""Which requests reach which pass: servers, locations in nginx's order of precedence, named ones, URIs that change."""

from __future__ import annotations

import time

import pytest

from sselint.facts import Route
from sselint.read import nginx
from tests.read.nginx.helpers import http, only_route, reading
from tests.read.nginx.oracle import refusal

POOLS = "upstream a { server r1:80; } upstream b { server r2:80; } upstream c { server r3:80; }"


def routes(server: str, *, around: str = POOLS, name: str = "") -> tuple[Route, ...]:
    text = f"events {{}} http {{ {around} server {{ listen 80; {name} {server} }} }}"
    assert refusal(text) == ""
    return reading(text).routes


def test_a_named_location_takes_the_paths_that_lead_to_it() -> None:
    """try_files is how most applications are reached."""
    [route] = routes("location /app/ { try_files $uri @app; } location @app { proxy_pass http://a; }")
    assert route.match.paths == (("prefix", "/app/"),)


def test_a_named_location_that_only_a_failure_leads_to_is_no_route_of_its_own() -> None:
    found = routes("location / { proxy_pass http://a; error_page 502 = @b; } location @b { proxy_pass http://b; }")
    assert [r.pool for r in found] == ["a"]


def test_one_that_a_missing_file_leads_to_is() -> None:
    """The look-alike: 404 is what a static location answers for everything that the application serves."""
    found = routes("location / { root /srv; error_page 404 = @b; } location @b { proxy_pass http://b; }")
    assert [(r.pool, r.match.paths) for r in found] == [("b", (("prefix", "/"),))]


@pytest.mark.parametrize(
    ("location", "paths"),
    [
        ("location /api/ { proxy_pass http://a; }", (("prefix", "/api/"),)),
        ("location /api/ { proxy_pass http://a/; }", (("prefix", "/"),)),
        ("location /api/ { proxy_pass http://a/v1/; }", (("prefix", "/v1/"),)),
        ("location = /x { proxy_pass http://a/y; }", (("exact", "/y"),)),
        ("location ~ ^/x { proxy_pass http://a; }", (("regex", "^/x"),)),
        ("location /x/ { rewrite ^/x/(.*)$ /$1 break; proxy_pass http://a; }", ()),
    ],
)
def test_the_paths_are_those_that_the_server_behind_sees(location: str, paths: tuple[tuple[str, str], ...]) -> None:
    [route] = routes(location)
    assert route.match.paths == paths


@pytest.mark.parametrize(
    ("names", "hosts"),
    [
        ("", ()),
        ("server_name _;", ()),
        ('server_name "";', ()),
        ("server_name a.example b.example;", ("a.example", "b.example")),
        ("server_name *.example;", ("*.example",)),
        ("server_name .a.example;", (".a.example",)),
        ("server_name ~^(?<n>.+)$;", ("~^(?<n>.+)$",)),
    ],
)
def test_hosts_of_a_server(names: str, hosts: tuple[str, ...]) -> None:
    [route] = routes("location / { proxy_pass http://a; }", name=names)
    assert route.match.hosts == hosts


def test_a_server_with_the_exact_name_goes_before_one_with_a_pattern() -> None:
    text = (
        POOLS + " server { listen 80; server_name *.example; location / { proxy_pass http://a; } }"
        " server { listen 80; server_name x.example; location / { proxy_pass http://b; } }"
    )
    priority = {r.pool: r.match.priority for r in reading(text).routes}
    assert priority["b"] < priority["a"]


@pytest.mark.parametrize("name", ["uwsgi", "scgi", "fastcgi", "grpc"])
def test_other_protocols_forward_as_well(name: str) -> None:
    route = only_route(f"upstream u {{ ip_hash; server r1:80; server r2:80; }} location / {{ {name}_pass u; }}")
    assert (route.affinity.mechanism, route.members.low) == ("ip_hash", 2)


def test_limit_except_and_if_are_looked_into() -> None:
    found = routes(
        "location / { limit_except GET { deny all; } if ($request_method = POST) { proxy_pass http://b; }"
        " proxy_pass http://a; }"
    )
    assert {r.pool for r in found} == {"a", "b"}


def test_a_host_in_the_pass_is_a_target() -> None:
    [route] = routes("location / { proxy_pass http://127.0.0.1:8000/x; }", around="")
    assert [(t.host, t.port) for t in route.targets] == [("127.0.0.1", 8000)]
    assert (route.members.low, route.members.high) == (1, 1)


@pytest.mark.parametrize(
    ("written", "host", "port"),
    [
        ("http://app", "app", 80),
        ("https://app", "app", 443),
        ("http://app:8000/a:b", "app", 8000),
        ("http://unix:/run/app.sock:/x", "unix:/run/app.sock", None),
        ("http://[::1]:8000", "[::1]", 8000),
        ("HTTP://APP", "APP", 80),
    ],
)
def test_hosts_of_a_pass(written: str, host: str, port: int | None) -> None:
    [target] = only_route(f"location / {{ proxy_pass {written}; }}").targets
    assert (target.host, target.port) == (host, port)


def test_evidence_is_the_chain_of_blocks_and_inherited_settings_only() -> None:
    text = """events {}
http {
  proxy_next_upstream error;
  gzip off;
  upstream other { server r9:80; }
  upstream be {
    ip_hash;
    server r1:80;
    server r2:80;
  }
  server {
    listen 80;
    location /static/ { root /srv; }
    location / {
      proxy_pass http://be;
    }
  }
}
"""
    assert refusal(text) == ""
    lines = sorted({span.line for span in only_route(text).evidence})
    assert lines == [2, 3, 4, 6, 7, 8, 9, 11, 14, 15]


# -- what is nginx, and what is not


NGINX = {
    "main": http(),
    "a location": "location / {\n  proxy_pass http://app:8000;\n}\n",
    "an upstream": "upstream app {\n  server app:8000;\n}\n",
    "a line": "location / { proxy_pass http://app; }",
    "a template": "{% if a %}\nserver {\n  listen {{ port }};\n  location / { proxy_pass http://a; }\n}\n{% endif %}\n",
    "comments first": "# site\n\n#upstream x {\nserver {\n  listen 80;\n  location / { uwsgi_pass app:3031; }\n}\n",
    "windows": "server {\r\n  listen 80;\r\n  location / {\r\n    proxy_pass http://app;\r\n  }\r\n}\r\n",
}
OTHERS = {
    "kubernetes": "apiVersion: v1\nkind: ConfigMap\ndata:\n  nginx.conf: |\n    location / { proxy_pass http://a; }\n",
    "python": "import os\nCONF = '''\nserver {\n  listen 80;\n  location / {\n    proxy_pass http://a;\n  }\n}\n'''\n",
    "yaml, quoted key": '"edge conf": |\n  upstream a {\n    server b;\n  }\n  location / {\n    return 200;\n  }\n',
    "yaml, a list": "- |\n  upstream a {\n    server b;\n  }\n- |\n  location / {\n    proxy_pass http://a;\n  }\n",
    "readme": "# Setup\n\nPut it in:\n\n  location / {\n    proxy_pass http://a;\n  }\n\nReload.\nAnd so on\nand on\n",
    "haproxy": "frontend in\n  bind :80\n  default_backend be\nbackend be\n  server a 10.0.0.1:80 check\n",
    "shell": "#!/bin/sh\ncat > site <<X\nlocation / {\n  proxy_pass http://app;\n}\nX\n",
    "json": '{"location / {": "proxy_pass http://app;"}',
    "css": ".location { color: red; }\n.server { margin: 0; }\n",
    "javascript": "const server = {\n  listen: 80,\n};\nlocation.href = '/';\n",
    "nothing": "",
    "terraform": 'resource "x" "server" {\n  listen = 80\n  upstream = "a"\n}\n',
    "caddy": "example.com {\n  reverse_proxy app:8000\n}\n",
    "c++": "struct upstream {\n  int server;\n};\n",
}


@pytest.mark.parametrize("name", NGINX)
def test_is_nginx(name: str) -> None:
    assert nginx.looks_like("some/file", NGINX[name])


@pytest.mark.parametrize("name", OTHERS)
def test_is_not_nginx(name: str) -> None:
    assert not nginx.looks_like("nginx.conf", OTHERS[name])


@pytest.mark.parametrize(
    "text",
    [
        "server {\n" * 20_000,
        "server {\nlisten " * 20_000,
        "{ " * 100_000,
        "location a " * 50_000,
        "upstream a\n" * 50_000,
    ],
)
def test_the_look_is_cheap_whatever_it_looks_at(text: str) -> None:
    """Each of these would take minutes if every beginning were followed to the end of the file."""
    began = time.monotonic()
    nginx.looks_like("x", text)
    assert time.monotonic() - began < 5
