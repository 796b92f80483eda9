"""The guard before libcst: what it measures, that it never fails, and that its limits keep the real libcst alive."""

from __future__ import annotations

import io
import resource
import signal
import subprocess
import sys
import sysconfig
import time
import tokenize
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sselint.read.python.source.scan import LIMITS, MAX_BYTES, measure, refusal

DEPTH, CHAIN, PATTERN = (limit for limit, _ in LIMITS[:3])

# -- the limits, on the real libcst

NESTED: dict[str, Callable[[int], str]] = {
    "parentheses": lambda n: "(" * n + "1" + ")" * n,
    "lists": lambda n: "[" * n + "]" * n,
    "dicts": lambda n: "{1:" * n + "1" + "}" * n,
    "calls": lambda n: "f(a=" * n + "1" + ")" * n,
    "subscripts": lambda n: "a[" * n + "1" + "]" * n,
    "ternaries": lambda n: "(1 if a else " * n + "1" + ")" * n,
    "comprehensions": lambda n: "[x for x in " * n + "1" + "]" * n,
    "f-strings": lambda n: "f'''{" * n + "1" + "}'''" * n,
}
CHAINED: dict[str, Callable[[int], str]] = {
    "sum": lambda n: "1" + "+1" * n,
    "power": lambda n: "1" + "**1" * n,
    "not": lambda n: "not " * n + "1",
    "minus": lambda n: "-" * n + "1",
    "or": lambda n: "1" + " or 1" * n,
    "attributes": lambda n: "a" + ".b" * n,
    "calls": lambda n: "a" + "()" * n,
    "lambdas": lambda n: "lambda a, b: " * n + "1",
    "ternaries": lambda n: "1 if a else " * n + "1",
    "strings": lambda n: "x = " + "'a' " * (n + 1),
    "elif": lambda n: "if a: pass\n" + "elif a:\n    b = 1\n    c = 2\n" * n,
    "continued lines": lambda n: "a = 1" + " + \\\n1" * n,
}
ALL_AT_ONCE = "x = " + "(1 + " * (CHAIN // 5) + "-" * (CHAIN // 2) + "1" + ")" * (CHAIN // 5)

PARSE = "import sys, libcst; [libcst.parse_module(s) for s in sys.stdin.read().split(chr(0))]"
STACK = 8 * 1024 * 1024


def parsed_by_libcst(*sources: str) -> int:
    """The exit status of a process that parses the sources on the usual stack; negative: the signal that killed it."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    usual = STACK if hard == resource.RLIM_INFINITY else min(STACK, hard)
    return subprocess.run(
        [sys.executable, "-c", PARSE],
        input="\0".join(sources).encode(),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (usual, hard)),
        timeout=100,
        check=False,
    ).returncode


def test_files_just_under_the_limits_are_parsed() -> None:
    """Every shape at once in one process, so that the stack that one leaves behind would hit the next."""
    shapes = [shape(DEPTH) for shape in NESTED.values()] + [CHAINED[k](CHAIN) for k in ("not", "or", "strings", "elif")]
    shapes += [shape(CHAIN // 3) for shape in CHAINED.values()] + [ALL_AT_ONCE]
    assert [refusal(s.encode()) for s in shapes] == [None] * len(shapes)
    assert parsed_by_libcst(*shapes) == 0


def test_nesting_that_kills_libcst_is_refused_before() -> None:
    deadly = "x = " + "[" * 1500 + "]" * 1500
    assert parsed_by_libcst(deadly) == -signal.SIGSEGV, "libcst has learnt to survive this: lift the limit"
    assert refusal(deadly.encode()) == "line 1: brackets nest deeper than 200"


def test_branches_that_kill_libcst_are_refused_before() -> None:
    deadly = CHAINED["elif"](20_000)
    assert parsed_by_libcst(deadly) == -signal.SIGSEGV, "libcst has learnt to survive this: lift the limit"
    assert refusal(deadly.encode()) == "line 3002: a statement chains more than 1,000 operations"


def test_case_patterns_are_parsed_in_time_up_to_their_limit() -> None:
    """A level of a mapping pattern costs 4.5 times the one above: 12 levels take longer than anybody waits."""
    shape = "match x:\n    case {}: pass\n"
    begin = time.monotonic()
    assert parsed_by_libcst(shape.format('{"a":' * PATTERN + "a" + "}" * PATTERN)) == 0
    assert time.monotonic() - begin < 20
    deep = shape.format('{"a":' * 12 + "a" + "}" * 12).encode()
    assert refusal(deep) == "line 2: a `case` pattern nests deeper than 8 brackets"


def test_brackets_that_are_no_pattern_have_the_ordinary_limit() -> None:
    """A subject, a guard, the body on the same line, and a name that only begins like the word."""
    deep = "[" * 20 + "]" * 20
    for text in (f"match {deep}:\n  case 1: pass\n", f"match x:\n  case 1 if {deep}: pass\n"):
        assert refusal(text.encode()) is None
    for text in (f"match x:\n  case 1: y = {deep}\n", f"cases({deep})\n", f"x = 1\nmatch({deep})\n"):
        assert refusal(text.encode()) is None


@pytest.mark.parametrize("shape", NESTED.values(), ids=NESTED)
def test_one_bracket_more_is_refused(shape: Callable[[int], str]) -> None:
    assert refusal(shape(DEPTH).encode()) is None
    assert refusal(f"a = 1\n{shape(DEPTH + 1)}".encode()) == "line 2: brackets nest deeper than 200"


@pytest.mark.parametrize("shape", CHAINED.values(), ids=CHAINED)
def test_the_chain_of_every_shape_is_counted(shape: Callable[[int], str]) -> None:
    assert CHAIN - 100 <= measure(shape(CHAIN).encode()).chain <= 2 * CHAIN
    assert "chains more than 1,000" in str(refusal(shape(CHAIN + 1).encode()))


def test_chains_nested_in_brackets_add_up() -> None:
    """100 brackets with 100 `not` in each are 10,000 nested expressions, and no single chain is long."""
    text = "x = " + ("(" + "not " * 100) * 100 + "1" + ")" * 100
    assert "chains more than 1,000" in str(refusal(text.encode()))


SIDE_BY_SIDE = {
    "elements": "x = [" + "-1, not 1, 'a' 'b', f(1).a,\n" * 3000 + "]",
    "dict entries": "x = {" + "'a': -1,\n" * 3000 + "}",
    "dict of lambdas": "x = {" + "'a': lambda a, b: a + b,\n" * 1000 + "}",
    "statements": "x = 1 + 1\n" * 3000,
    "statements on a line": "x = 1 + 1;" * 3000,
    "fields of an f-string": "x = f'" + "{a}" * 2000 + "'",
    "assignments": "a = " * 2000 + "1",
    "arguments": "f(" + "a = 1 + 1, " * 2000 + ")",
    "branches of separate statements": "if a: pass\nelif b: pass\nelse: pass\nx = 1\n" * 900,
    "branches in functions": "def f():\n    if a: pass\n    elif b: pass\n" * 900,
}


@pytest.mark.parametrize("text", SIDE_BY_SIDE.values(), ids=SIDE_BY_SIDE)
def test_what_stands_side_by_side_is_no_chain(text: str) -> None:
    assert measure(text.encode()).chain <= 10
    assert refusal(text.encode()) is None


def test_a_comma_inside_lambda_or_for_separates_nothing() -> None:
    assert measure(("lambda a, b: " * 50 + "1").encode()).chain >= 50
    assert measure(("[x " + "for a, b in y " * 50 + "]").encode()).chain >= 50


def test_a_file_over_the_byte_budget_is_refused_with_both_numbers() -> None:
    assert refusal(b"#" * MAX_BYTES) is None
    assert refusal(b"#" * (MAX_BYTES + 1)) == "2,097,153 bytes, the limit is 2,097,152"


def test_a_table_that_would_take_libcst_minutes_is_refused() -> None:
    """20,000 numbers, 190 brackets deep, took it 19 s, and 90,000 of them in nested lists 23 s; the same numbers in a
    flat list, and inspect.py, are fine."""
    assert "longer than 10 s" in str(refusal(b"x = " + b"[" * 190 + b"1," * 20_000 + b"]" * 190))
    assert refusal(b"x = [" + b"1," * 20_000 + b"]") is None
    assert refusal((Path(sysconfig.get_path("stdlib")) / "inspect.py").read_bytes()) is None


# -- strings and comments

OPEN = "(" * 500
SILENT = {
    "string": f"x = '{OPEN}'",
    "double": f'x = "{OPEN}"',
    "docstring": f'"""\n{OPEN}\n\'\'\' " {OPEN}\n"""',
    "triple single": f"x = '''{OPEN}\n\\''' {OPEN}'''",
    "bytes": f"x = b'{OPEN}'",
    "raw": f"x = r'{OPEN}\\'{OPEN}'",
    "raw bytes": f"x = Rb'''{OPEN}'''",
    "unicode": f"x = u'{OPEN}'",
    "escaped quote": f"x = '\\'{OPEN}'",
    "escaped line end": f"x = '\\\n{OPEN}'",
    "escaped line end of two": f"x = '\\\r\n{OPEN}'",
    "f-string text": f"x = f'{OPEN}{{a}}{OPEN}'",
    "f-string doubled": "x = f'" + "{{" * 500 + "'",
    "f-string named character": "x = f'" + "\\N{LEFT PARENTHESIS}" * 500 + OPEN + "'",
    "f-string escaped quote": f"x = f'\\'{OPEN}'",
    "f-string specification": f"x = f'{{a:{OPEN}}}{OPEN}'",
    "f-string after nested quotes": f"x = f'{{a[\"b\"]}}{OPEN}'",
    "raw f-string": f"x = rf'\\{{a}}{OPEN}'",
    "comment": f"x = 1 # ' {OPEN}",
    "comment in brackets": f"x = [ # ' {OPEN}\n1]",
    "comment with a quote before code": f"# don't\nx = '{OPEN}'",
    "no f-string after if": "x = [a if'" + "{" * 500 + "'else b]",
}


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_brackets_in_text_and_comments_do_not_count(text: str) -> None:
    compile(text, "case", "exec")
    assert measure(text.encode()).depth <= 2


COUNTED = {
    "after a string": "x = 'a' + ((1))",
    "after an escaped backslash": "x = '\\\\' + ((1))",
    "in a replacement field": "x = f'{(1)}'",
    "in a specification": "x = f'{a:{b}}'",
    "after a raw string with a backslash": "x = r'\\\\' + ((1))",
    "after an empty triple string": "x = '''''' + ((1))",
    "after a comment": "x = 1 # '\nx = ((1))",
    "in a field of a raw f-string": "x = rf'\\{(1)}'",
    "in a field after doubled braces": "x = f'{{{(1)}}}'",
    "with a conversion": "x = f'{a!r:{b}}'",
    "with a lambda in a field": "x = f'{(lambda: 1)}'",
}


@pytest.mark.parametrize("text", COUNTED.values(), ids=COUNTED)
def test_brackets_of_code_count(text: str) -> None:
    compile(text, "case", "exec")
    assert measure(text.encode()).depth == 2


@pytest.mark.skipif(sys.version_info < (3, 12), reason="quotes of the string itself inside its fields are new in 3.12")
def test_fields_may_use_the_quotes_of_their_string() -> None:
    text = "x = f'{a['b']}{f'{(1)}'}' + ((((1))))"
    compile(text, "case", "exec")
    assert measure(text.encode()).depth == 4


# -- agreement with the standard library, and no input that fails


def depth_by_tokenize(data: bytes) -> tuple[int, bool]:
    """The bracket depth by the standard tokenizer, and whether that is all: before 3.12 f-strings are opaque to it."""
    depth = deepest = 0
    whole = True
    for token in tokenize.tokenize(io.BytesIO(data).readline):
        if token.type == tokenize.OP and token.string in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif token.type == tokenize.OP and token.string in ")]}":
            depth -= 1
        elif token.type == tokenize.STRING:
            whole = whole and "f" not in token.string[: token.string.index(token.string[-1])].lower()
    return deepest, whole


STDLIB = sorted(p for p in Path(sysconfig.get_path("stdlib")).rglob("*.py") if "site-packages" not in p.parts)
SAMPLE = [p for p in STDLIB if p.stat().st_size < 200_000][::20]


def test_depth_agrees_with_tokenize_on_the_standard_library() -> None:
    compared = 0
    for path in SAMPLE:
        data = path.read_bytes()
        try:
            expected, whole = depth_by_tokenize(data)
        except (SyntaxError, tokenize.TokenError):
            continue
        found = measure(data).depth
        assert found == expected if whole else found >= expected, path
        compared += whole
    assert compared > 30


def test_ordinary_code_is_refused_nowhere() -> None:
    assert {p.name: why for p in SAMPLE if (why := refusal(p.read_bytes()))} == {}


ATOMS = st.sampled_from(["a", "1", "1.5", "'s('", '"""[\n"""', "b'{'", "r'\\('"])


def _wrap(inner: st.SearchStrategy[tuple[str, int]]) -> st.SearchStrategy[tuple[str, int]]:
    """One bracket, or one replacement field, around an expression whose depth is known."""
    shapes = st.sampled_from(["({})", "[{}]", "{{{}}}", "f({})", "a[{}]", "({}\n)", "[{} # (\n]"])
    wrapped = st.tuples(shapes, inner).map(lambda p: (p[0].format(p[1][0]), p[1][1] + 1))
    joined = st.tuples(inner, inner).map(lambda p: (f"({p[0][0]}, {p[1][0]})", 1 + max(p[0][1], p[1][1])))
    return wrapped | joined


EXPRESSIONS = st.recursive(ATOMS.map(lambda text: (text, 0)), _wrap, max_leaves=12)


@given(EXPRESSIONS)
@settings(max_examples=150, deadline=None)
def test_depth_of_generated_expressions(expression: tuple[str, int]) -> None:
    text, depth = expression
    compile(f"({text})", "generated", "eval")
    assert measure(text.encode()).depth == depth


@given(EXPRESSIONS.filter(lambda e: not set(e[0]) & set("'\"\\#\n")), st.sampled_from(["", "!r", ":>{w}", "="]))
@settings(max_examples=80, deadline=None)
def test_depth_of_generated_fields(expression: tuple[str, int], ending: str) -> None:
    text = f"f'(({{ ({expression[0]}) {ending}}}(('"
    compile(text, "generated", "eval")
    assert measure(text.encode()).depth == 2 + expression[1]


PIECES = [b"'", b'"', b"'''", b'"""', b"f", b"rf'", b"{", b"}", b"(", b")", b"\\", b"\n", b"\r", b"#", b":", b"N{"]
PIECES += [b"lambda ", b"case ", b"elif ", b"for ", b" in ", b",", b"\x00", b"\xff", b" ", b"!", b"=", b"f'''{"]


@given(st.binary(max_size=400) | st.lists(st.sampled_from(PIECES), max_size=120).map(b"".join))
@settings(max_examples=400, deadline=None)
def test_no_input_fails_and_a_refusal_agrees_with_the_measure(data: bytes) -> None:
    found = measure(data)
    values = (found.depth, found.chain, found.pattern, found.cost)
    over = any(value > limit for value, (limit, _) in zip(values, LIMITS, strict=True))
    assert (refusal(data) is not None) == over


HOSTILE = {
    "open quotes": b"'" * 300_001,
    "open f-strings": b"f'{" * 100_000,
    "open triple quotes": b"'''\\" * 100_000,
    "dots": b". " * 200_000,
    "backslashes": b"\\" * 400_001,
    "line ends": b"\n \t" * 200_000,
    "elif at every depth": b"".join(b"\n" + b" " * (i % 500) + b"elif a:" for i in range(3000)),
    "names": b"f" * 400_000,
    "named characters": b"f'" + b"\\N{" * 100_000,
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_time_is_linear_in_the_size(data: bytes) -> None:
    begin = time.process_time()
    measure(data)
    assert time.process_time() - begin < 3
