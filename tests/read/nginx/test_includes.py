"""Which texts make up a configuration, and that nothing outside the tree is ever opened."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from sselint.facts import FileOutcome, FileReport, Route, Strength
from sselint.read import nginx
from sselint.read.nginx.includes import INCLUDE_DEPTH_BUDGET
from sselint.source import Source, Tree
from tests.read.nginx.helpers import http, only_route, reading
from tests.read.nginx.oracle import refusal

UPSTREAM = "upstream be { ip_hash; server r1:80; server r2:80; }"
SERVER = "server { listen 80; location / { proxy_pass http://be; } }"


def main(inside: str) -> str:
    return f"events {{}} http {{ {inside} }}"


def report(files: Mapping[str, str], path: str = "nginx.conf") -> FileReport:
    [found] = [f for f in reading(files).files if f.path == path]
    return found


def routes_of(files: Mapping[str, str]) -> tuple[Route, ...]:
    return reading(files).routes


# -- snippets without a root


@pytest.mark.parametrize(
    "text",
    [
        f"{UPSTREAM}\n{SERVER}",
        f"{SERVER}\n{UPSTREAM}",  # the upstream is named before it is written
        UPSTREAM + "\nlocation / { proxy_pass http://be; }",
        UPSTREAM + "\nproxy_pass http://be;",
        "http {" + UPSTREAM + SERVER + "}",
    ],
)
def test_a_snippet_is_read_without_the_blocks_around_it(text: str) -> None:
    route = only_route(text)
    assert (route.affinity.mechanism, route.members.low, route.pool) == ("ip_hash", 2, "be")


def test_a_snippet_without_a_pass_is_no_route() -> None:
    assert not routes_of({"a.conf": UPSTREAM + " server { listen 80; return 204; }"})


def test_fragments_of_one_folder_know_each_others_upstreams() -> None:
    """conf.d: nginx reads all of it into one http block."""
    [route] = routes_of({"conf.d/upstreams.conf": UPSTREAM, "conf.d/site.conf": SERVER})
    assert route.affinity.mechanism == "ip_hash"
    assert route.path == "conf.d/site.conf"


def test_fragments_of_two_folders_do_not_where_both_have_the_name() -> None:
    """The look-alike: two deployments side by side, each with an upstream of that name."""
    other = UPSTREAM.replace("ip_hash", "least_conn")
    found = routes_of({"a/up.conf": UPSTREAM, "a/site.conf": SERVER, "b/up.conf": other, "b/site.conf": SERVER})
    assert {r.path: r.affinity.mechanism for r in found} == {"a/site.conf": "ip_hash", "b/site.conf": "least_conn"}


def test_a_whole_configuration_takes_nothing_from_its_neighbours() -> None:
    """There `be` is a host; nginx never reads the other file."""
    whole = main(SERVER)
    for other in (UPSTREAM, main(UPSTREAM)):
        [route] = routes_of({"a/nginx.conf": whole, "a/other.conf": other, "b/other.conf": other})
        assert (route.affinity.mechanism, route.targets[0].host) == ("round robin", "be")


def test_a_host_with_a_port_is_no_upstream() -> None:
    """`upstream "be" may not have port 8000`, says nginx: written so, `be` is a host and the upstream another one."""
    server = SERVER.replace("//be", "//be:8000")
    assert "may not have port" in refusal(main(UPSTREAM + server))
    [route] = routes_of({"a/site.conf": server, "b/up.conf": UPSTREAM})
    assert (route.affinity.mechanism, route.targets[0].port) == ("round robin", 8000)


# -- includes


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("conf.d/up.conf", "conf.d/up.conf"),
        ("conf.d/*.conf", "conf.d/up.conf"),
        ("conf.d/u?.conf", "conf.d/up.conf"),
        ("conf.d/[tuv]p.conf", "conf.d/up.conf"),
        ("sites/*/up.conf", "sites/a/up.conf"),
        ('"conf.d/up.conf"', "conf.d/up.conf"),
        ("./conf.d/up.conf", "conf.d/up.conf"),
        ("conf.d/../conf.d/up.conf", "conf.d/up.conf"),
        ("/etc/nginx/conf.d/up.conf", "conf.d/up.conf"),
        ("/etc/nginx/conf.d/*.conf", "conf.d/up.conf"),
        ("conf.d/up.conf", "conf.d/up.conf.template"),
        ("conf.d/up.conf", "conf.d/up.conf.j2"),
    ],
)
def test_an_include_is_resolved_against_the_main_file(pattern: str, path: str) -> None:
    files = {"deploy/nginx.conf": f"events {{}} http {{ include {pattern}; {SERVER} }}", f"deploy/{path}": UPSTREAM}
    [route] = routes_of(files)
    assert route.affinity.mechanism == "ip_hash"
    assert report(files, "deploy/nginx.conf").outcome is FileOutcome.ANALYSED


def test_the_base_is_the_main_files_folder_even_in_an_included_file() -> None:
    files = {
        "nginx.conf": main("include a/first.conf;"),
        "a/first.conf": f"include a/second.conf; {SERVER}",
        "a/second.conf": UPSTREAM,
    }
    assert refusal(files) == ""
    [route] = routes_of(files)
    assert (route.affinity.mechanism, route.path) == ("ip_hash", "a/first.conf")


def test_a_route_shows_the_line_of_the_file_it_stands_in() -> None:
    files = {"nginx.conf": main("include site.conf;"), "site.conf": f"{UPSTREAM}\n\n{SERVER}"}
    [route] = routes_of(files)
    assert (route.path, route.line) == ("site.conf", 3)


def test_an_asterisk_does_not_cross_a_folder() -> None:
    files = {"nginx.conf": main("include conf.d/*.conf;" + SERVER), "conf.d/a/up.conf": UPSTREAM}
    [route] = routes_of(files)
    assert route.affinity.mechanism == "round robin"  # of the addresses of a host `be`


def test_members_can_be_included() -> None:
    files = {
        "nginx.conf": main("upstream be { include members/*.conf; } " + SERVER),
        "members/a.conf": "server r1:80;",
        "members/b.conf": "server r2:80; server r3:80 backup;",
    }
    assert refusal(files) == ""
    route = next(r for r in routes_of(files) if r.path == "nginx.conf")
    assert (route.members.low, route.members.high) == (3, 3)


# -- what is not there


def test_a_missing_include_is_named_with_its_place() -> None:
    files = {"nginx.conf": main(f"\n\ninclude up.conf; {UPSTREAM} {SERVER}")}
    found = report(files)
    assert (found.outcome, found.needed) == (FileOutcome.PARTLY, True)
    assert 'include "up.conf" is not in the tree' in found.why
    assert found.span is not None and found.span.line == 3


@pytest.mark.parametrize(
    "include",
    [
        "mime.types",  # comes with nginx
        "/etc/nginx/mime.types",
        "fastcgi_params",
        "/etc/letsencrypt/options-ssl-nginx.conf",
        "/etc/nginx/modules-enabled/*.conf",
        "conf.d/*.conf",  # a pattern may match nothing
    ],
)
def test_a_missing_include_that_does_not_matter_is_not(include: str) -> None:
    files = {"nginx.conf": main(f"include {include}; {UPSTREAM} {SERVER}")}
    assert not report(files).needed


def test_a_missing_include_without_a_route_is_not_needed() -> None:
    assert not report({"nginx.conf": "events {} http { include x.conf; server { listen 80; return 204; } }"}).needed


def test_members_in_a_missing_file_leave_the_route_unknown() -> None:
    route = only_route({"nginx.conf": main("upstream be { include members.conf; } " + SERVER)})
    assert route.affinity.strength is Strength.UNKNOWN
    assert "members.conf" in route.affinity.why
    assert route.members.high is None


def test_a_name_may_be_an_upstream_of_the_missing_file() -> None:
    route = only_route({"nginx.conf": main(f"include up.conf; {SERVER}")})
    assert route.affinity.strength is Strength.UNKNOWN
    assert route.affinity.why == "be may be an upstream: up.conf is not in the tree"


@pytest.mark.parametrize(
    ("include", "name"),
    [
        ("include up.conf;", "be:8000"),  # nginx lets no port stand behind an upstream's name
        ("include up.conf;", "be.internal"),
        ("include up.conf;", "10.0.0.1"),
        ("include up.conf;", "localhost"),
        ("include mime.types;", "be"),
        ("include conf.d/*.conf;", "be"),
        ("", "be"),
    ],
)
def test_a_host_is_a_host_all_the_same(include: str, name: str) -> None:
    route = only_route({"nginx.conf": main(f"{include} {SERVER.replace('//be', '//' + name)}")})
    assert (route.affinity.mechanism, route.targets[0].host) == ("round robin", name.partition(":")[0])


def test_a_missing_snippet_of_a_server_hides_no_upstream() -> None:
    route = only_route({"nginx.conf": main(SERVER.replace("listen 80;", "listen 80; include tls.conf;"))})
    assert route.affinity.mechanism == "round robin"


@pytest.mark.parametrize(
    "include",
    [
        "../secret.conf",
        "/../secret.conf",
        "../../etc/passwd",
        "conf.d/../../secret.conf",
        "/etc/passwd",
        "~/x.conf",
        "/*",
    ],
)
def test_nothing_outside_the_root_is_opened(include: str) -> None:
    opened: list[str] = []
    text = main(f"include {include}; {UPSTREAM} {SERVER}")

    def read(path: str) -> bytes:
        opened.append(path)
        return {"nginx.conf": text, "other.conf": "server { listen 81; }"}[path].encode()

    tree = Tree("/root", ("nginx.conf", "other.conf"), read)
    nginx.read([Source("nginx.conf", text, "nginx")], tree)
    assert set(opened) <= {"nginx.conf", "other.conf"}


# -- cycles and budgets


def test_a_file_that_includes_itself_is_named() -> None:
    files = {
        "nginx.conf": main("include a.conf;"),
        "a.conf": f"include b.conf; {UPSTREAM} {SERVER}",
        "b.conf": "include a.conf;",
    }
    found = reading(files)
    assert "includes itself" in " ".join(f.why for f in found.files)
    assert [r.affinity.mechanism for r in found.routes] == ["ip_hash"]


def test_the_same_file_twice_is_no_cycle() -> None:
    files = {
        "nginx.conf": main(UPSTREAM + "server { listen 80; location /a { include p; } location /b { include p; } }"),
        "p": "proxy_pass http://be;",
    }
    assert refusal(files) == ""
    assert [f.outcome for f in reading(files).files] == [FileOutcome.ANALYSED] * 2
    assert [r.name.split()[-3] for r in routes_of(files)] == ["/a", "/b"]


def test_depth_is_bounded() -> None:
    files = {f"{n}.conf": f"include {n + 1}.conf;" for n in range(1, INCLUDE_DEPTH_BUDGET + 5)}
    found = reading({"nginx.conf": main("include 1.conf;"), **files})
    assert f"deeper than {INCLUDE_DEPTH_BUDGET}" in " ".join(f.why for f in found.files)


def test_including_again_and_again_is_bounded() -> None:
    """Thirteen files that include the next one five times over: five to the thirteenth."""
    files = {f"{n}.conf": f"include {n + 1}.conf;" * 5 for n in range(13)}
    found = reading({"nginx.conf": main("include 0.conf;"), **files, "13.conf": SERVER})
    assert "more than" in " ".join(f.why for f in found.files)


# -- dumps and ConfigMaps


DUMP = f"""nginx: configuration file /etc/nginx/nginx.conf test is successful
# configuration file /etc/nginx/nginx.conf:
events {{}}
http {{
  include /etc/nginx/conf.d/*.conf;
}}

# configuration file /etc/nginx/conf.d/a.conf:
{UPSTREAM}
# configuration file /etc/nginx/conf.d/b.conf:
{SERVER}
"""


def test_a_dump_carries_its_files() -> None:
    assert nginx.looks_like("dump.txt", DUMP)
    [route] = routes_of({"dump.txt": DUMP})
    assert (route.affinity.mechanism, route.path, route.line) == ("ip_hash", "dump.txt", 11)


def test_a_dump_takes_nothing_from_the_tree() -> None:
    """The look-alike: a file of the tree with the name that the dump includes is another machine's."""
    [route] = [
        r
        for r in routes_of({"dump.txt": DUMP, "conf.d/c.conf": SERVER.replace("be;", "r9:80;")})
        if r.path == "dump.txt"
    ]
    assert route.pool == "be"


@pytest.mark.parametrize(
    "before", ["", "\n", '2026/12/02 00:00:00 [warn] 7#7: the "user" directive makes sense only\n']
)
def test_messages_may_stand_before_a_dump(before: str) -> None:
    text = before + DUMP
    assert nginx.looks_like("x", text)
    assert [r.affinity.mechanism for r in reading({"x": text}).routes] == ["ip_hash"]


def test_many_messages_are_read_once() -> None:
    lines = "nginx: [warn] x\n" * 5_000
    assert nginx.looks_like("x", lines + DUMP)
    assert not nginx.looks_like("x", lines + "and so on\n" + DUMP)


def test_a_comment_that_looks_like_a_dumps_marker_is_a_comment() -> None:
    text = main(f"{UPSTREAM}\n# configuration file /etc/nginx/site.conf:\n{SERVER}")
    [route] = reading(text).routes
    assert (route.affinity.mechanism, route.line) == ("ip_hash", 3)


def test_a_program_with_a_dump_in_it_is_none() -> None:
    assert not nginx.looks_like(
        "test.py", f'import x\n\nTEXT = """\n{DUMP}\n"""\nprint(TEXT)\nx.y(1)\n' + "x = 1\n" * 20
    )


def test_keys_of_a_config_map_include_each_other() -> None:
    text = main("include /etc/nginx/conf.d/*.conf; include up.conf; " + SERVER)
    sources = [
        Source("map.yaml", text, "nginx", wrapped_in="ConfigMap feed, key nginx.conf"),
        Source("map.yaml", UPSTREAM, "nginx", wrapped_in="ConfigMap feed, key up.conf"),
    ]
    found = nginx.read(sources, Tree("/root", ("map.yaml",), lambda _: b""))
    assert [r.affinity.mechanism for r in found.routes] == ["ip_hash"]


def test_every_text_here_that_claims_to_be_whole_is() -> None:
    for text in (http("ip_hash; server r1:80; server r2:80;"), f"events {{}} http {{ {UPSTREAM} {SERVER} }}"):
        assert refusal(text) == ""
