"""The server in one repository, its deployment in another: facts written there are judged here."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parent.parent / "sample_configs"
SERVER = ("*.py", "Dockerfile")


def sselint(*arguments, cwd):
    command = [sys.executable, "-m", "sselint", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=60, check=False)


def split(sample, tmp_path):
    """A sample as two repositories: `server` with the source, `deployment` with the rest."""
    server, deployment = tmp_path / "server", tmp_path / "deployment"
    shutil.copytree(SAMPLES / sample, deployment)
    server.mkdir()
    for pattern in SERVER:
        for file in deployment.glob(pattern):
            file.rename(server / file.name)
    return server, deployment


def judged(run):
    assert "Traceback" not in run.stderr
    return [(d["verdict"], d["streams"][0]["symbol"]) for d in json.loads(run.stdout)["deployments"]]


@pytest.mark.parametrize(
    ("sample", "verdict"),
    [
        ("haproxy-routes-on-last-event-id", "corrupt"),
        ("nginx-routes-on-last-event-id", "corrupt"),
        ("envoy-routes-on-last-event-id", "corrupt"),
        ("policy-1-shared-replay", "shared-replay"),
        ("policy-2-pinned-fail-closed", "pinned-fail-closed"),
    ],
)
def test_the_verdict_is_the_same_as_in_one_repository(sample, verdict, tmp_path):
    server, deployment = split(sample, tmp_path)
    facts = sselint("facts", "--format", "json=../app.json", cwd=server)
    assert facts.returncode == 0, facts.stderr
    run = sselint("check", "--facts", "../app.json", "--format", "json", cwd=deployment)
    assert judged(run) == [(verdict, "events")]
    assert run.returncode == (1 if verdict == "corrupt" else 0)


def test_a_file_of_the_same_name_is_not_quoted_for_the_one_elsewhere(tmp_path):
    server, deployment = split("haproxy-routes-on-last-event-id", tmp_path)
    assert sselint("facts", "--format", "json=../app.json", cwd=server).returncode == 0
    (deployment / "journal.py").write_text("SECRETS_OF_ANOTHER_FILE = 1\n" * 60)
    run = sselint("check", "--facts", "../app.json", cwd=deployment)
    assert "SECRETS_OF_ANOTHER_FILE" not in run.stdout
    assert "app.json#journal.py:19" in run.stdout


def test_without_the_facts_the_routes_are_listed_and_nothing_is_claimed(tmp_path):
    """The look-alike: the same deployment, and nobody knows what runs in it."""
    _, deployment = split("haproxy-routes-on-last-event-id", tmp_path)
    run = sselint("check", cwd=deployment)
    assert run.returncode == 0
    assert "routes without a server in this tree" in run.stdout
    assert "SSE0" not in run.stdout


def test_a_server_stated_on_the_command_line(tmp_path):
    _, deployment = split("haproxy-routes-on-last-event-id", tmp_path)
    bad = sselint("check", "--assume", "ids=counter,unknown=tolerant", "--format", "json", cwd=deployment)
    good = sselint("check", "--assume", "ids=none", "--format", "json", cwd=deployment)
    assert [v for v, _ in judged(bad)] == ["corrupt"]
    assert {v for v, _ in judged(good)} <= {"none", "no-resumption"}
    assert (bad.returncode, good.returncode) == (1, 0)


def test_a_server_stated_in_the_settings(tmp_path):
    _, deployment = split("haproxy-routes-on-last-event-id", tmp_path)
    (deployment / "sselint.toml").write_text(
        '[[streams]]\nname = "agent feed"\nids = "counter"\nunknown = "tolerant"\nimage = "agent"\n'
    )
    run = sselint("check", "--format", "json", cwd=deployment)
    assert [v for v, _ in judged(run)] == ["corrupt"], run.stderr


def test_facts_that_are_something_else_are_refused(tmp_path):
    (tmp_path / "app.json").write_text('{"version": 7}')
    run = sselint("check", "--facts", "app.json", cwd=tmp_path)
    assert run.returncode == 2
    assert "app.json" in run.stderr
    assert "sselint facts --format json" in run.stderr
