"""From text to lines: quotes, escapes, variables, comments, and the conditions of the configuration language."""

from __future__ import annotations

import pytest

from sselint.facts import FileOutcome, Strength
from sselint.read import haproxy
from sselint.read.haproxy import looks_like
from sselint.read.haproxy.lexer import lines
from sselint.source import Source
from tests.read.haproxy.configs import DEFAULTS, NO_TREE, affinity, config, read, routes, row, whole

INSERT = "cookie SRV insert indirect nocache"


def words(text: str) -> list[tuple[str, bool]]:
    (line,) = lines(Source("haproxy.cfg", text, "haproxy"))
    return [(word.text, word.known) for word in line.words]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cookie SRV insert", ["cookie", "SRV", "insert"]),
        ("\t cookie   SRV\tinsert  \r", ["cookie", "SRV", "insert"]),
        ("cookie SRV insert # a comment", ["cookie", "SRV", "insert"]),
        ("cookie SRV insert#a comment", ["cookie", "SRV", "insert"]),
        (r"cookie SRV\#1 insert", ["cookie", "SRV#1", "insert"]),
        (r"cookie my\ cookie insert", ["cookie", "my cookie", "insert"]),
        ('cookie "my cookie" insert', ["cookie", "my cookie", "insert"]),
        ("cookie 'my # cookie' insert", ["cookie", "my # cookie", "insert"]),
        ('cookie "SRV"1 insert', ["cookie", "SRV1", "insert"]),
        ('cookie "" insert', ["cookie", "", "insert"]),
        (r'cookie "a\"b" insert', ["cookie", 'a"b', "insert"]),
        # nothing is escaped between single quotes
        (r"cookie 'a\ b' insert", ["cookie", r"a\ b", "insert"]),
        # a dollar outside double quotes is a dollar
        ("cookie $SRV insert", ["cookie", "$SRV", "insert"]),
        ("cookie '$SRV' insert", ["cookie", "$SRV", "insert"]),
        (r'cookie "\$SRV" insert', ["cookie", "$SRV", "insert"]),
        # a backslash before something else stays
        (r"acl a path_reg ^/a\.b", ["acl", "a", "path_reg", r"^/a\.b"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == [(word, True) for word in expected]


@pytest.mark.parametrize(
    "written", ['"$SRV"', '"${SRV}"', '"${SRV-default}"', '"a${SRV}b"', '"${.LINE}"', "${SRV}", '"${SRV[*]}"']
)
def test_environment_variables_are_unknown_and_kept_as_written(written: str) -> None:
    found = words(f"cookie {written} insert")
    assert found[1] == (written.strip('"'), False)
    assert found[2] == ("insert", True)


def test_an_algorithm_that_a_variable_names_is_best_effort_at_best() -> None:
    found = affinity(config('balance "${ALGORITHM-source}"'))
    assert (found.row, found.strength) == ("haproxy/unwritten", Strength.BEST_EFFORT)
    assert any("ALGORITHM" in span.note for span in found.undone_by)
    assert affinity(config('balance "roundrobin"')).strength is Strength.NONE


@pytest.mark.parametrize(("lines", "strength"), [("option persist", "strict"), ("", "best_effort")])
def test_lines_that_a_template_prints_may_undo_what_is_strict(lines: str, strength: str) -> None:
    text = config(f"{INSERT}\n{lines}\n# more")
    assert affinity(text).strength.value == strength
    at = text.index("# more")
    source = Source("haproxy.cfg", text.replace("# more", "______"), "haproxy", masked=((at, at + 6),))
    (route,) = haproxy.read((source,), NO_TREE).routes
    assert route.affinity.strength.value == ("unknown" if strength == "strict" else strength)


def test_an_unknown_address_is_a_target_as_written() -> None:
    text = whole(f'{DEFAULTS}backend be\nserver a "${{APP_HOST-127.0.0.1}}:8000"\nserver b 10.0.0.2:8000\n')
    assert [t.host for t in routes(text)["backend be"].targets] == ["${APP_HOST-127.0.0.1}:8000", "10.0.0.2"]


def test_a_line_that_ends_in_a_backslash_goes_on_in_the_next() -> None:
    """HAProxy refuses that (tests/premises/test_haproxy_claims.py); what is meant is plain all the same."""
    text = config().replace(
        "default_backend be\nbackend be\n", "default_backend be\nbackend be\nbalance \\\n  source\n"
    )
    assert row(text) == "hash_modulo_check"
    # an escaped backslash is a backslash
    assert row(text.replace("balance \\\n", "balance \\\\\n")) == "none_check"
    # and a comment ends with its line
    assert row(text.replace("balance \\\n  source", "# balance \\\nbalance source")) == "hash_modulo_check"


def test_an_open_quote_is_reported_at_its_line() -> None:
    text = config() + 'cookie "SRV insert\n'
    (report,) = read(text).files
    assert report.outcome is FileOutcome.PARTLY
    assert report.span and report.span.line == text.count("\n")
    assert read(config()).files[0].outcome is FileOutcome.ANALYSED


# -- conditions of the configuration language --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (".if 1\noption persist\n.endif", "cookie_persist"),
        (".if 0\noption persist\n.endif", "cookie_check"),
        (".if 0\n.else\noption persist\n.endif", "cookie_persist"),
        (".if 1\n.else\noption persist\n.endif", "cookie_check"),
        (".if 0\n.elif 1\noption persist\n.endif", "cookie_persist"),
        (".if 1\n.elif 1\noption persist\n.endif", "cookie_check"),
        (".if 1\n.if 0\noption persist\n.endif\n.endif", "cookie_check"),
        (".if\noption persist\n.endif", "cookie_check"),
        # not decided here, and the answer depends on it
        (".if version_atleast(2.4)\noption persist\n.endif", "unknown"),
        (".if defined(STRICT)\noption persist\n.endif", "unknown"),
        (".if 0\n.elif defined(STRICT)\noption persist\n.endif", "unknown"),
        # not decided here, and nothing depends on it
        (".if defined(LOG)\noption httplog\n.endif", "cookie_check"),
        (".if defined(A)\noption redispatch\n.else\noption redispatch\n.endif", "cookie_redispatch"),
        # one of the two holds in any case, and neither is strict
        (".if defined(A)\nforce-persist if TRUE\n.else\nforce-persist if TRUE\n.endif", "cookie_persist"),
        (".if defined(A)\noption persist\n.elif 1\noption persist\n.endif", "cookie_persist"),
        # either strict or not: all lines together would say best effort
        (".if defined(A)\noption persist\n.else\noption redispatch\n.endif", "unknown"),
        (".if defined(A)\noption persist\n.endif\n.if defined(B)\noption redispatch\n.endif", "unknown"),
        # nobody is strict whatever holds: the weakest counts
        (".if defined(A)\nignore-persist if TRUE\n.endif", "none_check"),
        (".notice hello\noption persist", "cookie_persist"),
    ],
)
def test_if_blocks(before: str, expected: str) -> None:
    assert row(config(f"{INSERT}\n{before}")) == expected


def test_servers_under_a_condition_are_one_or_more() -> None:
    text = config(f"{INSERT}\n.if defined(MORE)\nserver r4 10.0.0.4:80 check cookie r4\n.endif")
    members = routes(text)["frontend fe -> backend be"].members
    assert (members.low, members.high) == (3, 4)


# -- what is a HAProxy configuration -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("defaults\n mode http\n", True),
        ("# comment\n\nglobal\n  daemon\n", True),
        ("backend be\n server a 10.0.0.1:80\n", True),
        (".if 1\nfrontend fe\n bind :80\n.endif\n", True),
        ("{% for b in backends %}\nbackend {{ b }}\n server a {{ a }}:80\n{% endfor %}\n", True),
        ('vtest "x"\nhaproxy h1 -conf {\n defaults\n  mode http\n} -start\n', True),
        ('vtest "x"\nhaproxy h1 -arg \\\n "-W" -conf {\n defaults\n  mode http\n} -start\n', True),
        # other languages that have the same words
        ('vtest "x"\nserver s1 {\n rxreq\n} -start\n', False),
        ("global:\n  scrape_interval: 15s\n", False),
        ("upstream app {\n server a:80;\n}\n", False),
        ("backend = 'redis'\n", False),
        ("global x\nx = 1\n", False),
        ("defaults: &defaults\n  mode: http\n", False),
        ("server a 10.0.0.1:80\n", False),
        ("some words about a backend\n", False),
        ("backend be {\n  server a\n}\n", False),
        ("", False),
        ("\0defaults\n mode http\n", False),
    ],
)
def test_looks_like(text: str, expected: bool) -> None:
    assert looks_like("whatever.txt", text) is expected


def test_configurations_in_a_vtest_case_are_read_one_by_one() -> None:
    text = """vtest "two proxies"
server s1 {
    rxreq
} -start
haproxy h1 -conf {
    defaults
        mode http
    backend be
        balance source
        server a ${s1_addr}:${s1_port}
        server b 10.0.0.2:80
} -start
haproxy h2 -arg "-W" \\
    -conf {
    defaults
        mode http
    backend be
        balance roundrobin
        server a 10.0.0.1:80
        server b 10.0.0.2:80
} -start
haproxy h3 -conf-BAD {} {
    backend be
        balance source
        server a 10.0.0.1:80
}
"""
    found = read(text).routes
    assert [(r.name, r.line, r.affinity.strength.value) for r in found] == [
        ("backend be", 8, "best_effort"),
        ("backend be", 17, "none"),
    ]
