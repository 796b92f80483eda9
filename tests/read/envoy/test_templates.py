"""Envoy configurations that a template engine writes: what stands is read, what a tag touches is unknown."""

from __future__ import annotations

from sselint.facts import FileOutcome, Reading, Route, Strength
from tests.read.texts import reading_of

LISTENER = """\
- name: {name}
  address: {{socket_address: {{address: 0.0.0.0, port_value: 8080}}}}
  filter_chains:
  - filters:
    - name: envoy.filters.network.http_connection_manager
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
        route_config:
          virtual_hosts:
          - name: site
            domains: ["*"]
            routes:
            - match: {{prefix: /}}
              route: {{cluster: feed, timeout: {timeout}}}
"""
CLUSTERS = """\
  clusters:
  - name: feed
    type: STRICT_DNS
    lb_policy: ROUND_ROBIN
    load_assignment:
      cluster_name: feed
      endpoints:
      - lb_endpoints:
        - endpoint: {address: {socket_address: {address: feed, port_value: 80}}}
"""


def listener(name: str = "public", timeout: str = "0s") -> str:
    return LISTENER.format(name=name, timeout=timeout)


def indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.splitlines())


def reading(text: str, path: str = "envoy.yaml.j2") -> Reading:
    found = reading_of({path: text}, "envoy")
    assert {report.outcome for report in found.files} == {FileOutcome.ANALYSED}, found.files
    return found


def routes(text: str) -> dict[int, Route]:
    """The routes by the line of their match."""
    return {route.line: route for route in reading(text).routes}


def test_a_macro_before_the_document_is_a_document_of_its_own() -> None:
    text = (
        "# what follows is written out twice\n{% macro listener(port) -%}\n"
        + listener(timeout="{{ t }}")
        + "{%- endmacro %}\n\nstatic_resources:\n  listeners:\n  {{ listener(9300) | indent(2) }}\n"
        + CLUSTERS
    )
    found = routes(text)
    [line] = found
    assert text.splitlines()[line - 1].strip() == "- match: {prefix: /}"
    assert found[line].pool == "feed" and found[line].affinity.row == "envoy/round_robin"
    assert [o.code for o in found[line].observations] == ["SSE602"], "a timeout from a template is not known"


def test_what_is_included_first_does_not_hide_it() -> None:
    text = (
        "{% import 'helper.yaml' as helper -%}\n{% macro file() -%}{% include kwargs['file'] -%}{% endmacro -%}\n"
        + "{% macro listener(port) -%}\n" + listener() + "{%- endmacro %}\nstatic_resources:\n" + CLUSTERS
    )  # fmt: skip
    [found] = routes(text).values()
    assert found.pool == "feed"


def test_a_macro_behind_it_too() -> None:
    text = (
        "static_resources:\n  listeners:\n" + indented(listener()) + CLUSTERS
        + "{% macro other() %}\n" + listener("internal") + "{% endmacro %}\n"
    )  # fmt: skip
    assert len(routes(text)) == 2


def test_a_macro_in_the_middle_splits_nothing() -> None:
    text = (
        "static_resources:\n  listeners:\n" + indented(listener())
        + "{% macro note(x) %}\n  # {{ x }}\n{% endmacro %}\n" + CLUSTERS
    )  # fmt: skip
    [found] = routes(text).values()
    assert (found.members.low, found.affinity.row) == (1, "envoy/round_robin")


def test_a_dictionary_inside_a_tag() -> None:
    text = (
        "static_resources:\n  listeners:\n" + indented(listener())
        + CLUSTERS.replace("ROUND_ROBIN", "{{ options.get('feed', {'lb': {}}).lb }}")
        + "{% if tracing %}\n  # traced\n{% endif %}\n"
    )  # fmt: skip
    [found] = routes(text).values()
    assert found.affinity.strength is Strength.UNKNOWN and "template" in found.affinity.why


def test_endpoints_that_a_loop_writes() -> None:
    clusters = CLUSTERS.replace("        - endpoint", "{% for host in hosts %}\n        - endpoint")
    clusters = clusters.replace("address: feed", "address: {{ host }}") + "{% endfor %}\n"
    [found] = routes("static_resources:\n  listeners:\n" + indented(listener()) + clusters).values()
    assert (found.members.low, found.members.high) == (1, None)


def test_a_go_template() -> None:
    text = (
        "static_resources:\n  listeners:\n" + indented(listener(timeout="{{ .Values.timeout }}"))
        + CLUSTERS.replace("ROUND_ROBIN", "{{ .Values.policy | default \"MAGLEV\" }}")
    )  # fmt: skip
    [found] = routes(text).values()
    assert found.affinity.strength is Strength.UNKNOWN
    assert [o.code for o in found.observations] == ["SSE602"]


def test_inside_a_config_map() -> None:
    body = "static_resources:\n  listeners:\n" + indented(listener()) + CLUSTERS
    wrapped = "".join(f"    {line}\n" for line in body.splitlines())
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: edge\ndata:\n  envoy.yaml: |\n{wrapped}"
    [found] = reading(text, "edge.yaml").routes
    assert text.splitlines()[found.line - 1].strip() == "- match: {prefix: /}"
    assert found.affinity.evidence[0].line == 1 + next(
        n for n, line in enumerate(text.splitlines()) if "lb_policy" in line
    )


def test_variables_of_envsubst() -> None:
    text = "static_resources:\n  listeners:\n" + indented(listener()) + CLUSTERS.replace("ROUND_ROBIN", "${LB_POLICY}")
    [found] = reading(text, "envoy.yaml").routes
    assert found.affinity.strength is Strength.UNKNOWN
