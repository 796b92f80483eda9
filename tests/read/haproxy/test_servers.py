"""Server lines: parameters from everywhere, how many processes, and who takes no traffic."""

from __future__ import annotations

import pytest

from tests.read.haproxy.configs import DEFAULTS, config, routes, row, whole

INSERT = "cookie SRV insert indirect nocache"


def backend(lines: str, head: str = DEFAULTS) -> str:
    return whole(f"{head}backend be\n{INSERT}\n{lines}\n")


@pytest.mark.parametrize(
    ("lines", "low", "high"),
    [
        ("server a 10.0.0.1:80\nserver b 10.0.0.2:80", 2, 2),
        ("server a 10.0.0.1:80\n#server b 10.0.0.2:80", 1, 1),
        ("server a 10.0.0.1:80\nserver b 10.0.0.2:80 disabled", 1, 1),
        ("default-server disabled\nserver a 10.0.0.1:80 enabled\nserver b 10.0.0.2:80", 1, 1),
        ("server a 10.0.0.1:80\nserver b 10.0.0.2:80 weight 0", 1, 1),
        ("server a 10.0.0.1:80\nserver b 10.0.0.2:80 weight 10", 2, 2),
        ("server-template app 3 10.0.0.1:80", 3, 3),
        ("server-template app 5-9 10.0.0.1:80", 5, 5),
        ("server-template app 1 10.0.0.1:80", 1, 1),
        ("server a 10.0.0.1:80\nserver-template app 3 10.0.0.2:80", 4, 4),
        ("server a 10.0.0.1:80\nserver b 10.0.0.2:80 backup", 2, 2),
    ],
)
def test_how_many(lines: str, low: int, high: int) -> None:
    members = routes(backend(lines))["backend be"].members
    assert (members.low, members.high) == (low, high)


def test_backups_are_counted_and_named() -> None:
    found = routes(backend("server a 10.0.0.1:80\nserver b 10.0.0.2:80 backup"))
    assert "1 of them backup" in found["backend be"].members.why


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # a default-server line holds for the lines below it
        ("default-server check\nserver a 10.0.0.1:80 cookie a\nserver b 10.0.0.2:80 cookie b", "cookie_check"),
        ("server a 10.0.0.1:80 cookie a\nserver b 10.0.0.2:80 cookie b\ndefault-server check", "cookie_no_check"),
        ("default-server check\nserver a 1.1.1.1:1 cookie a no-check\nserver b 1.1.1.2:1 no-check", "cookie_partial"),
        ("default-server check no-check\nserver a 1.1.1.1:1 cookie a\nserver b 1.1.1.2:1 cookie b", "cookie_no_check"),
        ("default-server inter 2s fall 2\nserver a 1.1.1.1:1 cookie a\nserver b 1.1.1.2:1 cookie b", "cookie_no_check"),
        # a value that looks like a keyword is a value
        ("server a 10.0.0.1:80 cookie check\nserver b 10.0.0.2:80 cookie backup", "cookie_no_check"),
        ("server check 10.0.0.1:80 cookie a\nserver backup 10.0.0.2:80 cookie b", "cookie_no_check"),
        ("server a 10.0.0.1:80 cookie a check inter 1s\nserver b 10.0.0.2:80 cookie b", "cookie_check"),
    ],
)  # fmt: skip
def test_default_server(lines: str, expected: str) -> None:
    assert row(backend(lines)) == expected


def test_default_server_of_a_defaults_section_is_inherited() -> None:
    two = "server a 10.0.0.1:80 cookie a\nserver b 10.0.0.2:80 cookie b"
    assert row(backend(two, DEFAULTS + "default-server check\n")) == "cookie_check"
    # the defaults section below is another one's
    assert row(backend(two + "\ndefaults\nmode http\ndefault-server check")) == "cookie_no_check"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("balance roundrobin\nserver a 10.0.0.1:80\nserver b 10.0.0.2:80 backup", "backup_no_check"),
        ("balance roundrobin\nserver a 10.0.0.1:80 check\nserver b 10.0.0.2:80 check backup", "backup_check"),
        ("balance roundrobin\nserver a 10.0.0.1:80 backup\nserver b 10.0.0.2:80 backup", "backup_no_check"),
        ("option allbackups\nserver a 10.0.0.1:80 backup\nserver b 10.0.0.2:80 backup", "none"),
        ("server a 10.0.0.1:80\nserver b 10.0.0.2:80\nserver c 10.0.0.3:80 backup", "none"),
        ("server-template app 2 10.0.0.1:80\nserver c 10.0.0.3:80 backup", "none"),
        ("server a 10.0.0.1:80", "single"),
        ("server-template app 2 10.0.0.1:80", "none"),
    ],
)
def test_one_active_server(lines: str, expected: str) -> None:
    assert row(whole(f"{DEFAULTS}backend be\n{lines}\n")) == expected


@pytest.mark.parametrize(
    ("address", "host", "port"),
    [
        ("10.0.0.1:8000", "10.0.0.1", 8000),
        ("127.0.0.1", "127.0.0.1", None),
        ("127.0.0.1:+1", "127.0.0.1", None),
        ("[2001:db8::1]:8000", "2001:db8::1", 8000),
        ("2001:db8::1:8000", "2001:db8::1", 8000),
        ("ipv4@127.0.0.1:8000", "127.0.0.1", 8000),
        ("unix@/run/app.sock", "unix@/run/app.sock", None),
        ("/run/app.sock", "/run/app.sock", None),
        ("localhost:8000", "localhost", 8000),
    ],
)
def test_addresses(address: str, host: str, port: int | None) -> None:
    (target,) = routes(whole(f"{DEFAULTS}backend be\nserver a {address}\n"))["backend be"].targets
    assert (target.host, target.port) == (host, port)


def test_a_template_is_resolved_to_all_addresses_and_a_server_line_to_one() -> None:
    template = "server-template app 3 localhost:80"
    assert routes(whole(f"{DEFAULTS}backend be\n{template}\n"))["backend be"].resolves == "all"
    assert routes(whole(f"{DEFAULTS}backend be\nserver app localhost:80\n"))["backend be"].resolves == "one"


def test_ids_leave_the_answer_alone() -> None:
    assert row(config("balance source\nhash-type consistent", server="check")) == "hash_consistent_check"
    numbered = "".join(f"server s{n} 10.0.1.{n}:80 check id {n}0\n" for n in (1, 2))
    assert row(config("balance source\nhash-type consistent\n" + numbered, server="check")) == "hash_consistent_check"
