"""The rules as data: one YAML a check, each complete, its examples well formed, its claims proved."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from sselint.catalogue import CatalogueError, Example, FindingRule, finding_rules, load_yaml, rules_directory
from sselint.catalogue import _finding_rule as read_rule
from sselint.checks import DEPLOYMENT_CHECKS, INPUT_CHECKS, WAIVING_CODES
from sselint.checks.registry import deployment_check, input_check
from sselint.findings import Policy, Severity, Verdict
from sselint.read.haproxy.lexer import lines as haproxy_lines
from sselint.read.nginx.parser import parse as parse_nginx
from sselint.report.explain import GROUPS
from sselint.source import Source
from sselint.toml_table import tomllib

ROOT = Path(__file__).parent.parent.parent
RULES = finding_rules()
INPUT_GRADES = {"needed", "other"}


def rule_ids(rule: FindingRule) -> str:
    return rule.code


def test_every_check_has_a_rule_and_every_rule_a_check() -> None:
    checks = {*DEPLOYMENT_CHECKS, *INPUT_CHECKS, *WAIVING_CODES}
    assert checks == set(RULES)
    assert {path.stem for path in (rules_directory() / "findings").glob("*.yaml")} == checks


@pytest.mark.parametrize("register", [deployment_check, input_check])
def test_a_code_has_one_check(register: Callable[..., Callable[[object], object]]) -> None:
    with pytest.raises(ValueError, match="SSE101 has two checks"):
        register("SSE101")(lambda _: ())


@pytest.mark.parametrize("rule", RULES.values(), ids=rule_ids)
def test_a_rule_is_complete(rule: FindingRule) -> None:
    assert re.fullmatch(r"SSE[0-69]\d\d", rule.code)
    assert any(rule.code.startswith(group) for group in GROUPS)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    assert rule.title[0].isupper() or rule.title.split()[0] in ("nginx's", "sselint", "gzip")
    assert not rule.title.endswith(".")
    assert all((rule.what, rule.why, *rule.fix.values()))
    assert set(rule.policies) == set(rule.fix) == set(Policy)
    assert set(rule.policies.values()) <= {"contradicts", "allows"}


def test_names_and_titles_are_different() -> None:
    assert len({rule.name for rule in RULES.values()}) == len(RULES)
    assert len({rule.title for rule in RULES.values()}) == len(RULES)


@pytest.mark.parametrize("rule", RULES.values(), ids=rule_ids)
def test_severities_are_those_of_verdicts_or_of_files(rule: FindingRule) -> None:
    verdicts = {verdict.value for verdict in Verdict}
    assert set(rule.severity) <= (INPUT_GRADES if rule.code.startswith("SSE9") else verdicts)
    assert rule.severity


@pytest.mark.parametrize("rule", RULES.values(), ids=rule_ids)
def test_a_part_is_no_error_where_the_deployment_is_correct(rule: FindingRule) -> None:
    """Except SSE003: a policy that was declared is broken by keeping another one."""
    if rule.code == "SSE003":
        return
    for policy in Policy:
        assert rule.severity.get(policy.value, Severity.NOTE) is Severity.NOTE


# -- examples --------------------------------------------------------------------------------------------------------


def python(text: str) -> None:
    ast.parse(text)


def nginx(text: str) -> None:
    assert not parse_nginx(Source("nginx.conf", text, "nginx")).problems


def haproxy(text: str) -> None:
    assert [line for line in haproxy_lines(Source("haproxy.cfg", text, "haproxy")) if line.keyword]


def plain(text: str) -> None:
    assert text.strip()


WELL_FORMED: dict[str, Callable[[str], object]] = {
    "python": python,
    "nginx": nginx,
    "haproxy": haproxy,
    "yaml": yaml.safe_load,
    "toml": tomllib.loads,
    "text": plain,
}


@pytest.mark.parametrize("rule", RULES.values(), ids=rule_ids)
def test_examples_are_well_formed(rule: FindingRule) -> None:
    for example in (rule.bad, rule.good):
        assert example.text.strip()
        WELL_FORMED[example.language](example.text)
    assert rule.bad != rule.good


@pytest.mark.parametrize(
    "example",
    [
        Example("python", "def feed(:"),
        Example("nginx", "location / {"),
        Example("haproxy", "# nothing"),
        Example("yaml", "a: [1"),
        Example("toml", "a ="),
        Example("text", " "),
    ],
    ids=lambda e: e.language,
)
def test_a_malformed_example_would_be_noticed(example: Example) -> None:
    with pytest.raises((SyntaxError, AssertionError, yaml.YAMLError, tomllib.TOMLDecodeError)):
        WELL_FORMED[example.language](example.text)


# -- premises --------------------------------------------------------------------------------------------------------

SPEAKS_OF = re.compile(
    r"\b(HAProxy|nginx|Envoy|Kubernetes|[Ii]ngress|uvicorn|gunicorn|WSGI|MCP|EventSource|measured)\b", re.IGNORECASE
)
"""Words of software that is not ours: what a text says of it must be proved."""


def proved(reference: str) -> bool:
    """Whether a reference leads to a test, a row of the affinity tables, an executed deployment, or a page."""
    if reference.startswith("https://"):
        return True
    path, _, rest = reference.partition("::")
    file, _, row = path.partition("#")
    if row:
        return row in {entry["id"] for entry in load_yaml(ROOT / file)["rows"]}
    if rest:
        defined = re.findall(r"^def (test_\w+)", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
        return rest.partition("[")[0] in defined
    return (ROOT / file / "expected.json").is_file()


@pytest.mark.parametrize("rule", RULES.values(), ids=rule_ids)
def test_the_premise_of_a_rule_is_a_test(rule: FindingRule) -> None:
    assert "::" in rule.premise
    assert proved(rule.premise)


@pytest.mark.parametrize("rule", RULES.values(), ids=rule_ids)
def test_what_a_rule_says_of_other_software_is_proved(rule: FindingRule) -> None:
    text = " ".join((rule.title, rule.what, rule.why, *rule.fix.values()))
    if SPEAKS_OF.search(text) or rule.code.startswith(("SSE3", "SSE4", "SSE6")):
        assert rule.claims, f"{rule.code} speaks of other software and names nothing that proves it"
    for claim in rule.claims:
        assert proved(claim), claim


def test_a_claim_that_leads_nowhere_would_be_noticed() -> None:
    assert not proved("rules/affinity/haproxy.yaml#no_such_row")
    assert not proved("tests/checks/test_ids.py::test_no_such_test")
    assert not proved("tests/executed/no_such_deployment")


# -- what is refused -------------------------------------------------------------------------------------------------


def test_a_rule_under_another_name_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "SSE999.yaml"
    file.write_text((rules_directory() / "findings" / "SSE101.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(CatalogueError, match="the code inside is SSE101"):
        read_rule(file)


def test_a_rule_without_a_field_is_refused(tmp_path: Path) -> None:
    document = load_yaml(rules_directory() / "findings" / "SSE101.yaml")
    del document["why"]
    file = tmp_path / "SSE101.yaml"
    file.write_text(yaml.safe_dump(document), encoding="utf-8")
    with pytest.raises(CatalogueError, match=r"SSE101\.yaml: 'why'"):
        read_rule(file)


def test_yaml_that_does_not_parse_is_refused_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "SSE101.yaml"
    file.write_text("code: [SSE101", encoding="utf-8")
    with pytest.raises(CatalogueError, match=r"(?s)not YAML.*line 1"):
        load_yaml(file)
