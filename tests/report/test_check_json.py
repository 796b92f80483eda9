"""The JSON of `sselint check`: the contract of its schema, and the contents behind it."""

from __future__ import annotations

import json

import jsonschema
import pytest

from sselint.catalogue import rules_directory
from sselint.facts import FileOutcome, FileReport
from sselint.findings import CONDITION_NAMES, Judgement, Policy, Report
from sselint.report.check_json import check_document, render_check_json
from tests.report import builders

SCHEMA = json.loads((rules_directory() / "schema" / "check.json").read_text())


def validate(report: Report) -> dict[str, object]:
    document = json.loads(render_check_json(report))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return document


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    "judgement",
    [
        builders.corrupt(),
        builders.latent(),
        builders.loud(),
        builders.unknown(),
        builders.safe(),
        builders.without_ids(),
    ],
    ids=lambda j: j.verdict.value,
)
def test_every_verdict_is_valid(judgement: Judgement) -> None:
    document = validate(builders.report(judgement))
    (deployment,) = document["deployments"]  # type: ignore[misc]
    assert deployment["verdict"] == judgement.verdict.value
    assert set(deployment["conditions"]) == set(CONDITION_NAMES)
    assert set(deployment["ways_out"]) == {policy.value for policy in Policy}
    assert deployment["conditions"]["per_process_ids"]["scope"] == "overlapping"


def test_nothing_at_all_is_valid() -> None:
    document = validate(builders.report(files=()))
    assert document["deployments"] == [] and document["findings"] == [] and document["exit"] == 0


def test_a_broken_file_and_a_loose_route_are_valid() -> None:
    broken = FileReport(
        "nginx.conf", FileOutcome.UNREADABLE, "unexpected end of file", True, builders.span("nginx.conf", 9)
    )
    document = validate(builders.report(files=(broken,), loose_routes=(builders.loose_route(),)))
    assert document["exit"] == 3
    assert document["files"] == {"unreadable": 1}
    (finding,) = document["findings"]  # type: ignore[misc]
    assert (finding["code"], finding["path"], finding["line"], finding["deployment"]) == (
        "SSE901",
        "nginx.conf",
        9,
        None,
    )
    (route,) = document["loose_routes"]  # type: ignore[misc]
    assert route["needs"]["no-resumption"] == "no id: fields"


def test_a_finding_has_its_places_in_order() -> None:
    document = check_document(builders.report(builders.corrupt()))
    main = document["findings"][0]
    assert (main["code"], main["severity"]) == ("SSE001", "error")
    assert (main["path"], main["line"], main["column"]) == ("app.py", 8, 8)
    assert [(place["path"], place["line"]) for place in main["related"]] == [
        ("app.py", 21),
        ("app.py", 9),
        ("haproxy.cfg", 13),
    ]
    assert main["policies"] == {policy.value: "contradicts" for policy in Policy}


def test_an_unknown_field_is_refused_by_the_schema() -> None:
    document = check_document(builders.report(builders.corrupt()))
    document["deployments"][0]["verdict"] = "fine"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(SCHEMA).validate(document)
