"""Compose projects and Swarm stacks: how many containers, by which names, and which files are alternatives."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sselint.facts import Rolling, Truth
from sselint.find import kind_of
from tests.read.texts import numbers, only_pool, pools_of, reading_of, workers


def service(body: str, rest: str = "") -> dict[str, str]:
    indented = "".join(f"    {line}\n" for line in dedent(body).strip().splitlines())
    return {"compose.yaml": f"services:\n  web:\n    image: shop/web:1\n{indented}{rest}"}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("ports: ['80:80']", (1, 1)),
        ("deploy:\n  replicas: 3", (3, 3)),
        ("deploy: {replicas: '3'}", (3, 3)),
        ("scale: 2", (2, 2)),
        ("deploy:\n  mode: global", (1, None)),
        ("deploy:\n  replicas: ${N:-3}", (3, 3)),
        ("deploy:\n  replicas: ${N}", (1, None)),
        # A limit on resources or a restart policy scales nothing.
        ("deploy:\n  resources: {limits: {cpus: '4'}}\n  restart_policy: {max_attempts: 5}", (1, 1)),
        ("labels: {replicas: '4'}", (1, 1)),
    ],
)
def test_how_many_containers(body: str, expected: tuple[int, int | None]) -> None:
    assert numbers(only_pool(service(body)).processes) == expected


def test_a_variable_of_the_project_is_known() -> None:
    files = {**service("deploy:\n  replicas: ${N:-1}"), ".env": "# size\nexport N='4'\n"}
    assert numbers(only_pool(files).processes) == (4, 4)


@pytest.mark.parametrize(
    ("body", "starts", "expected"),
    [
        ("command: uvicorn app:app --workers 4", "app:app", (4, 4)),
        ("command: ['uvicorn', 'app:app', '--workers', '4']", "app:app", (4, 4)),
        ("command: sh -c 'uvicorn app:app --workers $$WORKERS'\nenvironment: [WORKERS=3]", "app:app", (3, 3)),
        ("command: uvicorn app:app --workers ${WORKERS:-2}", "app:app", (2, 2)),
        ("command: uvicorn app:app\nenvironment:\n  WEB_CONCURRENCY: 5", "app:app", (5, 5)),
        ("entrypoint: gunicorn\ncommand: -w 2 app:app", "app:app", (2, 2)),
        ("command: >\n  gunicorn\n  -w 2\n  app:app", "app:app", (2, 2)),
        # compose runs no shell of its own: `&&` is a word.
        ("command: uvicorn app:app && gunicorn -w 9 app:app", "app:app", (1, 1)),
        ("environment: [WEB_CONCURRENCY=5]", None, (1, 1)),
    ],
)
def test_what_a_container_starts(body: str, starts: str | None, expected: tuple[int, int | None]) -> None:
    pool = only_pool(service(body))
    assert (pool.starts, workers(pool)) == (starts, expected)


def test_the_names_that_reach_it() -> None:
    pool = only_pool(service("container_name: shop-web\nnetworks:\n  back:\n    aliases: [feed]"))
    assert pool.addresses == {"web", "shop-web", "feed"}
    assert pool.answers == "each", "a compose name resolves to every container"


def test_a_swarm_service_answers_with_one_address() -> None:
    body = "deploy:\n  replicas: 3\n  update_config: {order: start-first}"
    pool = only_pool(service(body))
    assert (pool.answers, pool.rolling) == ("one", Rolling.SURGE_WRITTEN)
    assert "tasks.web" in pool.addresses
    each = only_pool(service("deploy:\n  replicas: 3\n  mode: replicated\n  endpoint_mode: dnsrr"))
    assert (each.answers, each.rolling) == ("each", Rolling.REPLACED)


def test_numbered_services_are_pools_of_their_own() -> None:
    text = (
        "x-node: &node\n  image: shop/web:1\nservices:\n  web1: *node\n  web2:\n    <<: *node\n    ports: ['81:80']\n"
    )
    found = pools_of({"docker-compose.yml": text})
    assert {name: (p.image, numbers(p.processes)) for name, p in found.items()} == {
        "service web1": ("shop/web:1", (1, 1)),
        "service web2": ("shop/web:1", (1, 1)),
    }


def test_extends_takes_over_what_is_not_said() -> None:
    files = {
        "compose.yaml": "services:\n  web:\n    extends: {file: base/common.yaml, service: app}\n    scale: 2\n",
        "base/common.yaml": "services:\n  app:\n    image: shop/app:1\n    command: uvicorn app:app --workers 3\n",
    }
    pool = pools_of(files)["service web"]
    assert (numbers(pool.processes), workers(pool), pool.image) == ((2, 2), (3, 3), "shop/app:1")


def test_an_override_is_part_of_the_project() -> None:
    files = {
        "compose.yaml": "services:\n  web:\n    build: ./api\n    command: uvicorn app:app\n",
        "compose.override.yaml": "services:\n  web:\n    deploy: {replicas: 3}\n",
    }
    pool = only_pool(files)
    assert (numbers(pool.processes), pool.variant, pool.build_context) == ((3, 3), "", "api")


def test_another_file_is_an_alternative() -> None:
    files = {
        "docker-compose.yml": "services:\n  web:\n    build: .\n",
        "docker-compose.prod.yml": "services:\n  web:\n    deploy: {replicas: 3}\n",
    }
    pools = reading_of(files).pools
    assert {p.variant: numbers(p.processes) for p in pools} == {
        "docker-compose.yml": (1, 1),
        "docker-compose.prod.yml": (3, 3),
    }


def test_a_profile_is_a_variant() -> None:
    text = "services:\n  web:\n    image: a\n  dev:\n    image: a\n    profiles: [dev, debug]\n"
    assert {p.name: p.variant for p in reading_of({"compose.yaml": text}).pools} == {
        "service web": "",
        "service dev": "compose.yaml (profile dev, debug)",
    }


def test_projects_that_share_no_service_stand_side_by_side() -> None:
    files = {
        "compose.yaml": "services:\n  web:\n    image: a\n",
        "monitoring.yaml": "services:\n  grafana:\n    image: b\n",
    }
    assert {p.variant for p in reading_of(files).pools} == {""}


def test_the_environment_is_settled_where_it_is_all_there() -> None:
    files = {**service("env_file: web.env\nenvironment:\n  A: b"), "web.env": "B=c\nURL=redis://cache\n"}
    pool = only_pool(files)
    assert {s.name: s.value for s in pool.environment} == {"A": "b", "B": "c", "URL": "redis://cache"}
    assert pool.settles_environment
    assert not only_pool(service("env_file: secret.env")).settles_environment


@pytest.mark.parametrize(
    ("body", "mount", "shared"),
    [
        ("volumes: ['data:/data']", "/data", Truth.YES),
        ("volumes: ['./data:/data:ro']", "/data", Truth.YES),
        ("volumes: [/data]", "/data", Truth.NO),
        ("volumes:\n  - {type: volume, source: data, target: /data}", "/data", Truth.YES),
        ("tmpfs: /run", "/run", Truth.NO),
        ("volumes: ['data:/data']\ndeploy: {update_config: {parallelism: 1}}", "/data", Truth.UNKNOWN),
    ],
)
def test_volumes(body: str, mount: str, shared: Truth) -> None:
    (volume,) = only_pool(service(body)).volumes
    assert (volume.mount_path, volume.shared) == (mount, shared)


@pytest.mark.parametrize(
    ("entry", "source"),
    [
        ("./nginx.conf:/etc/nginx/nginx.conf:ro", "deploy/nginx.conf"),
        ("../conf:/etc/nginx/conf.d", "conf"),
        # A volume by name, and a path of the machine: neither is in the tree.
        ("data:/data", None),
        ("/etc/nginx:/etc/nginx", None),
    ],
)
def test_what_of_the_tree_is_mounted(entry: str, source: str | None) -> None:
    (volume,) = only_pool({"deploy/compose.yaml": service(f"volumes: ['{entry}']")["compose.yaml"]}).volumes
    assert volume.source == source


def test_places() -> None:
    pool = only_pool(service("deploy:\n  replicas: 3"))
    assert (pool.path, pool.line) == ("compose.yaml", 2)
    assert [(s.line, s.column) for s in pool.evidence] == [(2, 3), (5, 17)]


def test_a_service_that_a_template_repeats() -> None:
    text = "services:\n{% for n in range(count) %}\n  web{{ n }}:\n    image: shop/web:1\n{% endfor %}\n"
    text += "  cache:\n    image: redis\n"
    found = {p.image: numbers(p.processes) for p in reading_of({"docker-compose.yml.j2": text}).pools}
    assert found == {"shop/web:1": (1, None), "redis": (1, 1)}


def test_a_command_that_a_template_makes_is_not_the_images() -> None:
    files = {
        "compose.yaml": "services:\n  web:\n    build: .\n    command: {{ start_command }}\n",
        "Dockerfile": "FROM python\nCMD uvicorn app:app\n",
    }
    pool = pools_of(files, "compose")["service web"]
    assert (pool.starts, pool.command) == (None, ("$(template)",))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("compose.yaml", "services: [a, b]\n"),
        ("ci.yaml", "services:\n- postgres\nbuild:\n  image: x\n"),
        ("values.yaml", "services:\n  web:\n    port: 80\n"),
        ("k8s.yaml", "apiVersion: v1\nkind: Service\nservices:\n  image: x\n"),
        ("app.py", '"""\nservices:\n  web:\n    image: x\n"""\n'),
    ],
)
def test_what_is_none(path: str, text: str) -> None:
    assert kind_of(path, text) != "compose"


@pytest.mark.parametrize(
    "text",
    [
        "services:\n  web:\n    image: [unclosed\n",
        "services:\n  web:\n    image: *nowhere\n",
        "services:\n  web: &a\n    image: x\n    deploy: *a\n",
    ],
)
def test_damaged_text_is_reported(text: str) -> None:
    reading = reading_of({"compose.yaml": text})
    assert [f.outcome.value for f in reading.files] == ["partly"]
    assert reading.files[0].needed


LINES = [
    "services:",
    "  web:",
    "    image: x",
    "    build: .",
    "    deploy:",
    "      replicas: 2",
    "      replicas: {a: b}",
    "    scale: [1]",
    "    command: [a, [b]]",
    "    command: {a: b}",
    "    environment: [1, {a: b}]",
    "    volumes: [{}, 3]",
    "    extends: web",
    "    extends: {service: web}",
    "    networks: {a: }",
    "    env_file: {path: x}",
    "include: [{path: }]",
    "    <<: [a, {image: y}]",
    "  other: ~",
    "    entrypoint: 3",
    "    volumes: {a: b}",
]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=12))
def test_no_shape_raises(lines: list[str]) -> None:
    reading_of({"compose.yaml": "\n".join(["services:", "  app:", "    image: y", *lines, ""])})
