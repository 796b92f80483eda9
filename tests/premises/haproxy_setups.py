"""The configurations whose behaviour `rules/affinity/haproxy.yaml` describes: for each row at least one.

A key is the row's id, or `id/variant` where several forms share a row.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.premises.haproxy_lab import CHECK, Setup

REDISPATCH, PERSIST = "\noption redispatch", "\noption persist"
FAILOVERS = {
    "persist_redispatch": (REDISPATCH + PERSIST, CHECK),
    "redispatch": (REDISPATCH, CHECK),
    "persist": (PERSIST, CHECK),
    "check": ("", CHECK),
    "no_check": ("", ""),
}
"""For each failover: the lines that make it, and the parameters of the servers."""

BY_ID = "use-server {n} if { req.hdr(Mcp-Session-Id) -m beg {n}. }"
INSERT = "balance roundrobin\ncookie SRV insert indirect nocache"
DYNAMIC = INSERT + " dynamic\ndynamic-cookie-key lab"
SHORT_COOKIE = ("indirect", "indirect maxidle 4s", 9.5)
"""The date in a cookie counts in steps of 4 s, so that it is over between 4 and 8 s after the answer's head."""
SHORT_ENTRY = ("expire 30m", "expire 1s", 2.5)
TABLE = "balance roundrobin\nstick-table type string len 64 size 10k expire 30m"
LEARNT = "\nstick match req.hdr(Mcp-Session-Id)\nstick store-response res.hdr(Mcp-Session-Id)"
BY_ADDRESS = "balance roundrobin\nstick-table type ip size 10k expire 30m\nstick on src"
PER_REPLICA = "use_backend b_%[req.hdr(Mcp-Session-Id),field(1,.)] if { req.hdr(Mcp-Session-Id) -m found }"
RANGES = "\n".join(
    f"use_backend b_r{n} if {{ req.hdr(Last-Event-ID) -m int {n}000:{n}999 }}" for n in (1, 2, 3)
).replace("1000:", "0:")


def _setups() -> Iterator[tuple[str, Setup]]:
    for name, (lines, server) in FAILOVERS.items():
        pinned = f"{server} cookie {{n}}"
        yield f"use_server_{name}", Setup(f"balance roundrobin\n{BY_ID}{lines}", server, "mcp")
        yield f"cookie_{name}", Setup(INSERT + lines, pinned, lapsing=SHORT_COOKIE)
        yield f"cookie_dynamic_{name}", Setup(DYNAMIC + lines, server, lapsing=SHORT_COOKIE)
        yield f"stick_{name}", Setup(TABLE + LEARNT + lines, server, "mcp", lapsing=SHORT_ENTRY)
        peered = (TABLE + LEARNT + lines).replace("30m", "30m peers lab")
        yield f"stick_peers_{name}", Setup(peered, server, "mcp", peers=True, lapsing=SHORT_ENTRY)
    for name in ("redispatch", "check", "no_check"):
        lines, server = FAILOVERS[name]
        consistent = "balance hdr(X-Client-Id)\nhash-type consistent"
        yield f"hash_consistent_{name}", Setup(consistent + lines, server, "header")
    for name, server in (("check", CHECK), ("no_check", "")):
        backup = {"r2": f"{server} backup", "r3": f"{server} backup"}
        for form, lines in (("", ""), ("/redispatch", REDISPATCH), ("/persist", PERSIST)):
            yield f"hash_modulo_{name}{form}", Setup("balance url_param sid" + lines, server, "query")
            yield f"backup_{name}{form}", Setup("balance roundrobin" + lines, server, special=backup)
        yield f"first_{name}", Setup("balance first", server)
        yield f"first_{name}/persist", Setup("balance first" + PERSIST, server)
    yield "first_redispatch", Setup("balance first" + REDISPATCH)
    yield "first_redispatch/longer_than_retries", Setup("balance first" + REDISPATCH + " 5")
    yield "first_redispatch/no_check", Setup("balance first" + REDISPATCH, "")
    yield from _no_affinity()
    yield from _variants()


def _no_affinity() -> Iterator[tuple[str, Setup]]:
    pinned = f"{CHECK} cookie {{n}}"
    yield "use_backend", Setup("balance roundrobin", client="mcp", frontend=PER_REPLICA)
    yield "use_backend_range", Setup("balance roundrobin", frontend=RANGES)
    some = "\n".join(BY_ID.replace("{n}", name) for name in ("r1", "r3"))
    yield "use_server_partial", Setup(f"balance roundrobin\n{some}", client="mcp")
    yield "stick_partial", Setup(TABLE + LEARNT, client="mcp", special={"r2": f"{CHECK} non-stick"})
    yield "cookie_partial", Setup(INSERT, pinned, special={"r2": CHECK})
    yield "cookie_partial/shared_value", Setup(INSERT, pinned, special={"r3": f"{CHECK} cookie r1"})
    yield "cookie_unset", Setup("balance roundrobin\ncookie APPSID prefix", pinned)
    yield "cookie_repointed", Setup(f"{INSERT} preserve", pinned, sets="SRV=r3")
    yield "cookie_postonly", Setup("balance roundrobin\ncookie SRV insert indirect postonly", pinned)
    yield "stick_last_event_id", Setup(f"{TABLE}\nstick on req.hdr(Last-Event-ID)")
    yield "stick_unlearnt", Setup(f"{TABLE}\nstick on req.hdr(Mcp-Session-Id)", client="mcp")
    yield "stick_unlearnt_cookie", Setup(f"{TABLE}\nstick on req.cook(APPSID)", cookie="APPSID")
    yield "hash_bounded", Setup("balance source\nhash-type consistent\nhash-balance-factor 101")
    yield "hash_last_event_id", Setup("balance hdr(Last-Event-ID)")
    yield "hash_unknown_at_first", Setup("balance hdr(Mcp-Session-Id)\nhash-type consistent", client="mcp")
    yield "hash_unknown_at_first_cookie", Setup("balance hash req.cook(APPSID)", cookie="APPSID")
    yield "single", Setup("balance roundrobin", members=("r1",), joins="")
    yield "none_check", Setup("balance roundrobin")
    yield "none", Setup("balance roundrobin", "")


def _variants() -> Iterator[tuple[str, Setup]]:
    """Other forms of a row: other keys, modes of the cookie, and lines that come to the same."""
    pinned = f"{CHECK} cookie {{n}}"
    forced = "\nforce-persist if TRUE"
    for name, (lines, server) in FAILOVERS.items():
        yield f"stick_{name}/by_address", Setup(BY_ADDRESS + lines, server, lapsing=SHORT_ENTRY)
        yield (
            f"hash_consistent_{name.replace('persist_', '').replace('persist', 'check')}/by_address_{name}",
            Setup("balance source\nhash-type consistent" + lines, server),
        )
        prefix = "balance roundrobin\ncookie APPSID prefix" + lines
        yield f"cookie_{name}/prefix", Setup(prefix, f"{server} cookie {{n}}", cookie="APPSID")
    yield "cookie_check/rewrite", Setup("balance roundrobin\ncookie APPSID rewrite", pinned, cookie="APPSID")
    yield "cookie_check/postonly", Setup("balance roundrobin\ncookie SRV insert indirect postonly", pinned, "mcp")
    yield "cookie_check/preserve", Setup(f"{INSERT} preserve", pinned)
    yield "cookie_check/overwritten", Setup(INSERT, pinned, sets="SRV=r3")
    yield "cookie_check/learnt_by_nobody", Setup(f"{INSERT}\n{BY_ADDRESS}", pinned)
    yield "cookie_persist/forced", Setup(INSERT + forced, pinned)
    yield "cookie_persist/forced_redispatch", Setup(INSERT + REDISPATCH + forced, pinned)
    yield "cookie_persist/no_check", Setup(INSERT + PERSIST, "cookie {n}")
    yield "cookie_no_check/no_retries", Setup(f"{INSERT}{REDISPATCH}\nretries 0", "cookie {n}")
    yield "cookie_no_check/too_few_retries", Setup(f"{INSERT}{REDISPATCH} 4\nretries 3", "cookie {n}")
    yield "cookie_redispatch/first_retry", Setup(f"{INSERT}{REDISPATCH} 1\nretry-on all-retryable-errors", "cookie {n}")
    yield "cookie_redispatch/last_retry", Setup(f"{INSERT}{REDISPATCH} -1", "cookie {n}")
    yield "use_server_persist/forced", Setup(f"balance roundrobin\n{BY_ID}{forced}", client="mcp")
    yield "use_backend/no_check", Setup("balance roundrobin", "", "mcp", frontend=PER_REPLICA)
    yield "hash_modulo_check/by_address", Setup("balance source")
    yield (
        "backup_check/cookieless_backups",
        Setup("balance leastconn", special={"r2": f"{CHECK} backup", "r3": f"{CHECK} backup"}),
    )
    for algorithm in (
        "source",
        "roundrobin",
        "leastconn",
        "random",
        "first",
        "uri",
        "url_param sid",
        "hdr(X-Client-Id)",
    ):
        form = "" if algorithm == "source" else f"/{algorithm}"
        setting = {"ALGORITHM": algorithm.partition(" ")[0], "PARAMETER": algorithm.partition(" ")[2]}
        lines = 'balance "${ALGORITHM}"' + (' "${PARAMETER}"' if setting["PARAMETER"] else "")
        yield f"unwritten{form}", Setup(lines, client="query", environment=setting)
    every = dict.fromkeys(("r1", "r2", "r3"), f"{CHECK} backup")
    yield "backup_check/all_of_them", Setup("balance roundrobin", special=every)
    yield "none_check/all_backups", Setup("balance roundrobin\noption allbackups", special=every)
    yield "none_check/leastconn", Setup("balance leastconn")
    yield "none_check/random", Setup("balance random")
    yield "none_check/ignored_cookie", Setup(f"{INSERT}\nignore-persist if TRUE", pinned)
    yield "none_check/tracked", Setup("balance roundrobin\nstick-table type ip size 10k store http_req_rate(10s)")
    yield "stick_check/not_ignored", Setup(f"{BY_ADDRESS}\nignore-persist if TRUE")


SETUPS = dict(_setups())
