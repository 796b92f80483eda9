"""Sections: who inherits from which `defaults`, and which files are given to one process."""

from __future__ import annotations

import pytest

from tests.read.haproxy.configs import DEFAULTS, TIMEOUTS, read_files, routes, row, servers, whole

INSERT = "cookie SRV insert indirect nocache"
BACKEND = f"backend be\n{INSERT}\n{servers()}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{DEFAULTS}option persist\n{BACKEND}", "cookie_persist"),
        (f"{DEFAULTS}option persist\n{BACKEND}no option persist\n", "cookie_check"),
        # the last one above a proxy counts
        (f"{DEFAULTS}option persist\n{DEFAULTS}{BACKEND}", "cookie_check"),
        (f"{DEFAULTS}{DEFAULTS}option persist\n{BACKEND}", "cookie_persist"),
        (f"{DEFAULTS}{BACKEND}{DEFAULTS}option persist\n", "cookie_check"),
        # a name makes it reachable from anywhere below
        (
            f"defaults strict\nmode http\n{TIMEOUTS}\noption persist\n{DEFAULTS}"
            + BACKEND.replace("backend be", "backend be from strict"),
            "cookie_persist",
        ),
        (f"defaults strict\nmode http\n{TIMEOUTS}\noption persist\n{DEFAULTS}{BACKEND}", "cookie_check"),
        # without `from` the last one above counts, named or not
        (f"defaults strict\nmode http\n{TIMEOUTS}\noption persist\n{BACKEND}", "cookie_persist"),
        # a defaults section inherits from the one that it names, and from nothing otherwise
        (
            f"defaults base\nmode http\n{TIMEOUTS}\noption persist\ndefaults more from base\nretries 5\n{BACKEND}",
            "cookie_persist",
        ),
        (
            f"defaults base\nmode http\n{TIMEOUTS}\noption persist\n"
            f"defaults more from base\nno option persist\n{BACKEND}",
            "cookie_check",
        ),
        (f"defaults base\noption persist\ndefaults more\nmode http\n{TIMEOUTS}\n{BACKEND}", "cookie_check"),
        # retries, cookie and balance are inherited too
        (f"{DEFAULTS}{INSERT}\nbackend be\n{servers()}", "cookie_check"),
        (f"{DEFAULTS}{INSERT}\nbackend be\ncookie OTHER insert postonly\n{servers()}", "cookie_postonly"),
        (f"{DEFAULTS}balance source\nbackend be\n{servers('check')}", "hash_modulo_check"),
        (f"{DEFAULTS}balance source\nbackend be\nbalance roundrobin\n{servers('check')}", "none_check"),
        (f"{DEFAULTS}option redispatch\nretries 0\nbackend be\n{INSERT}\n{servers('cookie {n}')}", "cookie_no_check"),
        (f"{DEFAULTS}option redispatch\nretries 0\nbackend be\n{INSERT}\nretries 2\n{servers()}", "cookie_redispatch"),
        # no mode anywhere is mode tcp, and a cookie does nothing there
        (f"defaults\n{TIMEOUTS}\n{BACKEND}", "none_check"),
    ],
)
def test_defaults(text: str, expected: str) -> None:
    assert row(whole(text)) == expected


def test_a_piece_without_defaults_is_taken_for_http() -> None:
    assert row(BACKEND) == "cookie_check"


def test_listen_is_frontend_and_backend_at_once() -> None:
    text = whole(f"{DEFAULTS}listen app\nbind 127.0.0.1:8080\n{INSERT}\n{servers()}")
    (route,) = routes(text).values()
    assert (route.name, route.pool, route.addresses) == ("listen app", "app", frozenset({"127.0.0.1:8080"}))
    assert route.affinity.row == "haproxy/cookie_check"


def test_listen_without_servers_is_a_frontend() -> None:
    text = whole(f"{DEFAULTS}listen app\nbind :8080\ndefault_backend be\n{BACKEND}")
    assert list(routes(text)) == ["listen app -> backend be"]


def test_the_servers_of_a_listen_get_what_no_rule_takes() -> None:
    head = f"{DEFAULTS}listen app\nbind :8080\n{servers('check')}"
    text = whole(f"{head}use_backend be if {{ path_beg /events }}\n{BACKEND}")
    assert list(routes(text)) == ["listen app -> backend be", "listen app"]
    # a default backend takes it all
    assert list(routes(whole(f"{head}default_backend be\n{BACKEND}"))) == ["listen app -> backend be"]


def test_listen_for_statistics_is_no_route() -> None:
    assert not routes(whole(f"{DEFAULTS}listen stats\nbind :9000\nstats enable\n"))


MAIN = f"global\nmaxconn 100\n{DEFAULTS}option persist\nfrontend fe\nbind :80\ndefault_backend be\n"


@pytest.mark.parametrize(
    "folder", ["etc/haproxy/conf.d/be.cfg", "etc/haproxy/be.cfg", "etc/haproxy/zz.d/be.cfg", "etc/haproxy/a.d/be.cfg"]
)
def test_files_of_one_process(folder: str) -> None:
    """The defaults of the main file hold, wherever its name sorts."""
    (route,) = read_files({"etc/haproxy/haproxy.cfg": MAIN, folder: BACKEND}).routes
    assert (route.name, route.affinity.row) == ("frontend fe -> backend be", "haproxy/cookie_persist")
    assert {span.path for span in route.evidence} == {"etc/haproxy/haproxy.cfg", folder}


def test_frontends_and_backends_in_folders_of_their_own() -> None:
    files = {
        "haproxy/haproxy.cfg": f"global\nmaxconn 100\n{DEFAULTS}",
        "haproxy/frontends/fe.cfg": "frontend fe\nbind :80\ndefault_backend be\n",
        "haproxy/backends/be.cfg": BACKEND,
    }
    (route,) = read_files(files).routes
    assert (route.name, route.affinity.row) == ("frontend fe -> backend be", "haproxy/cookie_check")


@pytest.mark.parametrize(
    ("other", "text"),
    [
        ("elsewhere/be.cfg", BACKEND),
        ("etc/haproxy/a/b/be.cfg", BACKEND),
        # two whole configurations are two processes
        ("etc/haproxy/second.cfg", f"global\nmaxconn 1\n{DEFAULTS}{BACKEND}"),
    ],
)
def test_files_of_two_processes(other: str, text: str) -> None:
    found = read_files({"etc/haproxy/haproxy.cfg": MAIN + "backend be\nserver a 1.1.1.1:1\n", other: text})
    assert [r.name for r in found.routes if r.path == other] == ["backend be"]
    assert all(r.affinity.row != "haproxy/cookie_persist" for r in found.routes)


def test_one_file_is_not_read_twice() -> None:
    found = read_files({"a/haproxy.cfg": MAIN + BACKEND, "b/haproxy.cfg": MAIN + BACKEND})
    assert [r.path for r in found.routes] == ["a/haproxy.cfg", "b/haproxy.cfg"]
    assert [f.path for f in found.files] == ["a/haproxy.cfg", "b/haproxy.cfg"]
