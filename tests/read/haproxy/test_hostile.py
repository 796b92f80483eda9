"""Whatever the text is: nothing is raised, every place lies inside the file, and large files cost little."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sselint.facts import Evidence, FileOutcome, Reading
from sselint.read import haproxy
from sselint.source import Source
from tests.read.haproxy.configs import DEFAULTS, NO_TREE

VOCABULARY = r"""
    global defaults frontend backend listen peers from if unless or || ! { } !{ server server-template default-server
    check cookie backup disabled weight 0 1 3 1-3 id track b/r1 inter 2s insert prefix rewrite indirect dynamic
    maxidle maxlife 30m 5 stick stick-table on match store-request store-response src type ip string size 1k expire
    table be b balance source roundrobin hash hdr(Last-Event-ID) req.hdr(Mcp-Session-Id) res.hdr(Mcp-Session-Id) first
    hash-type consistent hash-balance-factor option redispatch persist no default retries -1 use_backend use-server
    default_backend %[req.hdr(x)] b_%[var(txn.x)] force-persist ignore-persist TRUE FALSE METH_POST acl a path_beg /e
    path_reg ( -m -f -i -- beg reg int found mode http tcp timeout 99999999999999999999 http-request del-header peers
    Last-Event-ID set-var(txn.x) set-var( bind :80 127.0.0.1:80 [::1]: "$X" ${X-y} .if .elif .else .endif 0 defined(X)
    " ' \ # \# \" é 10.0.0.1:99999999 haproxy -conf vtest feature {{x}} preserve non-stick default-server
"""
WORDS = st.sampled_from([*VOCABULARY.split(), "\0", "\u2028", "\\\n", "\r"])
LINES = st.lists(st.lists(WORDS, min_size=1, max_size=8).map(" ".join), max_size=25)
TEXTS = st.one_of(
    st.text(max_size=300),
    LINES.map("\n".join),
    LINES.map(lambda lines: DEFAULTS + "listen be\n" + "\n".join(lines)),
    LINES.map(lambda lines: 'vtest "x"\nhaproxy h1 -conf {\n' + "\n".join(lines)),
)
MASKS = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 40)), max_size=4)


def places(reading: Reading) -> Evidence:
    found: list[Evidence] = [route.evidence for route in reading.routes]
    for route in reading.routes:
        affinity = route.affinity
        found += [affinity.evidence, affinity.undone_by, affinity.no_effect, route.last_event_id_evidence]
        found += [observation.evidence for observation in route.observations]
        found.append(tuple(target.span for target in route.targets if target.span))
    found.append(tuple(report.span for report in reading.files if report.span))
    return tuple(span for part in found for span in part)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=TEXTS, masks=MASKS, loops=MASKS, optional=MASKS)
def test_nothing_is_raised_and_places_lie_in_the_file(
    text: str, masks: list[tuple[int, int]], loops: list[tuple[int, int]], optional: list[tuple[int, int]]
) -> None:
    def ranges(found: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
        return tuple(sorted((start, min(start + length, len(text))) for start, length in found if start < len(text)))

    haproxy.looks_like("any.cfg", text)
    source = Source("a.cfg", text, "haproxy", masked=ranges(masks), loops=ranges(loops), optional=ranges(optional))
    reading = haproxy.read((source, Source("conf.d/b.cfg", text, "haproxy")), NO_TREE)
    assert {report.outcome for report in reading.files} <= {FileOutcome.ANALYSED, FileOutcome.PARTLY}
    rows = text.split("\n")
    for span in places(reading):
        assert 1 <= span.line <= span.end_line <= len(rows)
        assert 1 <= span.column <= len(rows[span.line - 1]) + 1
        assert 1 <= span.end_column <= len(rows[span.end_line - 1]) + 1


MANY = 1500
HEAVY = {
    "rules": "frontend fe\nbind :1\n"
    + "".join(f"acl a{i} path_beg /{i}\nuse_backend b{i} if a{i}\n" for i in range(MANY))
    + "".join(f"backend b{i}\nserver a 1.1.1.1:1\nserver b 1.1.1.1:2\n" for i in range(MANY)),
    "servers": "backend b\ncookie S insert\n" + "".join(f"server s{i} 1.1.1.1:1 cookie s{i}\n" for i in range(MANY)),
    "persistence": "backend b\ncookie S insert\n"
    + "".join(f"force-persist if {{ path /{i} }}\n" for i in range(MANY))
    + "server a 1.1.1.1:1 cookie a\nserver b 1.1.1.1:2 cookie b\n",
    "defaults": "".join(f"defaults d{i} from d{i - 1}\nretries {i}\n" for i in range(MANY))
    + "backend b\ncookie S insert\nserver a 1.1.1.1:1 cookie a\nserver b 1.1.1.1:2 cookie b\n",
    "conditions": "backend b\n" + ".if defined(X)\n" * MANY + "balance source\n" + ".endif\n" * MANY + "server a 1:1\n",
    "computed": "".join(f"listen l{i}\nbind :1\nuse_backend %[req.hdr(x)]\nserver a 1:1\n" for i in range(MANY)),
    "one line": "backend b\nserver a 1.1.1.1:1 " + "check " * 20 * MANY,
    "quotes": "backend b\nserver a 1.1.1.1:1 " + "'\"" * 20 * MANY,
    "backslashes": "backend b\nserver a 1.1.1.1:1 " + "\\\n" * 10 * MANY,
    "braces": 'vtest "x"\n' + "haproxy h1 -conf {\n" * MANY,
}


@pytest.mark.parametrize("name", HEAVY)
def test_large_files_cost_little(name: str) -> None:
    """Ten seconds of processor time are many times what it takes: a quadratic step shows, a busy machine does not."""
    begun = time.process_time()
    reading = haproxy.read((Source("a.cfg", DEFAULTS + HEAVY[name], "haproxy"),), NO_TREE)
    assert time.process_time() - begun < 10
    assert all(report.outcome is not FileOutcome.INTERNAL_ERROR for report in reading.files)


def test_many_files_of_one_folder_cost_little() -> None:
    pieces = [Source(f"c/{i}.cfg", f"backend b{i}\nserver a 1.1.1.1:1\n", "haproxy") for i in range(600)]
    begun = time.process_time()
    assert len(haproxy.read(pieces, NO_TREE).routes) == 600
    assert time.process_time() - begun < 10


def test_what_is_too_large_is_named_and_not_read() -> None:
    text = DEFAULTS + "#" * haproxy.MAX_CHARACTERS
    (report,) = haproxy.read((Source("a.cfg", text, "haproxy"),), NO_TREE).files
    assert (report.outcome, report.needed) == (FileOutcome.TOO_LARGE, True)
