"""Upstreams that a variable chooses: map, split_clients, geo, set, and what a pass with variables can mean."""

from __future__ import annotations

import pytest

from sselint.facts import Route, Strength
from sselint.read.nginx.variables import ANY, fits
from tests.read.nginx.helpers import reading
from tests.read.nginx.oracle import refusal

SINGLES = "upstream be_a { server r1:80; } upstream be_b { server r2:80; }"
POOL = "upstream be { server r1:80; server r2:80; }"


def text(around: str, location: str = "proxy_pass http://$pool;", server: str = "") -> str:
    return f"events {{}} http {{ {around} server {{ listen 80; {server} location / {{ {location} }} }} }}"


def route_of(config: str) -> Route:
    """The route of the pass that chooses, not of those that take over."""
    [route] = [r for r in reading(config).routes if "@" not in r.name and "/any/" not in r.name]
    return route


BY_COOKIE = f"map $cookie_r $pool {{ default be; a be_a; b be_b; }} {SINGLES} {POOL}"
NO_DEFAULT = f"map $cookie_r $pool {{ default ''; a be_a; b be_b; }} {SINGLES}"
BY_NAME = f'map $http_mcp_session_id $pool {{ default be; "~^(?<n>[ab])-" be_$n; }} {SINGLES} {POOL}'
SPLIT = f"split_clients $remote_addr $pool {{ 50% be_a; * be_b; }} {SINGLES}"
GEO = f"geo $pool {{ default be_a; 10.0.0.0/8 be_b; }} {SINGLES}"
FALLBACK = "location @any { proxy_pass http://be; }"

# the configuration, and its row
ROWS = {
    "map to upstreams of one": (text(BY_COOKIE), "choice"),
    "map without a default": (text(NO_DEFAULT), "choice"),
    "map that is chained": (
        text("map $cookie_r $x { default none; ~^a 1; } map $x $pool { default be; 1 be_a; 2 be_b; }" + SINGLES + POOL),
        "choice",
    ),
    "map with addresses": (
        text("map $cookie_r $pool { default r3:80; a r1:80; b r2:80; }", "proxy_pass http://$pool;"),
        "choice",
    ),
    "map that names": (text(BY_NAME), "choice_by_name"),
    "map with an error_page": (
        text(BY_COOKIE, "proxy_pass http://$pool; error_page 502 504 = @any;", FALLBACK),
        "choice_page",
    ),
    "an error_page for other errors": (
        text(BY_COOKIE, "proxy_pass http://$pool; error_page 404 = @any;", FALLBACK),
        "choice",
    ),
    "an error_page that forwards nothing": (
        text(
            BY_COOKIE,
            "proxy_pass http://$pool; error_page 502 504 /sorry.html;",
            "location = /sorry.html { root /srv; }",
        ),
        "choice",
    ),
    "an error_page of the server": (
        text(BY_COOKIE, "proxy_pass http://$pool;", FALLBACK + "error_page 502 = @any;"),
        "choice_page",
    ),
    "an error_page with a path that forwards": (
        text(
            BY_COOKIE, "proxy_pass http://$pool; error_page 502 = /any/x;", "location /any/ { proxy_pass http://be; }"
        ),
        "choice_page",
    ),
    "an error_page that answers well": (
        text(BY_COOKIE, "proxy_pass http://$pool; error_page 502 504 =200 @any;", FALLBACK),
        "choice_page",
    ),
    "an error_page that keeps the status": (
        text(BY_COOKIE, "proxy_pass http://$pool; error_page 502 504 @any;", FALLBACK),
        "choice",
    ),
    "an error_page that leads to the same place": (
        text(BY_COOKIE, "proxy_pass http://$pool; error_page 502 /sorry.html;"),
        "choice",
    ),
    "an error_page in the location around": (
        text(BY_COOKIE, "error_page 502 = @any; location /a/ { proxy_pass http://$pool; }", FALLBACK),
        "choice_page",
    ),
    "map to upstreams with a backup": (
        text(BY_COOKIE.replace("server r1:80;", "server r1:80; server r2:80 backup;", 1)),
        "choice_backup",
    ),
    "map by the request": (text(BY_COOKIE.replace("$cookie_r", "$request_id")), "choice_changing"),
    "map by the cursor": (text(BY_COOKIE.replace("$cookie_r", "$http_last_event_id")), "choice"),
    "split by address": (text(SPLIT), "split"),
    "split by a session id": (text(SPLIT.replace("$remote_addr", "$http_mcp_session_id")), "split_server"),
    "split by a cookie": (text(SPLIT.replace("$remote_addr", "$cookie_sid")), "split_server_cookie"),
    "split by the cursor": (text(SPLIT.replace("$remote_addr", "$http_last_event_id")), "split_cursor"),
    "split by the request": (text(SPLIT.replace("$remote_addr", "$request_id")), "choice_changing"),
    "geo": (text(GEO), "choice"),
    "geo of a variable": (text(GEO.replace("geo $pool", "geo $http_x_client_ip $pool")), "choice"),
    "if with set": (
        text(SINGLES, "proxy_pass http://$pool;", "set $pool be_a; if ($cookie_r = b) { set $pool be_b; }"),
        "choice",
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_row_of_a_choice(name: str) -> None:
    config, row = ROWS[name]
    affinity = route_of(config).affinity
    assert affinity.row == f"nginx/{row}", affinity


@pytest.mark.premises
def test_nginx_accepts_all_of_them() -> None:
    assert {name: refusal(config) for name, (config, _) in ROWS.items()} == dict.fromkeys(ROWS, "")


# -- variables that choose nothing


def test_a_variable_with_one_value_is_that_value() -> None:
    config = text(POOL.replace("{ server", "{ ip_hash; server", 1), "set $pool be; proxy_pass http://$pool;")
    assert refusal(config) == ""
    assert route_of(config).affinity.mechanism == "ip_hash"


def test_a_name_with_a_port_behind_a_variable_is_looked_up_at_run_time() -> None:
    """The look-alike: nginx compares the whole authority with the names of upstreams."""
    config = text(
        POOL.replace("{ server", "{ ip_hash; server", 1),
        "resolver 127.0.0.1; set $pool be; proxy_pass http://$pool:80;",
    )
    assert refusal(config) == ""
    affinity = route_of(config).affinity
    assert affinity.row == "nginx/resolved"
    assert ["upstream be is not used" in s.note for s in affinity.no_effect] == [True]


@pytest.mark.parametrize(
    ("around", "location"),
    [
        ("", "proxy_pass http://$http_x_backend;"),  # the client says where
        ("", "proxy_pass http://$host;"),
        ("", "set_by_lua_block $pool { return 'x' } proxy_pass http://$pool;"),
        ("map $cookie_r $pool { include pools.map; }", "proxy_pass http://$pool;"),
    ],
)
def test_what_the_text_does_not_say_is_unknown(around: str, location: str) -> None:
    assert route_of(text(around, location)).affinity.strength is Strength.UNKNOWN


def test_a_choice_between_whole_pools_is_as_weak_as_the_weakest() -> None:
    """Blue and green: the cookie chooses a pool of two, which balances as it says."""
    pools = "upstream blue { ip_hash; server r1:80; server r2:80; } upstream green { %s server r3:80; server r4:80; }"
    by = "map $cookie_color $pool { default blue; green green; }"
    assert route_of(text(by + pools % "ip_hash;")).affinity.row == "nginx/ip_hash"
    assert route_of(text(by + pools % "")).affinity.row == "nginx/round_robin"


def test_two_upstreams_with_the_same_server_are_one_place() -> None:
    same = "upstream x { server r1:80; } upstream y { server r1:80; } map $cookie_r $pool { default x; a y; }"
    members = route_of(text(same)).members
    assert (members.low, members.high) == (1, 1)


def test_the_shared_pool_behind_the_default_is_shown() -> None:
    affinity = route_of(text(BY_COOKIE)).affinity
    assert affinity.strength is Strength.STRICT
    assert any("goes to a shared pool" in s.note for s in affinity.undone_by)
    assert not route_of(text(NO_DEFAULT)).affinity.undone_by


@pytest.mark.parametrize(
    ("cookie", "lifetime", "seconds"),
    [
        ("r=$upstream_http_x_replica; Path=/", "session", None),
        ("r=$upstream_http_x_replica; Path=/; Max-Age=60", "expires", 60),
        ("other=$upstream_http_x_replica; Max-Age=60", "session", None),
    ],
)
def test_the_life_of_a_cookie_that_nginx_itself_sets(cookie: str, lifetime: str, seconds: float | None) -> None:
    config = text(BY_COOKIE, f'proxy_pass http://$pool; add_header Set-Cookie "{cookie}";')
    assert refusal(config) == ""
    key = route_of(config).affinity.key
    assert (key.lifetime, key.seconds) == (lifetime, seconds)


def test_definitions_that_run_in_circles_end() -> None:
    loop = "map $a $b { default $a; x $b; } map $b $a { default $b; y $a; }"
    assert route_of(text(loop, "proxy_pass http://$a;")).affinity.strength is Strength.UNKNOWN


def test_many_entries_stay_cheap() -> None:
    entries = " ".join(f"k{n} r{n}:80;" for n in range(5_000))
    config = text(f"map $cookie_a $x {{ default z; {entries} }} map $cookie_b $y {{ default z; {entries} }}")
    assert route_of(config.replace("$pool", "$x$y")).affinity.strength is not Strength.STRICT


PINNED = "upstream be { ip_hash; server r1:80; server r2:80; }"


@pytest.mark.parametrize("rest", ["$request_uri", "$uri$is_args$args", "/v1$uri", "/?x=$http_x", "/$http_x"])
def test_what_follows_the_host_does_not_choose_it(rest: str) -> None:
    """A path begins with a slash, so what stands before it is the whole name."""
    config = text(PINNED, f"proxy_pass http://be{rest};")
    assert refusal(config) == ""
    assert route_of(config).affinity.mechanism == "ip_hash"


@pytest.mark.parametrize("rest", ["$http_x", "$args", "${arg_n}/"])
def test_what_can_lengthen_the_name_does(rest: str) -> None:
    assert route_of(text(PINNED, f"proxy_pass http://be{rest};")).affinity.row != "nginx/ip_hash"


def test_a_name_that_fits_hundreds_of_upstreams_is_unknown_and_cheap() -> None:
    pools = " ".join(f"upstream u{n} {{ server r1:{n + 1}; }}" for n in range(1_000))
    affinity = route_of(text(pools, "proxy_pass http://u$cookie_u;")).affinity
    assert affinity.strength is Strength.UNKNOWN
    assert "more than" in affinity.why


@pytest.mark.parametrize(
    ("location", "server", "key"),
    [
        ("proxy_pass http://be_$cookie_r;", "", ("server", "cookie", "r")),
        ("proxy_pass http://be_$arg_room$request_uri;", "", ("client", "query", "room")),
        (
            "proxy_pass http://$p;",
            'set $p be; if ($http_cookie ~ "r=([ab])") { set $p be_$1; }',
            ("server", "cookie", ""),
        ),
        ("rewrite ^/([ab])/(.*)$ /$2 break; proxy_pass http://be_$1;", "", ("client", "path", "uri")),
        ("proxy_pass http://be_$n;", "server_name ~^(?<n>[ab])[.]example$;", ("client", "header", "host")),
    ],
)
def test_a_name_that_the_request_makes_up_is_a_choice_by_its_key(
    location: str, server: str, key: tuple[str, str, str]
) -> None:
    config = text(SINGLES + POOL, location, server)
    assert refusal(config) == ""
    affinity = route_of(config).affinity
    assert affinity.row == "nginx/choice_by_name"
    assert (affinity.key.issued_by.value, affinity.key.carrier.value, affinity.key.name) == key


def test_a_name_captured_by_a_location_is_the_path() -> None:
    server = "location ~ ^/(?<n>[ab])/ { proxy_pass http://be_$n; }"
    config = f"events {{}} http {{ {SINGLES} server {{ listen 80; {server} }} }}"
    assert refusal(config) == ""
    assert route_of(config).affinity.key.name == "uri"


def test_a_capture_of_nothing_is_unknown() -> None:
    """The look-alike: no regular expression anywhere fills `$1`."""
    config = text(SINGLES, "proxy_pass http://be_$1;")
    assert route_of(config).affinity.strength is Strength.UNKNOWN


@pytest.mark.parametrize(
    ("name", "shape", "does"),
    [
        ("be_a", "be_*", True),
        ("be_", "be_*", False),  # an unknown part is taken to be something
        ("be_a", "*_a", True),
        ("a_be_b", "a_*_b", True),
        ("a__b", "a_*_b", False),
        ("x-y-z", "*-*-*", True),
        ("x-y", "*-*-*", False),
        ("be", "be", True),
        ("bee", "be", False),
        ("-" * 400, "*-" * 60 + "x", False),
    ],
)
def test_which_names_a_shape_fits(name: str, shape: str, does: bool) -> None:
    assert fits(name, shape.replace("*", ANY)) is does
