"""The configurations of these tests are configurations: a real Envoy accepts every one that is whole."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests import proxies
from tests.read.envoy import test_hashing, test_sessions, test_shapes, test_streaming
from tests.read.envoy.helpers import Json
from tests.read.envoy.test_measured import ROWS, configuration
from tests.read.envoy.test_routes import by_header, in_a_matcher, to

TABLES: dict[str, Mapping[str, Json | str]] = {
    "hashing": {case.id: case.config for case in test_hashing.CASES},
    "sessions": {case.id: case.config for case in (*test_sessions.CASES, *test_sessions.LEVELS)},
    "streaming": {**test_streaming.STRIPPED, **test_streaming.PASSED},
    "measured": {row["name"]: configuration(row) for row in ROWS},
    "routes": {
        "by header": by_header("x-replica", string_match={"exact": "any"}),
        "matcher": in_a_matcher(to("a"), to("b")),
    },
    "shapes": {"anchors": test_shapes.ANCHORED, "merge keys": test_shapes.MERGED, "whole": test_shapes.WHOLE},
}

REFUSED = {
    "an extension that nobody measured": "not built into this Envoy",
    "merge keys": "not a field of any message: they are for whatever expands the file first",
}
"""What this version does not take."""


def refusal(config: Json | str, folder: Path) -> str:
    """Why Envoy refuses a configuration; empty where it does not."""
    text = config if isinstance(config, str) else json.dumps(config)
    path = folder / ("envoy.yaml" if isinstance(config, str) else "envoy.json")
    path.write_text(text, encoding="utf-8")
    command = [str(proxies.envoy()), "--mode", "validate", "-c", str(path), "-l", "error", "--disable-hot-restart"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    return "" if done.returncode == 0 else done.stderr[-600:] or "refused"


@pytest.mark.premises
@pytest.mark.parametrize("table", TABLES)
def test_envoy_accepts_what_the_reader_is_asked_about(table: str, tmp_path: Path) -> None:
    reasons = {name: refusal(config, tmp_path) for name, config in TABLES[table].items()}
    assert {name: why for name, why in reasons.items() if why and name not in REFUSED} == {}
    assert all(reasons[name] for name in REFUSED if name in reasons), "accepted after all: take it off the list"
