"""The tokenizer against crossplane and against texts that are hard to cut into words."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

import crossplane
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sselint.read.nginx import parser
from sselint.read.nginx.parser import DEPTH_BUDGET, Directive, parse, unescape
from sselint.source import Source
from tests.premises.nginx_setups import SETUPS
from tests.premises.test_nginx import text_of

TESTS = Path(__file__).parents[2]
OWN_FILES = sorted([*TESTS.glob("**/nginx*.conf"), *(TESTS.parent / "sample_configs").glob("**/nginx*.conf")])

Tree = list[tuple[str, tuple[str, ...], int, "Tree | None"]]


def source(text: str) -> Source:
    return Source("nginx.conf", text, "nginx")


def ours(text: str) -> Tree:
    """Directives as (name, arguments, line, block); a Lua body is an argument, as crossplane has it."""

    def tree(block: tuple[Directive, ...]) -> Tree:
        return [(d.name, _arguments(d), d.span().line, None if d.block is None else tree(d.block)) for d in block]

    parsed = parse(source(text))
    assert not parsed.problems, parsed.problems
    return tree(parsed.directives)


def _arguments(directive: Directive) -> tuple[str, ...]:
    """As crossplane words them: it takes the parentheses off the condition of an `if`."""
    arguments = directive.args
    if directive.name == "if" and arguments and arguments[0].startswith("(") and arguments[-1].endswith(")"):
        arguments = (arguments[0][1:], *arguments[1:]) if len(arguments) > 1 else (arguments[0][1:],)
        arguments = tuple(a for a in (*arguments[:-1], arguments[-1][:-1]) if a)
    return arguments if directive.body is None else (*arguments, directive.body)


def crossplanes(text: str) -> Tree:
    """What crossplane finds. It leaves escapes as they are but for those of the quotes around a word."""

    def tree(block: list[dict[str, Any]]) -> Tree:
        return [
            (
                d["directive"],
                tuple(a if "_by_lua" in d["directive"] else unescape(a) for a in d["args"]),
                d["line"],
                tree(d["block"]) if "block" in d else None,
            )
            for d in block
            if d["directive"] != "#"
        ]

    with tempfile.NamedTemporaryFile("w", suffix=".conf", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        payload = crossplane.parse(
            file.name, single=True, comments=False, strict=False, check_ctx=False, check_args=False
        )
    assert payload["status"] == "ok", payload["errors"]
    return tree(payload["config"][0]["parsed"])


def test_there_are_files_to_compare() -> None:
    assert len(OWN_FILES) >= 4


@pytest.mark.parametrize("path", OWN_FILES, ids=lambda path: str(path.relative_to(TESTS.parent)))
def test_agrees_with_crossplane_on_our_files(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert ours(text) == crossplanes(text)


@pytest.mark.parametrize("name", SETUPS)
def test_agrees_with_crossplane_on_what_a_real_nginx_runs(name: str) -> None:
    text = text_of(SETUPS[name])
    assert ours(text) == crossplanes(text)


HARD = {
    "semicolon in quotes": "log_format main \"a;b{c}\" ';';",
    "brace in a variable": 'set $a "${http_x}y"; set $b ${http_x}z;',
    "comment between words": "server # the { first ;\n  { # }\n listen 80; }",
    "quote in the middle of a word": "set $a b'c; set $d e\"f;",
    "hash in a word": "location /a#b { return 200; }",
    "hash in quotes": 'add_header X "#not a comment";',
    "regular expression with braces": r'location ~ "^/[a-z]{2,3}/(?<n>\d{4})$" { return 200; }',
    "escaped blank": r"root /srv/a\ b;",
    "escaped semicolon": r"return 200 a\;b;",
    "words over lines": "proxy_set_header\n  X-A\n  b;",
    "crlf": "server {\r\n  listen 80;\r\n}\r\n",
    "empty quotes": "map $a $b { '' x; \"\" y; default ''; }",
    "block without blanks": "http{server{listen 80;}}",
    "closing brace in a word": 'if ($a ~ "}") { return 403; }',
    "json in quotes": 'log_format j escape=json \'{"a":"$b", "c": {"d":"$e"}}\';',
    "not ascii": "server_name bücher.example; # größer\nadd_header X 'ü€';",
    "lua": "content_by_lua_block { local t = { a = 1 } -- } \n ngx.say('}') }",
}


@pytest.mark.parametrize("name", HARD)
def test_agrees_with_crossplane_on_hard_words(name: str) -> None:
    assert ours(HARD[name]) == crossplanes(HARD[name])


def test_lua_has_long_strings_and_long_comments_that_crossplane_does_not_know() -> None:
    text = "access_by_lua_block { local s = [[ } ]] --[==[ } ]] ]==] }\nserver { listen 80; }"
    [lua, server] = parse(source(text)).directives
    assert lua.body == " local s = [[ } ]] --[==[ } ]] ]==] "
    assert server.span().line == 2


# -- generated configurations


NAMES = st.from_regex(r"[a-z][a-z_]{0,12}", fullmatch=True).filter(lambda name: name != "if")
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=12)
BLANKS = st.sampled_from([" ", "  ", "\t", "\n", "\r\n", " \n# a { comment ; }\n "])


@st.composite
def rendered(
    draw: st.DrawFn, words_of: st.SearchStrategy[str] = WORDS, depth: int = 0
) -> tuple[str, list[tuple[str, tuple[str, ...], Any]]]:
    """A text, and the directives that it was made of."""
    text, made = "", []
    for _ in range(draw(st.integers(0, 3))):
        name, words = draw(NAMES), draw(st.lists(words_of, max_size=3))
        text += draw(BLANKS) + name
        for word in words:
            text += draw(BLANKS) + quoted(word, draw(st.sampled_from("\"'")))
        if depth < 3 and draw(st.booleans()):
            inner, block = draw(rendered(words_of, depth + 1))
            text += draw(BLANKS) + "{" + inner + draw(BLANKS) + "}"
            made.append((name, tuple(words), block))
        else:
            text += ";"
            made.append((name, tuple(words), None))
    return text, made


def quoted(word: str, quote: str) -> str:
    return quote + word.replace("\\", "\\\\").replace(quote, "\\" + quote) + quote


@settings(max_examples=150, deadline=None)
@given(rendered())
def test_generated_configurations_come_back_as_they_were_made(made: tuple[str, list[Any]]) -> None:
    text, wanted = made
    assert _without_lines(ours(text)) == wanted


def _without_lines(tree: Tree) -> list[Any]:
    return [(name, words, None if block is None else _without_lines(block)) for name, words, _, block in tree]


@settings(max_examples=60, deadline=None)
@given(rendered(WORDS.filter(lambda word: not set(word) & set("\\\"'"))))
def test_agrees_with_crossplane_on_generated_configurations(made: tuple[str, list[Any]]) -> None:
    """Without escapes, which crossplane leaves half undone."""
    assert ours(made[0]) == crossplanes(made[0])


# -- whatever comes in


SEEDS = [text_of(setup) for setup in SETUPS.values()] + list(HARD.values())
PIECES = [
    "{",
    "}",
    ";",
    '"',
    "'",
    "\\",
    "#",
    "$",
    "${",
    "\n",
    "\r",
    "\0",
    "\ufeff",
    "include x;",
    "by_lua_block {",
    "[[",
    "--",
]


@pytest.mark.parametrize("seed", range(20))
def test_mutated_texts_never_raise_and_keep_their_places(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(50):
        text = chance.choice(SEEDS)
        for _ in range(chance.randint(1, 6)):
            at = chance.randint(0, len(text))
            text = text[:at] + chance.choice(PIECES) + text[at + chance.randint(0, 30) :]
        parsed = parse(source(text))
        for directive in _all(parsed.directives):
            assert 0 <= directive.start <= directive.end <= len(text)
        for problem in parsed.problems:
            assert 1 <= problem.span.line <= text.count("\n") + 1


@given(st.text(max_size=200))
@settings(max_examples=150, deadline=None)
def test_any_text_never_raises(text: str) -> None:
    parse(source(text))


def _all(block: tuple[Directive, ...]) -> list[Directive]:
    return [inner for d in block for inner in (d, *_all(d.block or ()))]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("server { listen 80;", 'the block "server" is never closed'),
        ("listen 80", "the file ends in the middle of a directive"),
        ("}", 'unexpected "}"'),
        (";", 'unexpected ";"'),
        ("{ listen 80; }", 'unexpected "{"'),
        ('set $a "b;', "a quote is opened and never closed"),
        ("content_by_lua_block { if x then", 'the Lua of "content_by_lua_block" is never closed'),
    ],
)
def test_what_nginx_would_refuse_is_named(text: str, why: str) -> None:
    assert why in " ".join(problem.why for problem in parse(source(text)).problems)


def test_nesting_and_length_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    deep = parse(source("a {" * 100_000))
    assert f"deeper than {DEPTH_BUDGET}" in deep.problems[0].why
    monkeypatch.setattr(parser, "DIRECTIVE_BUDGET", 1_000)
    long = parse(source("a b;" * 1_010))
    assert "more than 1000 directives" in long.problems[0].why
    assert len(long.directives) == 1_000
