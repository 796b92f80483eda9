"""Whatever a file holds, the reader answers: routes, or a report of what is wrong with the file."""

from __future__ import annotations

import copy
import json
import random
import string
import time
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from sselint.facts import FileOutcome, Reading
from sselint.read import envoy
from tests.read.envoy.helpers import Json, bootstrap, cluster, reading
from tests.read.envoy.test_measured import ROWS, configuration
from tests.read.envoy.test_routes import by_header
from tests.read.envoy.test_shapes import ANCHORED, MERGED
from tests.read.envoy.test_streaming import STRIPPED

SEEDS: list[Json] = [
    *(configuration(row) for row in ROWS[::4]),
    *STRIPPED.values(),
    by_header("last-event-id", range_match={"start": 0, "end": 9}),
    bootstrap(clusters=[cluster(type="EDS", eds_cluster_config={"eds_config": {"ads": {}}})]),
]

JUNK: list[Any] = [None, True, -1, 3.5, "", "x", "{{ x }}", [], [None], [[]], {}, {"": None}, {"<<": {}}, "1e400", "٣"]


def told(found: Reading) -> None:
    """That nothing broke: every file has an outcome, and none is an error of ours."""
    assert {report.outcome for report in found.files} <= {FileOutcome.ANALYSED, FileOutcome.UNREADABLE}, found.files


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in a document."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [(value, key) for key in keys] + [place for key in keys for place in places(value[key])]


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_a_configuration_with_other_things_in_it(seed: int) -> None:
    chance = random.Random(seed)
    config: Any = copy.deepcopy(chance.choice(SEEDS))
    for _ in range(chance.randint(1, 6)):
        container, key = chance.choice(places(config))
        if chance.random() < 0.3:
            del container[key]
        else:
            container[key] = copy.deepcopy(chance.choice(JUNK))
        if not places(config):
            break
    text = json.dumps(config) if chance.random() < 0.3 else yaml.safe_dump(config)
    envoy.looks_like("envoy.yaml", text)
    told(reading(text))


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32))
def test_a_configuration_with_other_characters_in_it(seed: int) -> None:
    chance = random.Random(seed)
    text = chance.choice([ANCHORED, MERGED])
    for _ in range(chance.randint(1, 8)):
        at = chance.randrange(len(text))
        text = text[:at] + chance.choice(list("\t\n \0:-[]{}*&#'\"<|>%@é")) + text[at + chance.randint(0, 30) :]
    envoy.looks_like("envoy.yaml", text)
    told(reading(text))


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    envoy.looks_like("envoy.yaml", text)
    told(reading(text))


# -- size --------------------------------------------------------------------------------------------------------------


def bomb() -> str:
    names = string.ascii_lowercase[:14]
    lines = ["a: &a {prefix: /, path: /, regex: x, name: y}"]
    lines += [f"{n}: &{n} [{', '.join(['*' + chr(ord(n) - 1)] * 9)}]" for n in names[1:]]
    return "\n".join([*lines, f"virtual_hosts: *{names[-1]}", ""])


@pytest.mark.parametrize(
    "text",
    [
        bomb(),
        "clusters: &c\n- name: a\n  load_assignment: *c\n",
        "http_filters: " + "[" * 5000,
        "http_filters: " + "{a: " * 1000 + "1" + "}" * 1000,
    ],
    ids=["aliases", "an alias inside itself", "brackets", "braces"],
)
def test_what_grows_without_bound_is_refused_at_once(text: str) -> None:
    began = time.process_time()
    [report] = reading(text).files
    assert report.outcome is FileOutcome.UNREADABLE and report.needed
    assert time.process_time() - began < 2


def test_aliases_below_the_budget_cost_what_they_stand_for_once() -> None:
    """A resource that stands in a document by alias is read in one place, not in each."""
    text = "one: &c\n  name: feed\n  lb_policy: RANDOM\n  connect_timeout: 1s\nmore: [" + "*c, " * 5000 + "*c]\n"
    assert len(reading(text).routes) == 1


def test_clusters_that_contain_each_other_end() -> None:
    def aggregate(name: str, inner: str) -> Json:
        typed = {
            "@type": "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig",
            "clusters": [inner],
        }
        return {"name": name, "cluster_type": {"name": "envoy.clusters.aggregate", "typed_config": typed}}

    found = reading(json.dumps(bootstrap(clusters=[aggregate("feed", "other"), aggregate("other", "feed")])))
    told(found)
    assert found.routes[0].members.high is None


def test_many_routes_take_linear_time() -> None:
    config: Any = copy.deepcopy(bootstrap())
    chain = config["static_resources"]["listeners"][0]["filter_chains"][0]["filters"][0]
    host = chain["typed_config"]["route_config"]["virtual_hosts"][0]
    host["routes"] = [{"match": {"path": f"/feeds/{n}"}, "route": {"cluster": "feed"}} for n in range(2000)]
    began = time.process_time()
    found = reading(json.dumps(config))
    told(found)
    assert len(found.routes) == 2000
    assert time.process_time() - began < 10
