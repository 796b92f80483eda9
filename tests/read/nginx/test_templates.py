"""nginx text with template tags in it: what a tag touches is unknown, the rest is read as it stands."""

from __future__ import annotations

import pytest

from sselint import unwrap
from sselint.facts import FileOutcome, Reading, Route
from sselint.read import nginx
from sselint.source import Tree
from tests.read.nginx.helpers import http

TWO = "server r1:80; server r2:80;"


def reading(text: str) -> Reading:
    """What is read of a template, on the way that every file takes."""
    sources = unwrap.sources("site.conf.j2", text, ".", lambda path, t: "nginx" if nginx.looks_like(path, t) else None)
    return nginx.read(list(sources), Tree("/root", ("site.conf.j2",), lambda _: text.encode()))


def route_of(text: str) -> Route:
    [route] = reading(text).routes
    return route


@pytest.mark.parametrize(
    "servers",
    [
        "server {{ host }}:80;",
        "server r1:{{ port }};",
        "{% for host in hosts %} server {{ host }}:80; {% endfor %}",
        "{% for host in hosts %}\n server r1:80;\n {% endfor %}",
        "{{- range .Hosts }} server {{ . }}:80; {{- end }}",
        "server r1:80;\n {% if spare %}\n server r2:80;\n {% endif %}",
        "server ${APP_HOST}:80;",
    ],
)
def test_templated_members_are_one_or_more(servers: str) -> None:
    route = route_of(http(f"ip_hash; {servers}"))
    assert (route.members.low, route.members.high, route.affinity.mechanism) == (1, None, "ip_hash")


def test_written_members_are_counted_although_others_are_templated() -> None:
    assert route_of(http("ip_hash; server r1:80; server r2:80; server {{ more }};")).members.low == 2


def test_a_tag_elsewhere_touches_nothing() -> None:
    route = route_of(http(f"ip_hash; {TWO}", "proxy_read_timeout {{ timeout }};", server="server_name {{ name }};"))
    assert (route.members.low, route.members.high, route.affinity.mechanism) == (2, 2, "ip_hash")
    assert not route.observations
    assert route.match.hosts == ()


@pytest.mark.parametrize(
    "method",
    ["{{ method }};", "{{ method }}", "\n{{ method }}\n", "{% if sticky %} ip_hash; {% endif %}", "hash {{ key }};"],
)
def test_a_templated_method_is_unknown(method: str) -> None:
    affinity = route_of(http(f"{method} {TWO}")).affinity
    assert affinity.strength.value == "unknown"
    assert "template" in affinity.why


@pytest.mark.parametrize(
    ("name", "used"),
    [
        ("{{ site }}-feed", "{{site}}-feed"),
        ("{{ site }}", "{{ site }}"),
        ("feed_{{ site | lower }}", "feed_{{ site|lower }}"),
    ],
)
def test_an_upstream_is_known_by_the_template_that_writes_its_name(name: str, used: str) -> None:
    text = http(f"ip_hash; {TWO}").replace("upstream be", f"upstream {name}").replace("//be", f"//{used}")
    assert route_of(text).affinity.mechanism == "ip_hash"


def test_another_template_may_be_another_name() -> None:
    """The look-alike: tags of one length."""
    text = http(f"ip_hash; {TWO}").replace("upstream be", "upstream {{ a }}-feed").replace("//be", "//{{ b }}-feed")
    assert route_of(text).affinity.strength.value == "unknown"


def test_where_to_forward_may_be_unknown() -> None:
    affinity = route_of(http(TWO).replace("//be", "//{{ backend }}")).affinity
    assert (affinity.strength.value, affinity.why) == ("unknown", "a template writes where to forward")


def test_a_template_may_write_the_upstream() -> None:
    """A macro that prints a whole upstream block."""
    server = "server {\n listen 80;\n location / { proxy_pass http://feed; }\n}\n"
    affinity = route_of("{{ upstream('feed', hosts, 'ip_hash;') }}\n" + server).affinity
    assert affinity.strength.value == "unknown"
    assert "feed may be an upstream" in affinity.why
    assert route_of("{{ head }}\n" + server.replace("feed", "feed:8000")).affinity.mechanism == "round robin"


def test_a_word_on_a_line_of_its_own_ends_nothing() -> None:
    """`server_name` with its names in a loop, one a line."""
    text = http(TWO, server="server_name\n{% for n in names -%}\n{{ n }}\n{% endfor -%}\n;")
    assert [f.outcome for f in reading(text).files] == [FileOutcome.ANALYSED]


def test_a_stray_semicolon_is_still_named() -> None:
    """The look-alike without a template."""
    assert [f.why for f in reading(http(TWO, server=";")).files] == ['unexpected ";"']


def test_a_missing_include_under_a_condition_may_never_be_named() -> None:
    include = "include extra.conf;"
    [certain] = reading(http(TWO, server=include)).files
    [under_if] = reading(http(TWO, server=f"\n{{% if extra %}}\n{include}\n{{% endif %}}\n")).files
    assert (certain.needed, under_if.needed) == (True, False)


def test_a_templated_include_is_shown_as_it_is_written() -> None:
    [report] = reading(http(TWO, server="include {{ folder }}/*.conf;")).files
    assert 'include "{{ folder }}/*.conf" is not in the tree' in report.why


@pytest.mark.parametrize(
    ("server", "name"),
    [
        ("server_name feed.test;", "server feed.test location / -> be"),
        ("server_name {{ domain }};", "server 80 location / -> be"),
        ("server_name {{ domain }} feed.test;", "server feed.test location / -> be"),
        ("server_name _;", "server 80 location / -> be"),
    ],
)
def test_a_route_is_called_by_what_is_written(server: str, name: str) -> None:
    """The mask of a tag is no name to show people."""
    assert route_of(http(server=server)).name == name
