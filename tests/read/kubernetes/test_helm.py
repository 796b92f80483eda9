"""Helm charts: what templates say with the values beside them, and what stays unknown."""

from __future__ import annotations

from textwrap import dedent

import pytest

from sselint.facts import Pool, Rolling, Strength
from sselint.read.kubernetes.helm import functions
from sselint.read.kubernetes.helm.values import Unknown
from tests.read.texts import numbers, only_pool, only_route, reading_of, workers

CHART = "apiVersion: v2\nname: feed\nversion: 1.2.3\nappVersion: '9.1'\n"

HELPERS = """\
{{- define "feed.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- define "feed.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride }}
{{- else }}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if contains $name .Release.Name }}
{{- .Release.Name }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}
{{- define "feed.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{ include "feed.selectorLabels" . }}
{{- end }}
{{- define "feed.selectorLabels" -}}
app.kubernetes.io/name: {{ include "feed.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
"""

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "feed.fullname" . }}
  labels:
    {{- include "feed.labels" . | nindent 4 }}
spec:
  {{- if not .Values.autoscaling.enabled }}
  replicas: {{ .Values.replicaCount }}
  {{- end }}
  {{- with .Values.strategy }}
  strategy:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  selector:
    matchLabels:
      {{- include "feed.selectorLabels" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "feed.labels" . | nindent 8 }}
    spec:
      containers:
        - name: {{ .Chart.Name }}
          image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
          command: ["uvicorn", "app:app", "--workers", "{{ .Values.workers }}"]
          env:
            - name: MODE
              value: {{ .Values.mode | quote }}
            {{- range $name, $value := .Values.extra }}
            - name: {{ $name }}
              value: {{ $value | quote }}
            {{- end }}
"""

HPA = """\
{{- if .Values.autoscaling.enabled }}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ include "feed.fullname" . }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ include "feed.fullname" . }}
  minReplicas: {{ .Values.autoscaling.minReplicas }}
  maxReplicas: {{ .Values.autoscaling.maxReplicas }}
{{- end }}
"""

SERVICE = """\
apiVersion: v1
kind: Service
metadata:
  name: {{ include "feed.fullname" . }}
spec:
  {{- with .Values.service.sessionAffinity }}
  sessionAffinity: {{ . }}
  {{- end }}
  selector:
    {{- include "feed.selectorLabels" . | nindent 4 }}
  ports:
    - port: {{ .Values.service.port }}
"""

VALUES = """\
replicaCount: 3
image:
  repository: registry.test/feed
workers: 2
mode: memory
extra:
  B: "1"
  A: two
autoscaling:
  enabled: false
  minReplicas: 2
  maxReplicas: 6
service:
  port: 80
"""


def chart(values: str = VALUES, folder: str = "", **templates: str) -> dict[str, str]:
    """A chart of the usual shape; `templates` add to it or replace parts of it."""
    files = {"deployment": DEPLOYMENT, "hpa": HPA, **templates}
    return {
        f"{folder}Chart.yaml": CHART,
        f"{folder}values.yaml": values,
        f"{folder}templates/_helpers.tpl": HELPERS,
        **{f"{folder}templates/{name}.yaml": text for name, text in files.items()},
    }


def deployed(change: str = "", to: str = "", **templates: str) -> Pool:
    """The Deployment of the chart with something changed in its values."""
    assert change in VALUES
    return only_pool(chart(VALUES.replace(change, to) if change else VALUES, **templates))


def test_values_settle_what_the_template_asks() -> None:
    pool = deployed()
    assert (pool.name, numbers(pool.processes)) == ("Deployment release-feed", (3, 3))
    assert (pool.image, pool.starts, workers(pool)) == ("registry.test/feed:9.1", "app:app", (2, 2))
    assert {s.name: s.value for s in pool.environment} == {"MODE": "memory", "A": "two", "B": "1"}
    assert pool.settles_environment


def test_places_are_the_templates_and_the_values() -> None:
    pool = deployed()
    assert (pool.path, pool.line) == ("templates/deployment.yaml", 2)
    assert [(s.path, s.line) for s in pool.evidence] == [
        ("templates/deployment.yaml", 9),
        ("values.yaml", 1),
        ("templates/deployment.yaml", 2),
    ]


@pytest.mark.parametrize(
    ("change", "to", "expected"),
    [
        ("replicaCount: 3", "replicaCount: 1", (1, 1)),
        ("enabled: false", "enabled: true", (2, 6)),
        ("replicaCount: 3\n", "", (1, 1)),
    ],
)
def test_how_many_pods(change: str, to: str, expected: tuple[int, int | None]) -> None:
    """A number that no values file has is not printed, and then the default of the API holds."""
    assert numbers(deployed(change, to).processes) == expected


def test_a_mapping_is_printed_where_with_asks() -> None:
    assert deployed().rolling is Rolling.SURGE_DEFAULT
    assert deployed("workers: 2", "workers: 2\nstrategy: {type: Recreate}").rolling is Rolling.REPLACED


def test_selectors_meet_labels_through_helpers() -> None:
    route = only_route(chart(service=SERVICE))
    assert (numbers(route.members), route.affinity.row) == ((3, 3), "kubernetes/none")
    sticky = only_route(chart(VALUES.replace("port: 80", "port: 80\n  sessionAffinity: ClientIP"), service=SERVICE))
    assert sticky.affinity.row == "kubernetes/client_ip"


def test_other_values_files_are_alternatives() -> None:
    files = {
        **chart(folder="deploy/feed/"),
        "deploy/feed/values-prod.yaml": "replicaCount: 5\nworkers: 4\n",
        "deploy/feed/values-same.yaml": "unused: true\n",
        "deploy/feed/values.schema.json": "{}",
        "deploy/feed/values/stage.yaml": "replicaCount: 2\n",
        "deploy/feed/ci/lint-values.yaml": "replicaCount: 8\n",
    }
    found = {p.variant: (numbers(p.processes), workers(p)) for p in reading_of(files).pools}
    assert found == {
        "deploy/feed (values.yaml)": ((3, 3), (2, 2)),
        "deploy/feed (values-prod.yaml)": ((5, 5), (4, 4)),
        "deploy/feed (stage.yaml)": ((2, 2), (2, 2)),
    }


def test_what_an_overlay_leaves_alone_keeps_its_place() -> None:
    files = {**chart(), "values-prod.yaml": "workers: 4\n"}
    prod = next(p for p in reading_of(files).pools if "prod" in p.variant)
    assert ("values.yaml", 1) in {(s.path, s.line) for s in prod.evidence}


def test_a_map_of_servers_is_a_deployment_each() -> None:
    template = """\
        {{- range $name, $server := .Values.servers }}
        {{- if $server.enabled }}
        ---
        apiVersion: apps/v1
        kind: Deployment
        metadata:
          name: {{ $name }}
        spec:
          replicas: {{ $server.replicas | default $.Values.replicaCount }}
          template:
            metadata:
              labels: {app: {{ $name }}}
            spec:
              containers:
                - name: {{ $name }}
                  image: {{ printf "%s:%v" $server.image (default "latest" $server.tag) }}
        {{- end }}
        {{- end }}
        """
    servers = dedent(
        """\
        servers:
          a: {enabled: true, replicas: 2, image: x}
          b: {enabled: false, replicas: 9, image: y}
          c: {enabled: true, image: z, tag: 4}
        """
    )
    files = chart(VALUES + servers, deployment=dedent(template))
    found = {p.name: (numbers(p.processes), p.image) for p in reading_of(files).pools}
    assert found == {"Deployment a": ((2, 2), "x:latest"), "Deployment c": ((3, 3), "z:4")}


# -- subcharts ---------------------------------------------------------------------------------------------------------


def test_a_subchart_is_given_what_its_parent_says() -> None:
    child = {f"charts/api/{path}": text for path, text in chart(VALUES).items()}
    child["charts/api/Chart.yaml"] = "apiVersion: v2\nname: api\nversion: 1.0.0\n"
    files = {**chart(VALUES + "api:\n  replicaCount: 7\n"), **child}
    found = {p.path.split("templates")[0]: numbers(p.processes) for p in reading_of(files).pools}
    assert found == {"": (3, 3), "charts/api/": (7, 7)}
    off = {
        **files,
        "Chart.yaml": CHART + "dependencies: [{name: api, condition: api.enabled}]\n",
        "values.yaml": VALUES + "api:\n  enabled: false\n",
    }
    assert [p.path.split("templates")[0] for p in reading_of(off).pools] == [""]


def test_a_local_dependency_stands_once_for_each_alias() -> None:
    parent = "apiVersion: v2\nname: shop\nversion: 1.0.0\ndependencies:\n"
    for alias in ("api", "feed"):
        parent += f"- {{name: feed, alias: {alias}, repository: 'file://../base', condition: {alias}.enabled}}\n"
    files = {
        **chart(folder="charts/base/"),
        "charts/shop/Chart.yaml": parent,
        "charts/shop/values.yaml": "api: {replicaCount: 7}\nfeed: {replicaCount: 4, enabled: true}\n",
    }
    assert sorted(numbers(p.processes) or () for p in reading_of(files).pools) == [(4, 4), (7, 7)]
    off = {**files, "charts/shop/values.yaml": "api: {enabled: false}\nfeed: {replicaCount: 4}\n"}
    assert [numbers(p.processes) for p in reading_of(off).pools] == [(4, 4)]


def test_charts_that_depend_on_each_other_end() -> None:
    def depends(name: str, other: str) -> str:
        return f"apiVersion: v2\nname: {name}\nversion: 1.0.0\ndependencies: [{{name: {other}, repository: 'file://../{other}'}}]\n"

    reading_of(
        {
            **chart(folder="a/"),
            **chart(folder="b/"),
            "a/Chart.yaml": depends("a", "b"),
            "b/Chart.yaml": depends("b", "a"),
        }
    )


# -- what is not known -------------------------------------------------------------------------------------------------


def test_a_library_that_is_not_in_the_tree_leaves_names_comparable() -> None:
    helper = '{{ include "common.names.fullname" . }}'
    labels = '{{- include "common.labels.matchLabels" . | nindent 4 }}'
    template = DEPLOYMENT.replace('{{ include "feed.fullname" . }}', helper)
    template = template.replace('{{- include "feed.labels" . | nindent 8 }}', labels.replace("4", "8"))
    service = SERVICE.replace('{{- include "feed.selectorLabels" . | nindent 4 }}', labels)
    hpa = HPA.replace('{{ include "feed.fullname" . }}', helper)
    files = chart(VALUES.replace("enabled: false", "enabled: true"), deployment=template, service=service, hpa=hpa)
    reading = reading_of(files)
    assert [numbers(p.processes) for p in reading.pools] == [(2, 6)]
    assert [numbers(r.members) for r in reading.routes] == [(2, 6)]


@pytest.mark.parametrize(
    "replicas",
    [
        '{{ include "library.replicas" . }}',
        '{{ .Files.Get "count.txt" }}',
        "{{ randNumeric 1 }}",
        "{{ .Values.replicaCount | someFunction }}",
        '{{ if .Capabilities.APIVersions.Has "x/v1" }}3{{ else }}1{{ end }}',
    ],
)
def test_a_number_that_nobody_knows_is_unknown(replicas: str) -> None:
    pool = deployed(deployment=DEPLOYMENT.replace("{{ .Values.replicaCount }}", replicas))
    assert numbers(pool.processes) == (1, None)


def test_an_unknown_condition_prints_every_branch_and_believes_none() -> None:
    text = DEPLOYMENT.replace(
        "  replicas: {{ .Values.replicaCount }}\n",
        '  {{- if .Capabilities.APIVersions.Has "x/v1" }}\n  replicas: 5\n  {{- else }}\n  replicas: 1\n  {{- end }}\n',
    )
    assert numbers(deployed(deployment=text).processes) == (1, None)


def test_an_affinity_that_nobody_knows_is_unknown() -> None:
    text = SERVICE.replace("sessionAffinity: {{ . }}", 'sessionAffinity: {{ include "library.affinity" . }}')
    files = chart(VALUES.replace("port: 80", "port: 80\n  sessionAffinity: x"), service=text)
    assert only_route(files).affinity.strength is Strength.UNKNOWN


def test_a_template_that_cannot_be_followed_is_read_as_it_stands() -> None:
    """`{{ ! }}` is no pipeline. The Deployment is there, and its number is not known."""
    text = DEPLOYMENT.replace("  selector:\n", "  {{ .x ! }}\n  selector:\n")
    pool = deployed(deployment=text)
    assert (numbers(pool.processes), pool.line, pool.image) == ((1, None), 2, None)


def test_a_template_that_refuses_the_values_is_no_crash() -> None:
    text = '{{- if lt (int .Values.replicaCount) 9 }}{{ fail "too few" }}{{ end }}\n' + DEPLOYMENT
    pool = deployed(deployment=text)
    assert (numbers(pool.processes), pool.image) == ((1, None), None)


@pytest.mark.parametrize(
    "helper",
    [
        '{{- define "feed.name" }}{{ include "feed.name" . }}{{ end }}',
        '{{- define "feed.name" }}{{ range until 100000 }}{{ range until 100000 }}x{{ end }}{{ end }}{{ end }}',
        '{{- define "feed.name" }}{{ tpl .Values.loop . }}{{ end }}',
    ],
)
def test_templates_that_never_end_are_ended(helper: str) -> None:
    files = chart(VALUES + "loop: '{{ tpl .Values.loop . }}'\n")
    files["templates/_helpers.tpl"] = HELPERS + helper
    (pool,) = reading_of(files).pools
    assert pool.image is None


@pytest.mark.parametrize(
    "action",
    [
        '$x = printf "%s%s" $x $x',
        "$x = concat (list $x) (list $x)",
        "$x = list $x $x",
        "$x = toString (list $x $x)",
        '$x = replace "a" (repeat 900 "a") $x',
        '$x = join $x (list "a" "b" "c")',
    ],
)
def test_values_that_double_are_ended(action: str) -> None:
    """In a few steps each of these is larger than any memory."""
    growing = '{{ $x := "aaaaaaaaaa" }}{{ range until 45 }}{{ ACTION }}{{ end }}{{ toYaml $x }}'
    files = chart()
    files["templates/_helpers.tpl"] = (
        HELPERS + '{{- define "feed.name" }}' + growing.replace("ACTION", action) + "{{ end }}"
    )
    (pool,) = reading_of(files).pools
    assert pool.image is None


def test_a_number_beyond_those_of_go_is_unknown() -> None:
    assert functions.call("mul", (2**40, 2**40)) == Unknown("mul")
    assert functions.call("mul", (2**30, 2**30)) == 2**60


def test_nothing_outside_the_chart_is_read() -> None:
    files = chart(
        deployment=DEPLOYMENT.replace("{{ .Values.replicaCount }}", '{{ .Files.Get "../secret" }}'), folder="c/"
    )
    assert numbers(only_pool({**files, "secret": "7"}).processes) == (1, None)
    inside = chart(deployment=DEPLOYMENT.replace("{{ .Values.replicaCount }}", '{{ .Files.Get "n.txt" }}'), folder="c/")
    assert numbers(only_pool({**inside, "c/n.txt": "7"}).processes) == (7, 7)


def test_hooks_of_helm_test_are_no_deployment() -> None:
    files = chart()
    files["templates/tests/ping.yaml"] = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: t}\nspec: {containers: [{name: t}]}\n"
    )
    assert [p.name for p in reading_of(files).pools] == ["Deployment release-feed"]
