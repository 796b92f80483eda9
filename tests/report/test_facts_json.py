"""The JSON of `sselint facts`: its schema, and that it can be read back in another repository."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import jsonschema

from sselint.catalogue import rules_directory
from sselint.deployment import Audit
from sselint.facts import (
    AppReference,
    FileOutcome,
    FileReport,
    Guard,
    KeyOrigin,
    Outcome,
    Run,
    Stream,
    Truth,
)
from sselint.report.facts_json import render_facts_json
from sselint.stated import read_facts
from tests.report import builders

SCHEMA = json.loads((rules_directory() / "schema" / "facts.json").read_text())


def full_stream() -> Stream:
    stream = builders.stream(
        guards=(Guard("run_id", KeyOrigin.RANDOM_LOCAL, "`runs` is looked up first", (builders.READS,), 404),),
        on_missing=Run(Outcome.FROM_HEAD, "no cursor: live events only"),
        on_malformed=Run(Outcome.FAIL_CLOSED, "int() raises", (builders.READS,), status=500),
        tags_replica=Truth.UNKNOWN,
        environment=frozenset({"EVENT_STORE"}),
    )
    return replace(stream, replay=replace(stream.replay, evicts=Truth.YES))


def audit() -> Audit:
    deployment = builders.deployment(
        stream=full_stream(), hops=(builders.hop(builders.route()), builders.hop(builders.pool()))
    )
    return Audit(
        root="app",
        deployments=(deployment,),
        streams=(full_stream(),),
        routes=(builders.route(), builders.loose_route()),
        pools=(builders.pool(),),
        loose_routes=(builders.loose_route(),),
        files=(
            FileReport("app.py", FileOutcome.ANALYSED),
            FileReport("x.conf", FileOutcome.PARTLY, "an include is missing"),
        ),
    )


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_facts_are_valid() -> None:
    document = json.loads(render_facts_json(audit()))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert [(link["route"], link["pool"]) for link in document["links"]] == [
        ("haproxy.cfg:frontend in -> backend feed", None),
        (None, "k8s.yaml:Deployment app"),
    ]
    assert document["files"][1] == {"path": "x.conf", "outcome": "partly", "why": "an include is missing"}


def test_no_facts_are_valid() -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(render_facts_json(Audit(root="."))))


def test_a_stream_survives_the_way_to_another_repository(tmp_path: Path) -> None:
    file = tmp_path / "app.json"
    file.write_text(render_facts_json(audit()), encoding="utf-8")
    (again,) = read_facts(file)
    assert again == elsewhere(replace(full_stream(), apps=(AppReference("app", "app", "app.py"),)))


def elsewhere(value: Any) -> Any:
    """The same with every place in `app.json#`: a file of that name may stand here too."""
    if isinstance(value, tuple):
        return tuple(elsewhere(inner) for inner in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    inner = {field.name: elsewhere(getattr(value, field.name)) for field in fields(value)}
    if "path" in inner:
        inner["path"] = f"app.json#{inner['path']}"
    return replace(value, **inner)
