"""Forty services in one repository, half of them dangerous: each is judged by its own files alone."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).parent / "cases"
DANGEROUS = (
    "08_unknown_id_replays_history",
    "27_nginx_ip_hash",
    "29_haproxy_cookie_redispatch",
    "43_timestamp_ids_local_buffer",
    "41_single_replica_rolling_update",
)
SAFE = (
    "13_shared_sequence_and_log",
    "14_redis_streams_xadd",
    "17_eventstream_redis_no_ids",
    "30_haproxy_pinned_fail_closed",
    "32_envoy_stateful_session_strict",
)


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """The report on the monorepo, and the folder of each service with the case it was made from."""
    root = tmp_path_factory.mktemp("monorepo")
    made = {}
    for number in range(40):
        cases = DANGEROUS if number % 2 else SAFE
        case = cases[number // 2 % len(cases)]
        folder = f"services/svc{number:02}"
        shutil.copytree(CASES / case, root / folder, ignore=shutil.ignore_patterns("expected.json"))
        (root / folder / "requirements.txt").write_text("sse-starlette\n")
        made[folder] = case
    (root / "README.md").write_text("forty services\n")
    run = subprocess.run(
        [sys.executable, "-m", "sselint", "check", str(root), "--format", "json"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return json.loads(run.stdout), made, run


def folder_of(path):
    return "/".join(path.split("/")[:2])


def test_exactly_the_dangerous_half_is_corrupt(audited):
    report, made, run = audited
    corrupt = {folder_of(s["path"]) for d in report["deployments"] if d["verdict"] == "corrupt" for s in d["streams"]}
    assert corrupt == {folder for folder, case in made.items() if case in DANGEROUS}
    assert len(report["deployments"]) == 40
    assert run.returncode == 1


def test_no_link_leaves_its_service(audited):
    report, _, _ = audited
    for deployment in report["deployments"]:
        home = folder_of(deployment["streams"][0]["path"])
        text = json.dumps(deployment)
        others = {f"services/svc{n:02}" for n in range(40)} - {home}
        assert not [o for o in others if o in text], deployment["name"]
        assert deployment["hops"]


def test_every_other_service_gets_its_own_policy(audited):
    report, made, _ = audited
    for deployment in report["deployments"]:
        case = made[folder_of(deployment["streams"][0]["path"])]
        expected = json.loads((CASES / case / "expected.json").read_text())
        allowed = {expected["verdict"], *expected.get("accept", [])}
        if expected["conditions"]["client_honours_last_event_id"] is False:
            allowed.add("none")
        assert deployment["verdict"] in allowed, (case, deployment["name"])
