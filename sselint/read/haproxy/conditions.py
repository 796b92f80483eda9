"""HAProxy conditions (`if { path_beg /events } !acl_name`) to what they look at and what they want.

Configuration manual, section 7: a condition is a list of alternatives; in each, all clauses must hold; a named ACL that
is defined more than once holds if any of its definitions does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from sselint.facts import Match
from sselint.read.haproxy.lexer import Line, Word
from sselint.read.haproxy.sections import Section

_FETCH = re.compile(r"^(?P<name>[\w.]+)(?:\((?P<argument>[^)]*)\))?")
_ENDINGS = frozenset({"beg", "end", "reg", "sub", "dir", "dom", "len"})
_CARRIERS = {
    **dict.fromkeys(("hdr", "fhdr", "shdr"), "header"),
    **dict.fromkeys(("cook", "scook"), "cookie"),
    **dict.fromkeys(("url_param", "urlp", "query"), "query"),
    **dict.fromkeys(("path", "pathq", "url", "base", "uri"), "path"),
    **dict.fromkeys(("ssl_fc_sni", "ssl_sni"), "host"),
    **dict.fromkeys(("src", "src_is_local"), "address"),
    "method": "method",
    "var": "var",
}
_PREDEFINED = {"TRUE": "always", "FALSE": "never", "HTTP": "always"}
_MATCHERS = frozenset({"found", "bool", "int", "ip", "bin", "len", "str", "sub", "reg", "beg", "end", "dir", "dom"})


@dataclass(frozen=True)
class Fetch:
    """What a sample expression looks at. `carrier` is path | host | header | cookie | query | address | method | var |
    always | never | other; `name` is the header's, cookie's or parameter's name as written; `method` is how values are
    compared unless `-m` says otherwise (`path_beg` compares beginnings)."""

    carrier: str
    name: str = ""
    method: str = "str"

    @property
    def key(self) -> tuple[str, str]:
        """Carrier and name, header names in lower case: equal for two expressions that look at the same thing."""
        return self.carrier, self.name.lower() if self.carrier == "header" else self.name


@dataclass(frozen=True)
class Test:
    """One comparison of what `fetch` gives with any of `values`; `sure` is False where the values are not all known."""

    fetch: Fetch
    method: str
    values: tuple[str, ...]
    sure: bool = True


@dataclass(frozen=True)
class Clause:
    """Holds if any of its tests does, or, `negated`, if none does."""

    tests: tuple[Test, ...]
    negated: bool = False


@dataclass(frozen=True)
class Condition:
    """Holds if all clauses of any of the alternatives hold. No alternatives: it never holds."""

    alternatives: tuple[tuple[Clause, ...], ...] = ((),)

    @cached_property
    def always(self) -> bool:
        """Whether it holds for every request."""
        return any(all(_always(clause) for clause in clauses) for clauses in self.alternatives)

    @cached_property
    def never(self) -> bool:
        """Whether it holds for no request that a stream is asked for with (a GET)."""
        return all(any(_never(clause) for clause in clauses) for clauses in self.alternatives)

    @property
    def tests(self) -> Iterator[Test]:
        """All tests in it."""
        return (t for clauses in self.alternatives for clause in clauses for t in clause.tests)

    @cached_property
    def by_path_and_host(self) -> bool:
        """Whether paths and hosts alone decide it, so that `match` says all of it."""
        return not self.always and all(
            not clause.negated and all(t.sure and t.fetch.carrier in ("path", "host") for t in clause.tests)
            for clauses in self.alternatives
            for clause in clauses
        )

    def match(self, priority: int = 0) -> Match:
        """The requests it takes, as far as path, host and header names can say (never too narrow)."""
        paths: list[tuple[str, str]] = []
        hosts: list[str] = []
        any_path = any_host = False
        for clauses in self.alternatives:
            here = [p for c in clauses for p in _paths(c)]
            there = [h for c in clauses for h in _hosts(c)]
            paths += here
            hosts += there
            any_path, any_host = any_path or not here, any_host or not there
        headers = sorted({t.fetch.name.lower() for t in self.tests if t.fetch.carrier == "header"})
        return Match(
            () if any_path else tuple(dict.fromkeys(paths)),
            () if any_host else tuple(dict.fromkeys(hosts)),
            tuple(headers),
            priority,
        )


ALWAYS = Condition()


def _always(clause: Clause) -> bool:
    wanted = "never" if clause.negated else "always"
    check = all if clause.negated else any
    return bool(clause.tests) and check(t.fetch.carrier == wanted for t in clause.tests)


def _never(clause: Clause) -> bool:
    if clause.negated:
        return any(t.fetch.carrier == "always" for t in clause.tests)
    return all(t.fetch.carrier == "never" or _not_get(t) for t in clause.tests)


def _not_get(test: Test) -> bool:
    return test.fetch.carrier == "method" and test.sure and not {"GET", "get"} & set(test.values)


def _paths(clause: Clause) -> list[tuple[str, str]]:
    if clause.negated or not all(t.sure and t.values and t.fetch.carrier == "path" for t in clause.tests):
        return []
    return [_path(t.method, value) for t in clause.tests for value in t.values]


def _path(method: str, value: str) -> tuple[str, str]:
    if method == "beg":
        return "prefix", value
    if method == "str":
        return "exact", value
    quoted = re.escape(value)
    shapes = {"reg": value, "end": f".*{quoted}$", "dir": f"(.*/)?{quoted.strip('/')}(/.*)?$"}
    return "regex", shapes.get(method, f".*{quoted}")


def _hosts(clause: Clause) -> list[str]:
    tests = clause.tests
    if clause.negated or not all(t.sure and t.values and t.fetch.carrier == "host" for t in tests):
        return []
    if any(t.method not in ("str", "dom", "end") for t in tests):
        return []
    return [value if t.method == "str" else "*" + value for t in tests for value in t.values]


def fetch_of(expression: str, variables: Mapping[str, str] | None = None) -> Fetch:
    """What a sample expression (`req.hdr(Mcp-Session-Id),field(1,.)`, `path_beg`) looks at; a variable looks at what
    `variables` says that it is set from."""
    found = _FETCH.match(expression.strip())
    if not found:
        return Fetch("other")
    name, argument = found["name"], (found["argument"] or "").split(",")[0].strip()
    base, method = _base(name.removeprefix("req.").removeprefix("res."))
    carrier = _CARRIERS.get(base, "other")
    if carrier == "header" and argument.lower() == "host":
        carrier, argument = "host", ""
    if carrier == "var" and variables and argument in variables:
        return replace(fetch_of(variables[argument]), method=method)
    return Fetch(carrier, argument, method)


def _base(name: str) -> tuple[str, str]:
    """`path_beg` is `path` compared by beginnings; `hdr_val` is a header compared as a number."""
    head, _, ending = name.rpartition("_")
    if head and ending in _ENDINGS:
        return head, ending
    if head and ending in ("val", "cnt", "ip"):
        return head, "int" if ending == "val" else ending
    return name, "str"


@lru_cache(maxsize=65536)
def condition(line: Line, section: Section) -> Condition:
    """The condition of a rule (`... if COND`, `... unless COND`), with the ACLs that `section` defines or inherits."""
    words = line.arguments
    for index, word in enumerate(words):
        if word.known and word.text in ("if", "unless"):
            parsed = Condition(tuple(_alternatives(words[index + 1 :], section)))
            return parsed if word.text == "if" else _not(parsed)
    return ALWAYS


def _not(positive: Condition) -> Condition:
    """The opposite; exact for a single alternative, else "depends on all that was named"."""
    if len(positive.alternatives) == 1:
        clauses = positive.alternatives[0]
        return Condition(tuple((replace(c, negated=not c.negated),) for c in clauses))
    every = tuple(t for t in positive.tests)
    return Condition(((Clause(every, negated=True),),))


def _alternatives(words: Sequence[Word], section: Section) -> Iterator[tuple[Clause, ...]]:
    clauses: list[Clause] = []
    negated = False
    position = 0
    while position < len(words):
        word = words[position]
        position += 1
        if word.text in ("or", "||"):
            yield tuple(clauses)
            clauses, negated = [], False
        elif word.text == "!":
            negated = not negated
        elif word.text in ("{", "!{"):
            end = next((i for i in range(position, len(words)) if words[i].text == "}"), len(words))
            clauses.append(Clause((_test(words[position:end], section),), negated != (word.text == "!{")))
            position, negated = end + 1, False
        else:
            name = word.text.lstrip("!")
            flips = (len(word.text) - len(name)) % 2 == 1
            clauses.append(Clause(_named(name, word.known, section), negated != flips))
            negated = False
    yield tuple(clauses)


def _named(name: str, known: bool, section: Section) -> tuple[Test, ...]:
    tests = tuple(_test(line.arguments[1:], section) for line in section.acl(name))
    if tests and known:
        return tests
    if name in _PREDEFINED:
        return (Test(Fetch(_PREDEFINED[name]), "found", ()),)
    if name.startswith("METH_"):
        return (Test(Fetch("method"), "str", (name[5:],)),)
    return (Test(Fetch("other"), "found", (), sure=False),)


def _test(words: Sequence[Word], section: Section) -> Test:
    """One ACL criterion: the expression, flags, and the values."""
    if not words:
        return Test(Fetch("other"), "found", (), sure=False)
    fetch = fetch_of(words[0].text, section.variables) if words[0].known else Fetch("other")
    if fetch.carrier == "other" and words[0].text in ("always_true", "always_false"):
        fetch = Fetch("always" if words[0].text == "always_true" else "never")
    method, sure = fetch.method, words[0].known
    rest = list(words[1:])
    while rest and rest[0].text.startswith("-") and len(rest[0].text) <= 2:
        flag = rest.pop(0).text
        if flag == "--":
            break
        if flag == "-m" and rest:
            method = rest.pop(0).text
        elif flag in ("-f", "-M", "-u") and rest:
            rest.pop(0)
            sure = sure and flag == "-u"
    values = tuple(w.text for w in rest if w.known)
    return Test(fetch, method if method in _MATCHERS else "str", values, sure and all(w.known for w in rest))
