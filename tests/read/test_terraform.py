"""Terraform: how many tasks, what a release does to them, and what stickiness a target group has.

Defaults are those of the AWS provider's documentation (aws_ecs_service, aws_lb_target_group).
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sselint.facts import Rolling, Strength, Truth
from sselint.find import kind_of
from tests.read.texts import numbers, only_pool, only_route, reading_of, workers


def service(body: str = "", rest: str = "") -> dict[str, str]:
    return {"main.tf": f'resource "aws_ecs_service" "web" {{\n  name = "web"\n{body}\n}}\n{rest}'}


def group(body: str = "", rest: str = "") -> dict[str, str]:
    return {"lb.tf": f'resource "aws_lb_target_group" "web" {{\n  name = "web"\n  port = 8000\n{body}\n}}\n{rest}'}


SCALED = """
resource "aws_appautoscaling_target" "web" {
  min_capacity       = 2
  max_capacity       = var.most
  resource_id        = "service/${aws_ecs_cluster.main.name}/${aws_ecs_service.web.name}"
  scalable_dimension = "ecs:service:DesiredCount"
}
variable "most" { default = 6 }
"""


@pytest.mark.parametrize(
    ("body", "rest", "expected"),
    [
        ("desired_count = 3", "", (3, 3)),
        ('desired_count = "3"', "", (3, 3)),
        ("desired_count = var.n", 'variable "n" { default = 2 }', (2, 2)),
        ("desired_count = var.n", 'variable "n" { type = number }', (1, None)),
        ("desired_count = local.n", 'locals {\n  n = var.n\n}\nvariable "n" { default = 4 }', (4, 4)),
        ('desired_count = var.env == "prod" ? 3 : 1', 'variable "env" {}', (1, 3)),
        ("desired_count = max(2, 1)", "", (2, 2)),
        ("count = 2\n  desired_count = 3", "", (6, 6)),
        ("desired_count = 1", SCALED, (2, 6)),
        ("desired_count = 1", SCALED.replace("web.name", "other.name"), (1, 1)),
        ("", "", (1, None)),
        ("desired_count = 1\n  lifecycle {\n    ignore_changes = [desired_count]\n  }", "", (1, None)),
        ("desired_count = 1\n  lifecycle {\n    ignore_changes = [task_definition]\n  }", "", (1, 1)),
        ('scheduling_strategy = "DAEMON"', "", (1, None)),
        ("desired_count = local.n\n}\nlocals {\n  n = local.m\n  m = local.n", "", (1, None)),
    ],
)
def test_how_many_tasks(body: str, rest: str, expected: tuple[int, int | None]) -> None:
    assert numbers(only_pool(service(body, rest)).processes) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", Rolling.SURGE_DEFAULT),
        ("deployment_maximum_percent = 200", Rolling.SURGE_WRITTEN),
        ("deployment_maximum_percent = 100\n  deployment_minimum_healthy_percent = 0", Rolling.REPLACED),
        ("deployment_maximum_percent = var.unset", Rolling.UNKNOWN),
        ('deployment_controller {\n    type = "CODE_DEPLOY"\n  }', Rolling.SURGE_WRITTEN),
        ('deployment_controller {\n    type = "ECS"\n  }', Rolling.SURGE_DEFAULT),
        ('scheduling_strategy = "DAEMON"', Rolling.REPLACED),
    ],
)
def test_what_a_release_does(body: str, expected: Rolling) -> None:
    assert only_pool(service(f"desired_count = 1\n  {body}")).rolling is expected


TASK = """
resource "aws_ecs_task_definition" "web" {
  family = "web"
  container_definitions = jsonencode([
    { name = "proxy", image = "envoy:1", portMappings = [{ containerPort = 80 }] },
    {
      name    = "app"
      image   = "${aws_ecr_repository.feed.repository_url}:${var.tag}"
      command = ["uvicorn", "app:app", "--workers", "4"]
      environment = [{ name = "MODE", value = "redis" }, { name = "URL", value = aws_x.y.url }]
      secrets     = [{ name = "TOKEN", valueFrom = "arn:1" }]
      mountPoints = [
        { sourceVolume = "shared", containerPath = "/data" },
        { sourceVolume = "own", containerPath = "/tmp" },
      ]
    },
  ])
  volume {
    name = "shared"
    efs_volume_configuration {
      file_system_id = "fs-1"
    }
  }
}
resource "aws_ecr_repository" "feed" {
  name = "shop/feed"
}
"""


def test_the_container_that_the_balancer_names() -> None:
    body = 'task_definition = aws_ecs_task_definition.web.arn\n  load_balancer {\n    container_name = "app"\n  }'
    pool = only_pool(service(body, TASK))
    assert (pool.starts, workers(pool)) == ("app:app", (4, 4))
    assert (pool.image or "").startswith("shop/feed:")
    assert {s.name: s.value for s in pool.environment} == {"MODE": "redis", "URL": None, "TOKEN": None}
    assert {v.mount_path: v.shared for v in pool.volumes} == {"/data": Truth.YES, "/tmp": Truth.NO}


@pytest.mark.parametrize(
    ("stickiness", "row", "strength", "seconds"),
    [
        ({}, "alb/none", Strength.NONE, None),
        ({"type": '"lb_cookie"'}, "alb/lb_cookie", Strength.BEST_EFFORT, 86_400),
        ({"type": '"lb_cookie"', "cookie_duration": "60"}, "alb/lb_cookie", Strength.BEST_EFFORT, 60),
        ({"type": '"app_cookie"', "cookie_name": '"SID"'}, "alb/app_cookie", Strength.BEST_EFFORT, 86_400),
        ({"type": '"source_ip"'}, "alb/source_ip", Strength.BEST_EFFORT, None),
        ({"type": '"lb_cookie"', "enabled": "false"}, "alb/none", Strength.NONE, None),
        ({"type": '"lb_cookie"', "enabled": "var.unset"}, "", Strength.UNKNOWN, None),
        ({"type": "var.unset"}, "", Strength.UNKNOWN, None),
    ],
)
def test_stickiness(stickiness: dict[str, str], row: str, strength: Strength, seconds: float | None) -> None:
    lines = "".join(f"    {name} = {value}\n" for name, value in stickiness.items())
    affinity = only_route(group(f"  stickiness {{\n{lines}  }}" if lines else "")).affinity
    assert (affinity.row, affinity.strength, affinity.key.seconds) == (row, strength, seconds)


def test_a_dynamic_block_leaves_stickiness_open() -> None:
    content = '    content {\n      type = "lb_cookie"\n    }\n'
    route = only_route(group(f'  dynamic "stickiness" {{\n    for_each = var.sticky\n{content}  }}'))
    assert route.affinity.strength is Strength.UNKNOWN


def test_the_cookie_of_the_application_has_its_name() -> None:
    found = only_route(group('stickiness {\n    type = "app_cookie"\n    cookie_name = "SID"\n  }')).affinity
    assert (found.key.name, found.key.issued_by.value) == ("SID", "server")


REGISTERED = """
resource "aws_ecs_service" "web" {
  name          = "web"
  desired_count = 3
  load_balancer {
    target_group_arn = aws_lb_target_group.web.arn
    container_name   = "app"
    container_port   = 8000
  }
}
"""


def test_the_service_behind_a_group() -> None:
    route = only_route(group(rest=REGISTERED))
    assert [t.host for t in route.targets] == ["aws_ecs_service.web"]
    assert numbers(route.members) == (3, 3)
    assert route.resolves == "all"


def test_another_group_has_nobody_behind_it() -> None:
    route = only_route(group(rest=REGISTERED.replace("aws_lb_target_group.web", "aws_lb_target_group.api")))
    assert (route.targets, numbers(route.members)) == ((), (1, None))


RULE = """
resource "aws_lb_listener_rule" "stream" {
  listener_arn = aws_lb_listener.https.arn
  priority     = 10
  action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.web.arn
  }
  condition {
    path_pattern {
      values = ["/events", "/mcp*", "/*/feed"]
    }
  }
}
"""


def test_the_requests_that_a_rule_takes() -> None:
    route = only_route(group(rest=RULE))
    assert route.match.paths == (("exact", "/events"), ("prefix", "/mcp"), ("regex", "^/.*/feed$"))
    assert route.match.priority == 10


WEIGHTED = """
resource "aws_lb_target_group" "canary" {
  name = "canary"
  stickiness {
    type = "lb_cookie"
  }
}
resource "aws_lb_listener" "https" {
  default_action {
    type = "forward"
    forward {
      target_group {
        arn    = aws_lb_target_group.web.arn
        weight = 90
      }
      target_group {
        arn    = aws_lb_target_group.canary.arn
        weight = 10
      }
%s
    }
  }
}
"""


@pytest.mark.parametrize(
    ("sticky", "strength"),
    [("", Strength.NONE), ("stickiness {\n  enabled = true\n  duration = 600\n}", Strength.BEST_EFFORT)],
)
def test_weights_over_groups_undo_their_stickiness(sticky: str, strength: Strength) -> None:
    reading = reading_of(group('stickiness {\n    type = "lb_cookie"\n  }', WEIGHTED % sticky))
    assert {r.affinity.strength for r in reading.routes} == {strength}


def test_a_local_module_is_read_with_each_call() -> None:
    files = {
        "main.tf": 'module "a" {\n  source = "./service"\n  n = 3\n}\nmodule "b" {\n  source = "./service"\n}\n',
        "service/main.tf": 'resource "aws_ecs_service" "web" {\n  desired_count = var.n\n}\n',
        "service/variables.tf": 'variable "n" {\n  default = 1\n}\n',
    }
    pools = reading_of(files).pools
    assert {next(iter(p.addresses)): numbers(p.processes) for p in pools} == {
        "module.a.aws_ecs_service.web": (3, 3),
        "module.b.aws_ecs_service.web": (1, 1),
    }


def test_an_output_of_a_module_leads_to_its_group() -> None:
    files = {
        "main.tf": 'module "lb" {\n  source = "./lb"\n}\n'
        + REGISTERED.replace("aws_lb_target_group.web.arn", "module.lb.group"),
        "lb/main.tf": group()["lb.tf"],
        "lb/outputs.tf": 'output "group" {\n  value = aws_lb_target_group.web.arn\n}\n',
    }
    assert numbers(only_route(files).members) == (3, 3)


def test_values_files_that_terraform_takes_by_itself() -> None:
    files = {
        **service("desired_count = var.n", 'variable "n" { default = 1 }'),
        "terraform.tfvars": "n = 4\n",
        "other.tfvars": "n = 9\n",
    }
    assert numbers(only_pool(files).processes) == (4, 4)


def test_an_auto_scaling_group_and_instances() -> None:
    rest = """
resource "aws_autoscaling_group" "web" {
  min_size          = 2
  max_size          = 5
  target_group_arns = [aws_lb_target_group.web.arn]
}
resource "aws_instance" "web" {
  count = 2
}
resource "aws_lb_target_group_attachment" "web" {
  count            = 2
  target_group_arn = aws_lb_target_group.web.arn
  target_id        = aws_instance.web[count.index].id
}
"""
    reading = reading_of(group(rest=rest))
    assert {p.name: numbers(p.processes) for p in reading.pools} == {
        "Auto Scaling group web": (2, 5),
        "instance web": (2, 2),
    }
    assert numbers(reading.routes[0].members) == (4, 7)


CLOUD_RUN = """
resource "google_cloud_run_v2_service" "feed" {
  name = "feed"
  template {
%s
    containers {
      image   = "europe-docker.pkg.dev/shop/feed:1"
      command = ["uvicorn"]
      args    = ["app:app", "--workers", "2"]
      env {
        name  = "MODE"
        value = "memory"
      }
      env {
        name = "TOKEN"
        value_source {
          secret_key_ref {
            secret = "t"
          }
        }
      }
    }
  }
}
"""
SCALING = "scaling {\n  min_instance_count = 1\n  max_instance_count = %s\n}"


@pytest.mark.parametrize(
    ("template", "expected", "row"),
    [
        ("", (0, 100), "cloud_run/none"),
        (SCALING % "3", (1, 3), "cloud_run/none"),
        (SCALING % "1", (1, 1), "cloud_run/none"),
        (SCALING % "var.unset", (1, None), "cloud_run/none"),
        ("session_affinity = true", (0, 100), "cloud_run/session_affinity"),
        ("session_affinity = false", (0, 100), "cloud_run/none"),
        ("max_instance_request_concurrency = 80", (0, 100), "cloud_run/none"),
    ],
)
def test_a_cloud_run_service(template: str, expected: tuple[int, int | None], row: str) -> None:
    reading = reading_of({"run.tf": CLOUD_RUN % template})
    (pool,), (route,) = reading.pools, reading.routes
    assert (numbers(pool.processes), numbers(route.members), route.affinity.row) == (expected, expected, row)
    assert (pool.starts, workers(pool), pool.image) == ("app:app", (2, 2), "europe-docker.pkg.dev/shop/feed:1")
    assert {s.name: s.value for s in pool.environment} == {"MODE": "memory", "TOKEN": None}
    assert {t.host for t in route.targets} == pool.addresses


def test_the_first_version_says_it_in_annotations() -> None:
    text = """
resource "google_cloud_run_service" "feed" {
  name = "feed"
  template {
    metadata {
      annotations = {
        "autoscaling.knative.dev/maxScale"   = "4"
        "run.googleapis.com/sessionAffinity" = "true"
      }
    }
    spec {
      containers {
        image = "feed"
      }
    }
  }
}
"""
    reading = reading_of({"run.tf": text})
    assert [(numbers(p.processes), p.image) for p in reading.pools] == [((0, 4), "feed")]
    assert [r.affinity.row for r in reading.routes] == ["cloud_run/session_affinity"]


def test_places() -> None:
    reading = reading_of(service("  desired_count = 3"))
    assert [(s.path, s.line, s.column) for s in reading.pools[0].evidence] == [("main.tf", 1, 1), ("main.tf", 3, 3)]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("main.tf", 'resource "aws_s3_bucket" "x" {\n}\n'),
        ("notes.txt", 'resource "aws_ecs_service" "x" {\n}\n'),
        ("main.tf", '# resource "aws_ecs_service" "x" {}\n'),
    ],
)
def test_what_is_none(path: str, text: str) -> None:
    assert kind_of(path, text) is None


@pytest.mark.parametrize("body", ["desired_count = ", "desired_count = [", 'x = "${', "x = <<EOT\n"])
def test_damaged_text_is_reported(body: str) -> None:
    reading = reading_of(service(body))
    assert [f.outcome.value for f in reading.files] == ["partly"]
    assert reading.files[0].needed


def test_deep_nesting_is_no_crash() -> None:
    reading_of(service("desired_count = " + "[" * 3000 + "]" * 3000))
    reading_of(service("desired_count = " + "(" * 3000 + "1" + ")" * 3000))


VALUES = st.sampled_from(
    [
        "1",
        '"a"',
        "[]",
        "{}",
        "var.x",
        "local.x",
        "null",
        "true",
        "aws_x.y[0].z",
        "aws_x.y[*].id",
        '"${var.x}-${1}"',
        "jsonencode([1, {}])",
        "jsonencode({})",
        "var.x ? 1 : []",
        "{ a = 1 }",
        "[{ name = 1 }]",
        "max()",
        'file("x")',
        "-1",
    ]
)
NAMES = st.sampled_from(
    [
        "desired_count",
        "count",
        "for_each",
        "task_definition",
        "name",
        "scheduling_strategy",
        "target_group_arns",
        "port",
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(NAMES, VALUES, max_size=5), VALUES, VALUES)
def test_no_value_raises(attributes: dict[str, str], containers: str, variable: str) -> None:
    body = "\n".join(f"  {name} = {value}" for name, value in attributes.items())
    rest = f'resource "aws_ecs_task_definition" "t" {{\n container_definitions = {containers}\n}}\n'
    rest += f'variable "x" {{\n default = {variable}\n}}\nlocals {{\n x = {variable}\n}}\n'
    reading_of(
        service(
            body + "\n  task_definition = aws_ecs_task_definition.t.arn" * ("task_definition" not in attributes), rest
        )
    )
    reading_of(
        group(f"stickiness {{\n type = {variable}\n cookie_duration = {containers}\n enabled = {variable}\n}}", rest)
    )


@pytest.mark.parametrize(
    "step",
    ['"${local.nBEFORE}${local.nBEFORE}"', "[local.nBEFORE, local.nBEFORE]", "concat(local.nBEFORE, local.nBEFORE)"],
)
def test_values_that_double_are_ended(step: str) -> None:
    """After forty of these steps a value is larger than any memory, and was asked for longer than anyone can wait."""
    first = '"aaaaaaaa"' if "$" in step else '["a", "b"]'
    steps = "\n".join(f"  n{i} = {step.replace('BEFORE', str(i - 1))}" for i in range(1, 41))
    files = service("desired_count = length(local.n40)", f"locals {{\n  n0 = {first}\n{steps}\n}}")
    assert numbers(only_pool(files).processes) == (1, None)


@pytest.mark.parametrize(("names", "expected"), [(20, (3, 3)), (400, (1, None))])
def test_a_number_is_followed_through_names_as_far_as_people_write_them(
    names: int, expected: tuple[int, int | None]
) -> None:
    steps = "\n".join(f"  n{i} = local.n{i - 1}" for i in range(1, names))
    files = service(f"desired_count = local.n{names - 1}", f"locals {{\n  n0 = 3\n{steps}\n}}")
    assert numbers(only_pool(files).processes) == expected


def test_modules_that_call_each_other_many_times_are_cut_and_told() -> None:
    """Ten calls of ten calls, six deep: a million services that nobody deploys."""
    files = service("desired_count = 3", "")
    for depth in range(6):
        calls = (f'module "n{n}" {{\n  source = "./m{depth + 1}"\n}}\n' for n in range(10))
        files[f"m{depth}/main.tf"] = "".join(calls).replace("./m", "../m") + files["main.tf"]
    files["m6/main.tf"] = files["main.tf"]
    files["main.tf"] += 'module "n" {\n  source = "./m0"\n}\n'
    reading = reading_of(files)
    assert 1 < len(reading.pools) <= 1_001
    assert [(f.path, f.needed) for f in reading.files if "more than 1000 times" in f.why] == [("main.tf", True)]
