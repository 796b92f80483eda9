"""YAML and JSON with positions: what the shared walk promises to the readers that stand on it."""

from __future__ import annotations

import json
import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sselint.read.yaml_nodes import (
    DEPTH_BUDGET,
    NODE_BUDGET,
    Node,
    UnreadableYamlError,
    documents,
    readable_documents,
)
from sselint.source import Source


def source(text: str, **more: object) -> Source:
    return Source("edge/envoy.yaml", text, "envoy", **more)  # type: ignore[arg-type]


def only(text: str, **more: object) -> Node:
    (document,) = documents(source(text, **more))
    return document


def problem(text: str) -> UnreadableYamlError:
    with pytest.raises(UnreadableYamlError) as caught:
        documents(source(text))
    return caught.value


def cut(text: str, node: Node) -> str:
    """The text at the node's span, which must be the node."""
    span = node.span()
    assert span.line == span.end_line
    return text.split("\n")[span.line - 1][span.column - 1 : span.end_column - 1]


# -- JSON --------------------------------------------------------------------------------------------------------------


def test_json_with_tabs_is_read() -> None:
    # PyYAML's own scanner refuses a tab before a key; the C loader and the JSON standard do not.
    document = only('{\n\t"name":\t"feed",\n\t"hosts": [\n\t\t"a",\t"b"\n\t]\n}\n')
    assert document.plain() == {"name": "feed", "hosts": ["a", "b"]}


def test_json_escapes_are_the_characters_that_they_stand_for() -> None:
    text = r'{"regex": "^\/a\\.b$", "name": "caf\u00e9 \"x\"", "tab": "a\tb"}'
    assert only(text).plain() == json.loads(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-999, 999) | st.text(string.printable + 'é漢😀\\"/', max_size=12),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(string.ascii_letters), inner, max_size=4),
        max_leaves=20,
    ),
    st.sampled_from([None, 2, "\t"]),
    st.booleans(),
)
def test_json_as_written_by_others_is_read_like_json(value: object, indent: int | str | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert [d.plain() for d in documents(source(text))] == [_as_text(value, "\ufffd\ufffd" if ascii_only else "😀")]


def test_escapes_of_two_code_units_keep_their_room() -> None:
    text = json.dumps({"a": "😀", "b": "x"}) + "\n"
    document = only(text)
    assert document["a"].text == "\ufffd\ufffd"
    assert cut(text, document["b"]) == '"x"'
    assert only(r'{"a": "\\ud83d"}')["a"].text == r"\ud83d"


def test_a_string_that_is_a_whole_document_of_json_keeps_its_room() -> None:
    assert only(json.dumps("😀") + "\n").text == "\ufffd\ufffd"


def test_what_yaml_takes_literally_is_left_alone() -> None:
    """The look-alike: the text begins with a string, and is no JSON."""
    assert only("\"a\": 'say \\ud83d'\n")["a"].text == r"say \ud83d"


def _as_text(value: object, smile: str) -> object:
    if isinstance(value, dict):
        return {k: _as_text(v, smile) for k, v in value.items()}
    if isinstance(value, list):
        return [_as_text(v, smile) for v in value]
    if isinstance(value, str):
        return value.replace("😀", smile)
    return value if value is None else json.dumps(value)


# -- positions ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_positions_are_those_of_an_editor(newline: str) -> None:
    text = newline.join(["# é", "clusters:", "  - name: feed  # 漢", '    type: "EDS"', ""])
    document = only(text)
    name = document["clusters"].raw.value[0]
    cluster = Node(document.source, name)
    assert cluster["name"].span().line == 3
    assert cut(text, cluster["name"]) == "feed"
    assert cut(text, cluster["type"]) == '"EDS"'
    assert cut(text, cluster.key("name")) == "name"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_line_of_a_key_ends_where_its_text_ends(newline: str) -> None:
    text = newline.join(["route:", "  timeout: 0s  ", "  cluster: feed", ""])
    span = only(text)["route"].key("timeout").line_span()
    assert (span.line, span.column, span.end_line, span.end_column) == (2, 3, 2, 14)


def test_a_block_collection_is_its_first_line() -> None:
    text = "a:\n  b: 1\n  c: 2\n"
    span = only(text)["a"].span()
    assert (span.line, span.end_line, span.end_column) == (2, 2, 7)


def test_positions_behind_characters_of_two_code_units() -> None:
    text = 'a: "😀😀"\nb: "x"\n'
    assert cut(text, only(text)["b"]) == '"x"'


def test_text_that_was_lifted_out_reports_the_lines_of_its_file() -> None:
    document = only("a: 1\nb: 2\n", origin=((10, 4), (11, 4)))
    span = document["b"].span()
    assert (span.line, span.column) == (12, 8)


# -- shapes ------------------------------------------------------------------------------------------------------------


def test_anchors_and_merge_keys_are_resolved_and_own_keys_win() -> None:
    document = only("base: &b {timeout: 0s, cluster: a}\nroute:\n  <<: *b\n  cluster: b\nlist:\n  <<: [*b, {x: 1}]\n")
    assert document["route"].plain() == {"timeout": "0s", "cluster": "b"}
    assert document["list"].plain() == {"timeout": "0s", "cluster": "a", "x": "1"}


def test_a_merged_value_is_reported_where_it_is_written() -> None:
    document = only("base: &b\n  timeout: 0s\nroute:\n  <<: *b\n")
    assert document["route"]["timeout"].span().line == 2


def test_a_quoted_merge_key_is_a_key() -> None:
    assert only('"<<": {a: 1}\n').plain() == {"<<": {"a": "1"}}


def test_several_documents() -> None:
    assert [d.plain() for d in documents(source("a: 1\n---\n---\n- b\n"))] == [{"a": "1"}, None, ["b"]]


def test_what_is_not_there_is_falsy_all_the_way_down() -> None:
    node = only("a: {b: c}\n")
    assert not node["x"]["y"].at("z")
    assert node["x"].text is None and list(node["x"]) == [] and node["x"].fields == {}
    assert node["a"]["b"]["c"].text is None


def test_a_value_that_a_template_touches_is_there_and_unknown() -> None:
    text = "strict: {{.x}}\nname: feed\n".replace("{{.x}}", "______")
    node = only(text, masked=((8, 14),))
    assert node["strict"].raw is not None and node["strict"].is_masked and node["strict"].text is None
    assert node["name"].text == "feed"


# -- hostile input -----------------------------------------------------------------------------------------------------


def test_an_alias_bomb_is_refused_at_once() -> None:
    names = string.ascii_lowercase
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n"
    for one, before in zip(names[1:12], names, strict=False):
        bomb += f"{one}: &{one} [{', '.join(['*' + before] * 9)}]\n"
    started = time.monotonic()
    assert "aliases" in str(problem(bomb))
    assert time.monotonic() - started < 1


def test_a_merge_bomb_is_refused() -> None:
    bomb = "m0: &m0 {a: 1}\n" + "".join(f"m{i}: &m{i} {{<<: [*m{i - 1}, *m{i - 1}]}}\n" for i in range(1, 40))
    assert "aliases" in str(problem(bomb))


def test_a_node_inside_itself_is_refused() -> None:
    assert "contains it" in str(problem("a: &a\n  b: *a\n"))


def test_a_large_file_without_aliases_is_not_a_bomb() -> None:
    text = "[" + ",\n".join(["[1, 2, 3]"] * (NODE_BUDGET // 3)) + "]"
    assert len(list(only(text))) == NODE_BUDGET // 3


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "{a: " * 5_000, "- " * 5_000, "".join(" " * i + "a:\n" for i in range(500)), "[" * 300 + "]" * 300],
    ids=["open brackets", "open braces", "dashes", "indentation", "balanced brackets"],
)
def test_deep_nesting_is_refused(text: str) -> None:
    assert str(problem(text))


def test_nesting_through_aliases_counts_too() -> None:
    chain = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, DEPTH_BUDGET + 2))
    assert "nested" in str(problem(chain))


def test_the_deepest_that_is_accepted_can_be_walked_recursively() -> None:
    assert only("[" * (DEPTH_BUDGET - 1) + "]" * (DEPTH_BUDGET - 1)).plain()


@pytest.mark.parametrize(
    ("text", "line"),
    [("a: 1\nb: c: d\n", 2), ("a: 1\n\tb: 2\n", 2), ("a: *nobody\n", 1), ("a: 1\nb: '\n", 3), ("a: 1\nb: \x00\n", 2)],
)
def test_what_is_not_yaml_says_where(text: str, line: int) -> None:
    trouble = problem(text)
    assert trouble.span.line == line
    assert "\n" not in str(trouble)


@given(st.text(alphabet=st.characters(codec=None), max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        nodes = documents(source(text))
    except UnreadableYamlError as trouble:
        assert 1 <= trouble.span.line <= text.count("\n") + 2
        return
    for node in nodes:
        assert node.span().line >= 1
        node.plain()


# -- documents beside a broken one ------------------------------------------------------------------------------------

GOOD = "kind: Deployment\nname: {}\n"
BROKEN = (
    "a: [1, 2\n",
    "a: 'open\n",
    "a: {b: c\n",
    "\ta: b\n",
    "a: b: c\n",
    "- a\nb: c\n",
    "a: *nowhere\n",
    "a: &a [*a]\n",
    "a: \x07\n",
)


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_broken_document_loses_no_other(broken: str, at: int) -> None:
    texts = [GOOD.format("a"), GOOD.format("b")]
    texts.insert(at, broken)
    text = "---\n".join(texts)
    found, problem = readable_documents(source(text))
    assert [node["name"].text for node in found] == ["a", "b"]
    assert [cut(text, node["name"]) for node in found] == ["a", "b"]
    assert problem is not None
    first = text[: text.index(broken)].count("\n") + 1
    # What is missing is noticed where the next document begins.
    assert first <= problem.span.line <= first + broken.count("\n")
    with pytest.raises(UnreadableYamlError):
        documents(source(text))


def test_several_broken_documents_and_no_end_of_them() -> None:
    found, problem = readable_documents(source("---\n".join([BROKEN[0], GOOD.format("a"), BROKEN[1], BROKEN[4]])))
    assert [node["name"].text for node in found] == ["a"]
    assert problem is not None
    found, problem = readable_documents(source("---\n".join([BROKEN[0]] * 1000)))
    assert found == ()
    assert problem is not None


def test_documents_that_are_whole_have_no_problem() -> None:
    """Dashes inside a text are no border of documents."""
    text = "a: |\n  ---\n  x: [\nb: '\n  ---'\n---\nb: 1\n"
    found, problem = readable_documents(source(text))
    assert problem is None
    assert len(found) == 2


def test_a_place_behind_breaks_that_only_yaml_knows() -> None:
    """YAML 1.1 ends lines at U+0085 and U+2028 too, editors do not: the place is that of an editor."""
    assert problem("# a\u2028# b\u0085# c\na: b: c\n").span.line == 2
