"""The language of Helm templates: its functions, what stays unknown in it, and damaged text that raises nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sselint.read.kubernetes.helm import functions
from sselint.read.kubernetes.helm.syntax import TemplateError, parse
from sselint.read.kubernetes.helm.values import Unknown
from tests.read.kubernetes.test_helm import VALUES, chart
from tests.read.texts import reading_of

# -- the language ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "value"),
    [
        (("default", 3, None), 3),
        (("default", 3, 0), 3),
        (("default", 3, 5), 5),
        (("ternary", "a", "b", True), "a"),
        (("and", 1, 0, 2), 0),
        (("or", 0, "", "x"), "x"),
        (("not", []), True),
        (("eq", "a", "b", "a"), True),
        (("eq", 1, True), False),
        (("ne", 1, 2), True),
        (("coalesce", None, "", "x"), "x"),
        (("printf", "%s-%d%%", "a", 3), "a-3%"),
        (("quote", 'a"b'), '"a\\"b"'),
        (("nindent", 2, "a\nb"), "\n  a\n  b"),
        (("trunc", 3, "abcdef"), "abc"),
        (("trunc", -3, "abcdef"), "def"),
        (("trimSuffix", "-", "a-"), "a"),
        (("int", "3"), 3),
        (("int", "x"), 0),
        (("add", 1, "2", 3), 6),
        (("max", 1, 5, 2), 5),
        (("toYaml", {"b": [1, "x"], "a": True}), "a: true\nb:\n- 1\n- x"),
        (("toYaml", "x"), "x"),
        (("fromYaml", "a: [1, 2]"), {"a": [1, 2]}),
        (("dig", "a", "b", 7, {"a": {"b": 1}}), 1),
        (("dig", "a", "c", 7, {"a": {"b": 1}}), 7),
        (("merge", {"a": 1}, {"a": 2, "b": 3}), {"a": 1, "b": 3}),
        (("mergeOverwrite", {"a": 1}, {"a": 2, "b": 3}), {"a": 2, "b": 3}),
        (("hasKey", {"a": None}, "a"), True),
        (("kindIs", "map", {}), True),
        (("kindIs", "slice", {}), False),
        (("semverCompare", ">=1.19-0", "v1.33.0"), True),
        (("semverCompare", "<1.19-0", "v1.33.0"), False),
        (("index", {"a": [1, 2]}, "a", 1), 2),
        (("lookup", "v1", "Secret", "", ""), {}),
    ],
)
def test_functions(call: tuple[object, ...], value: object) -> None:
    """As text/template and Sprig define them."""
    name, *arguments = call
    assert functions.call(str(name), arguments) == value


@pytest.mark.parametrize(
    ("call", "known"),
    [
        (("default", 3, Unknown("x")), False),
        (("and", Unknown("x"), 0), True),
        (("or", 1, Unknown("x")), True),
        (("or", 0, Unknown("x")), False),
        (("eq", 1, Unknown("x")), False),
        (("int", Unknown("x")), False),
        (("nothing_of_that_name", 1), False),
        (("int", [1]), False),
    ],
)
def test_what_is_unknown_stays_so(call: tuple[object, ...], known: bool) -> None:
    name, *arguments = call
    assert isinstance(functions.call(str(name), arguments), Unknown) is not known


@pytest.mark.parametrize(
    "text",
    [
        "{{ if }}",
        "{{ if .a }}",
        "{{ end }}",
        "{{ else }}",
        "{{ ( .a }}",
        "{{ .a | }}",
        "{{ define x }}{{ end }}",
        "{{ | }}",
    ],
)
def test_what_is_no_template(text: str) -> None:
    """`{{ if }}` is a function call to text/template, and an error there as well."""
    try:
        parse(text)
    except TemplateError:
        return
    assert text == "{{ if }}"


PIECES = st.sampled_from(
    [
        "{{ if .Values.a }}",
        "{{ end }}",
        "{{ else }}",
        "{{ range .Values.list }}",
        "{{ with .Values.map }}",
        "{{ .Values.a }}",
        "{{ toYaml .Values | nindent 4 }}",
        "{{ $x := 1 }}",
        "{{ $x = 2 }}",
        "{{ $x }}",
        '{{ include "feed.name" . }}',
        '{{ include "no" . }}',
        "{{-",
        "-}}",
        "{{ index .Values.list 9 }}",
        '{{ tpl "{{.}}" . }}',
        "a:",
        "- ",
        "|",
        "{{",
        "}}",
        "{{ nosuch 1 }}",
        "{{ range $i, $v := .Values.map }}",
        "{{ break }}",
        '{{ template "feed.name" . }}',
        "{{ int .Values.map }}",
        "replicas: ",
        "{{ (.a).b }}",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=12))
def test_damaged_templates_raise_nothing(pieces: list[str]) -> None:
    text = "\n".join(f"  {piece}" for piece in pieces)
    values = VALUES + "a: 1\nlist: [1, {b: c}]\nmap: {x: 1, y: [2]}\n"
    reading_of(chart(values, extra=f"apiVersion: v1\nkind: X\nmetadata:\n{text}\n"))


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="repliacCount: 3\n{}[]&*'\"#|>-!", max_size=60))
def test_damaged_values_raise_nothing(text: str) -> None:
    reading_of(chart(text))
    reading_of({**chart(), "values-x.yaml": text})
