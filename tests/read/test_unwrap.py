"""Templates masked and texts lifted: true places, unknown values, and nothing rendered."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sselint.find import kind_of
from sselint.read.yaml_nodes import documents
from sselint.source import Source
from sselint.unwrap import sources
from sselint.unwrap.masking import mask
from sselint.unwrap.tags import tags
from tests.read.texts import only_route, reading_of, sources_of

NGINX = "upstream app {\n  server a:80;\n}\nserver {\n  location / {\n    proxy_pass http://app;\n  }\n}\n"
HAPROXY = "defaults\n  mode http\nfrontend f\n  bind :80\n  default_backend b\nbackend b\n  server a a:80\n"


def only(path: str, text: str) -> Source:
    (found,) = sources(path, dedent(text), ".", kind_of)
    return found


def masked_texts(source: Source) -> list[str]:
    """What stood in the masked places."""
    original = source.original or source.text
    return [original[a:b] for a, b in source.masked]


# -- tags --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        ("{{ x }}", "output"),
        ("{{- x -}}", "output"),
        ("{# note #}{% if a %}{% elif b %}{% else %}{% endif %}", "nothing condition other_branch other_branch close"),
        ("{% for s in servers %}{{ s }}{% endfor %}", "loop output close"),
        ("{% set n = 3 %}{% set n %}x{% endset %}", "nothing definition close"),
        ("{% macro m() %}{% endmacro %}{% include 'x' %}", "definition close output"),
        ("{% raw %}{{ not a tag }}{% endraw %}", "nothing nothing"),
        ("{{/* note }} */}}", "nothing"),
        ("{{- if .a }}{{ else if .b }}{{ else }}{{ end }}", "condition other_branch other_branch close"),
        ("{{ range $i, $x := .xs }}{{ $x }}{{ end }}", "loop output close"),
        ('{{ with .a }}{{ end }}{{ define "x" }}{{ end }}', "condition close definition close"),
        ("{{ $a := 1 }}{{ $a = 2 }}", "nothing nothing"),
        ("{{ `{{ $labels.pod }}` }}", "output"),
        ('{{ printf "}}" }}', "output"),
        ("<% servers.each do |s| -%><%= s %><% end %>", "loop output close"),
        ("<% if a %><% else %><% end %><%# note %>", "condition other_branch close nothing"),
        # In Jinja2 these are variables; only Go has statements between double braces.
        ("{{ if }}{{ end_of_line }}{{ range }}", "output output output"),
        # No tags: Lua tables, nested flow mappings, an opening that nothing closes, `{#` outside Jinja2.
        ("local t = {{1, 2}, {3}}", ""),
        ("{a: {b: {}}}", ""),
        ("{{ never closed", ""),
        ("${#list} {# }", ""),
    ],
)
def test_tags(text: str, roles: str) -> None:
    assert [t.role.value for t in tags(text)] == roles.split()


# -- masking -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "a {{ b }} c\n{% if x %}\nd\n{% endif %}\n",
        "{{- range .x }}\r\n- {{ . }}\r\n{{- end }}\r\n",
        "{{ a\n  | b }}\nc: d\n",
    ],
)
def test_length_and_lines_stay(text: str) -> None:
    masked = mask(text)
    assert len(masked.text) == len(text)
    assert [i for i, c in enumerate(masked.text) if c in "\r\n"] == [i for i, c in enumerate(text) if c in "\r\n"]


def test_a_text_without_tags_is_itself() -> None:
    masked = mask(NGINX)
    assert masked.text is NGINX
    assert (masked.masked, masked.loops, masked.optional) == ((), (), ())


def test_what_is_repeated_and_what_is_optional() -> None:
    text = "{% for s in servers %}\nserver {{ s }};\n{% endfor %}\n{% if x %}\nzone z 64k;\n{% endif %}\nkeepalive 2;\n"
    source = Source("x", mask(text).text, "", loops=mask(text).loops, optional=mask(text).optional)
    where = {word: text.index(word) for word in ("server {{", "zone", "keepalive")}
    assert [source.in_loop(o) for o in where.values()] == [True, False, False]
    assert [source.is_optional(o) for o in where.values()] == [False, True, False]


def test_a_condition_inside_a_value_makes_it_unknown() -> None:
    text = "apiVersion: apps/v1\nkind: Deployment\nspec:\n  replicas: {% if ha %}3{% else %}1{% endif %}\n"
    source = only("d.yaml.j2", text)
    (document,) = documents(source)
    assert document.at("spec", "replicas").is_masked
    assert document.at("spec", "replicas").number is None


def test_a_condition_around_whole_lines_leaves_them_readable() -> None:
    text = "backend b\n  balance roundrobin\n  {% if drain %}option redispatch{% endif %}\n  server a a:80\n"
    source = only("lb.cfg.j2", text)
    assert "option redispatch" in source.text
    assert source.is_optional(source.text.index("option"))
    assert source.masked == ()


def test_branches_that_say_different_things_are_unknown() -> None:
    text = """\
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: web}
        spec:
        {% if ha %}
          replicas: 3
        {% else %}
          replicas: 1
        {% endif %}
          template:
            spec:
              containers: [{name: web, image: shop/web}]
        """
    (pool,) = reading_of({"d.yaml": dedent(text)}).pools
    assert (pool.processes.low, pool.processes.high) == (1, None)


# -- shapes in YAML ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "tag",
    ["{{ toYaml .Values.x | nindent 4 }}", "{{- toYaml .Values.x | nindent 4 }}", "{{ some_variable | indent(4) }}"],
)
@pytest.mark.parametrize(
    ("body", "path", "keys"),
    [
        # the only thing under a key
        ("spec:\n  a:\n    {}\n  b: 1\n", ("spec",), ["a", "b"]),
        # one field among others, first, in the middle and last
        ("spec:\n  a:\n    {}\n    k: 1\n  b: 1\n", ("spec", "a"), ["k"]),
        ("spec:\n  a:\n    k: 1\n    {}\n    l: 2\n  b: 1\n", ("spec", "a"), ["k", "l"]),
        ("spec:\n  a:\n    k: 1\n    {}\n  b: 1\n", ("spec", "a"), ["k"]),
        # fields of an item that begins with a dash
        ("spec:\n  a:\n  - k: 1\n    {}\n  b: 1\n", ("spec",), ["a", "b"]),
        # at the margin, indented by the filter alone
        ("spec:\n  a:\n    k: 1\n{}\n  b: 1\n", ("spec", "a"), ["k"]),
    ],
)
def test_lone_tags_keep_yaml(tag: str, body: str, path: tuple[str, ...], keys: list[str]) -> None:
    source = only("d.yaml", "apiVersion: v1\nkind: X\n" + body.replace("{}", tag))
    (document,) = documents(source)
    fields = [k for k, _ in document.at(*path).items() if not document.at(*path).key(k).is_masked]
    assert fields == keys
    assert tag in masked_texts(source)


def test_lone_tags_in_a_sequence_are_items() -> None:
    source = only("d.yaml", "apiVersion: v1\nkind: X\nxs:\n  - a\n  {{ more }}\n  - b\n")
    (document,) = documents(source)
    assert [item.text for item in document["xs"]] == ["a", None, "b"]
    assert [item.is_masked for item in document["xs"]] == [False, True, False]


def test_a_tag_in_a_block_scalar_does_not_end_it() -> None:
    text = "apiVersion: v1\nkind: ConfigMap\ndata:\n  a: |\n    x\n{{ y | indent 4 }}\n    z\n  b: c\n"
    (document,) = documents(only("c.yaml", text))
    assert [k for k, _ in document["data"].items()] == ["a", "b"]


# -- lifting -----------------------------------------------------------------------------------------------------------


def indented(text: str, width: int) -> str:
    return "".join(" " * width + line for line in text.splitlines(keepends=True))


@pytest.mark.parametrize(
    ("path", "head", "width", "tail"),
    [
        ("cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: edge}\ndata:\n  edge.conf: |\n", 4, ""),
        ("cm.yaml", "apiVersion: v1\nkind: ConfigMap\ndata:\n  a: b\n  edge.conf: |-\n", 6, "  z: y\n"),
        ("values.yaml", "edge:\n  enabled: true\n  config: |  # text\n", 4, "replicas: 2\n"),
        ("values.yaml", "files:\n  - name: edge.conf\n    content: |+\n", 6, "  - name: x\n"),
        ("values.yaml", "files:\n  - |\n", 4, ""),
        ("values.yaml", "files:\n- edge.conf: |2\n", 4, ""),
        ("group_vars/all.yml", '"edge.conf": |\n', 2, ""),
        ("cloud.yaml", "write_files:\n- path: /etc/nginx/nginx.conf\n  content: |\n", 4, ""),
        ("values.yaml", "a:\n    edge: !!str |\n", 8, ""),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    ("kind", "config", "place"), [("nginx", NGINX, "server a:80"), ("haproxy", HAPROXY, "server a a:80")]
)
def test_configuration_in_a_block_scalar(
    path: str, head: str, width: int, tail: str, kind: str, config: str, place: str
) -> None:
    text = head + indented(config, width) + tail
    (found,) = [s for s in sources_of({path: text}) if s.kind == kind]
    assert found.text.strip() == config.strip() or "|2" in head
    offset = found.text.index(place)
    line, column = found.place(offset)
    assert text.splitlines()[line - 1][column - 1 :].startswith(place)


def test_tags_in_lifted_text_are_masked_there() -> None:
    text = dedent(
        """\
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: {{ include "x.fullname" . }}
        data:
          nginx.conf: |
            upstream app {
              {{- range .Values.servers }}
              server {{ .host }}:80;
              {{- end }}
            }
            server { location / { proxy_pass http://app; } }
        """
    )
    route = only_route({"templates/cm.yaml": text}, "nginx")
    assert (route.members.low, route.members.high) == (1, None)
    assert route.path == "templates/cm.yaml"
    assert {s.line for s in route.evidence} & {7, 12}


def test_folded_text_and_prose_are_not_lifted() -> None:
    assert sources_of({"values.yaml": "a: >\n" + indented(NGINX, 2)}) == ()
    assert sources_of({"values.yaml": "notes: |\n  server a is fast\n  location matters\n"}) == ()
    assert sources_of({"ci.yml": "steps:\n  - run: |\n      docker run nginx\n      curl http://localhost\n"}) == ()


def test_a_manifest_keeps_its_own_kind() -> None:
    text = "apiVersion: v1\nkind: ConfigMap\ndata:\n  nginx.conf: |\n" + indented(NGINX, 4)
    assert [s.kind for s in sources_of({"cm.yaml": text})] == ["kubernetes", "nginx"]


# -- envsubst ----------------------------------------------------------------------------------------------------------


def test_what_envsubst_writes_into_nginx() -> None:
    text = NGINX.replace("server a:80", "server ${HOST}:$PORT").replace("http://app", "http://app$request_uri")
    source = only("default.conf.template", text)
    assert masked_texts(source) == ["${HOST}", "$PORT"]


def test_an_upper_case_variable_of_nginx_is_its_own() -> None:
    text = "map $uri $POOL {\n  default app;\n}\n" + NGINX.replace("http://app", "http://$POOL")
    assert only("nginx.conf", text).masked == ()


# -- hostile text ------------------------------------------------------------------------------------------------------


PIECES = st.sampled_from(
    [
        "{{",
        "}}",
        "{%",
        "%}",
        "{#",
        "#}",
        "<%",
        "%>",
        "{{- ",
        " -}}",
        "if x",
        "range .x",
        "end",
        "endif",
        "else",
        "raw",
        "'",
        '"',
        "`",
        "\n",
        "  ",
        "- ",
        "a: ",
        "k: |\n",
        "apiVersion: v1\nkind: X\n",
        "\r\n",
        "x",
        "{",
        "}",
        "|",
        ">",
        "server a:80;",
        "upstream u {\n",
        "backend b\n",
        "\t",
        "\xe9",
        "\u2028",
        "---\n",
    ]
)


@settings(max_examples=300, deadline=None)
@example("{% if x %}" * 300)
@example("{{" * 5000)
@example("a: |\n" * 50)
@given(st.lists(PIECES, max_size=30).map("".join))
def test_no_text_raises_and_places_stay_inside(text: str) -> None:
    for source in sources("values.yaml", text, ".", kind_of):
        if source.origin is None:
            assert len(source.text) == len(text)
        lines = text.count("\n") + 1
        assert all(1 <= source.place(o)[0] <= lines for o in range(len(source.text)))


def test_many_tags_take_linear_time() -> None:
    """Each tag is looked at a bounded number of times: doubling the text doubles the time, with room for noise."""
    import time

    def seconds(count: int) -> float:
        text = "apiVersion: v1\nkind: X\nspec:\n" + "  a: {% if x %}{{ y }}{% endif %}\n  {{ lone }}\n" * count
        best = []
        for _ in range(3):
            begun = time.process_time()
            sources("d.yaml", text, ".", kind_of)
            best.append(time.process_time() - begun)
        return min(best)

    assert seconds(2000) < 8 * max(seconds(500), 0.005)
