"""The report for people: whole outputs, as they stand in snapshots/. `UPDATE_SNAPSHOTS=1` writes them anew."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from sselint.facts import FileOutcome, FileReport, Observation, Span
from sselint.findings import Judgement, Policy, Report, Severity, Verdict
from sselint.report import Options, render_check, render_facts
from sselint.report.explain import render_explanation, render_rules
from sselint.report.frame import loader, quoted
from sselint.settings import Settings, parse_assumptions
from tests.report import builders
from tests.report.test_facts_json import audit

SNAPSHOTS = Path(__file__).parent / "snapshots"


def text(report: Report, width: int = 80, **options: bool) -> str:
    return render_check("text", report, Options(builders.HAPROXY_CASE, width, **options))


def same_as_snapshot(name: str, output: str) -> None:
    file = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        file.write_text(output, encoding="utf-8")
    assert output == file.read_text(encoding="utf-8")


JUDGEMENTS = {
    "corrupt": builders.corrupt(),
    "latent": builders.latent(),
    "loud": builders.loud(),
    "unknown": builders.unknown(),
    "safe": builders.safe(),
    "shared": builders.safe(Verdict.SHARED_REPLAY, why="ids, replay and live tail come from one Redis stream"),
}


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", JUDGEMENTS)
def test_one_deployment(name: str, width: int) -> None:
    same_as_snapshot(f"{name}-{width}", text(builders.report(JUDGEMENTS[name]), width))


@pytest.mark.parametrize(
    ("elsewhere", "says"),
    [(True, "because nothing brings a client back:"), (None, "nothing is known to bring a client back:")],
)
def test_a_refusal_says_no_more_of_the_way_than_is_known(elsewhere: bool | None, says: str) -> None:
    judgement = replace(builders.loud(), conditions=builders.conditions((True, True, True, elsewhere, False)))
    assert says in " ".join(text(builders.report(judgement), 80).split())


@pytest.mark.parametrize("width", [80, 120])
def test_many_deployments_and_all_that_stands_around_them(width: int) -> None:
    report = builders.report(
        builders.without_ids(),
        builders.safe(),
        builders.corrupt(deployment=builders.deployment(declared_policy="no-resumption")),
        settings=Settings(
            builders.HAPROXY_CASE, policy=Policy.PINNED_FAIL_CLOSED, assume=parse_assumptions(["replicas=3"])
        ),
        files=(
            FileReport("app.py", FileOutcome.ANALYSED),
            FileReport(
                "conf.d/feed.conf",
                FileOutcome.UNREADABLE,
                "line 9 never ends",
                True,
                Span("conf.d/feed.conf", 9, 1, 9, 2),
            ),
            FileReport("old.conf", FileOutcome.PARTLY, "include mime.types is missing"),
        ),
        loose_routes=(builders.loose_route(), builders.loose_route(line=20, name="location /b -> upstream b")),
    )
    same_as_snapshot(f"many-{width}", text(report, width, statistics=True))


def test_colour_changes_nothing_but_colour() -> None:
    import re

    report = builders.report(builders.corrupt(), builders.safe())
    coloured = text(report, colour=True)
    assert "\x1b[1;31m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == text(report)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_lines_stay_within_the_width(width: int) -> None:
    output = text(builders.report(*JUDGEMENTS.values()), width)
    assert max(len(line) for line in output.splitlines()) <= width


def test_every_deployment_is_told_by_name() -> None:
    named = [
        replace(judgement, deployment=replace(judgement.deployment, name=f"deployment-{name}"))
        for name, judgement in JUDGEMENTS.items()
    ]
    output = text(builders.report(*named, builders.without_ids()))
    for name in JUDGEMENTS:
        assert f"deployment-{name}" in output
    assert "app.py:feed: keeps policy 3" in output


def the_line(report: Report) -> str:
    output = text(report)
    assert output.count("\n") == 1
    assert report.exit == 0
    return output.strip()


def test_an_empty_tree_gets_one_line() -> None:
    assert the_line(builders.report(files=())) == "ok  no event stream here"


def test_a_server_without_ids_gets_one_line() -> None:
    line = the_line(builders.report(builders.without_ids()))
    assert line == "ok  no resumable stream here: feed (app.py:16) sends no ids; policy 3 (no-resumption)"


def test_a_balancer_alone_gets_one_line() -> None:
    line = the_line(builders.report(loose_routes=(builders.loose_route(),)))
    loose = "1 route without a server in this tree (edge/nginx.conf:12); `--facts` brings a server"
    assert line == f"ok  no event stream here; {loose}"


def test_ids_of_one_connection_are_not_called_none() -> None:
    fleeting = replace(builders.corrupt().deployment, hops=())
    judged = builders.corrupt(verdict=Verdict.NONE, deployment=fleeting, conditions=())
    line = the_line(builders.report(judged))
    assert line == "ok  no resumable stream here: feed (app.py:16) sends ids that name nothing outside one connection"


@pytest.mark.parametrize(
    "changes, what",
    [
        ({"apps": ()}, "feed (app.py:16) is library code that no application mounts"),
        ({"deployable": False}, "1 event stream in tests, examples or docs only"),
    ],
)
def test_streams_that_nobody_deploys_are_told_as_such(changes: dict[str, object], what: str) -> None:
    report = replace(builders.report(), streams=(builders.stream(**changes),))
    assert the_line(report) == f"ok  no deployment here: {what}"


def test_a_file_on_which_no_deployment_rests() -> None:
    narrowed = builders.report(builders.corrupt(), settings=Settings(builders.HAPROXY_CASE, reported=("README.md",)))
    assert the_line(narrowed) == "ok  no deployment rests on what was named"


def test_notes_do_not_lengthen_the_one_line() -> None:
    """An include that comes with the image, a timeout on a stream that nobody resumes: nothing to mend here."""
    partly = FileReport("nginx.conf", FileOutcome.PARTLY, "include mime.types is missing")
    assert the_line(builders.report(builders.without_ids(), files=(partly,))).startswith("ok  no resumable stream here")


def test_notes_are_told_where_they_fail_the_run() -> None:
    partly = FileReport("nginx.conf", FileOutcome.PARTLY, "include mime.types is missing")
    strict = Settings(builders.HAPROXY_CASE, fail_on=Severity.NOTE)
    noted = builders.report(builders.without_ids(), files=(partly,), settings=strict)
    assert (noted.exit, "no resumable" in text(noted)) == (0, True)
    hop = builders.hop(builders.route(observations=(Observation("SSE602", "cut after 60 s", (builders.COOKIE,)),)))
    streamed = replace(builders.without_ids().deployment, hops=(hop,))
    told = builders.report(replace(builders.without_ids(), deployment=streamed), settings=strict)
    assert told.exit == 1
    assert "SSE602" in text(told)


def test_the_source_cannot_speak_to_the_terminal(tmp_path: Path) -> None:
    """Control characters in a source line, a note or a name neither move the cursor nor change the colour."""
    (tmp_path / "app.py").write_text("\n" * 7 + "tick = '\x1b[2J\u202e\a'\n", encoding="utf-8")
    hostile: Judgement = builders.corrupt(why="it says \x1b]0;owned\a")
    output = render_check("text", builders.report(hostile), Options(tmp_path, 80))
    assert not set(output) & {"\x1b", "\a", "\u202e"}
    assert "tick = '?[2J??'" in output


def test_a_frame_of_a_file_that_is_gone_is_its_place_and_its_note(tmp_path: Path) -> None:
    output = render_check("text", builders.report(builders.corrupt()), Options(tmp_path, 80))
    assert "app.py:8:8\n    `tick` is itertools.count(1) at module level" in output


def test_a_frame_never_leaves_the_root(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("\n" * 7 + "password\n")
    root = tmp_path / "root"
    root.mkdir()
    (root / "app.py").symlink_to(secret)
    assert "password" not in render_check("text", builders.report(builders.corrupt()), Options(root, 80))


def test_a_long_line_is_shown_around_the_span(tmp_path: Path) -> None:
    line = "x = [" + "'some text', " * 40 + "next(tick), " + "'more', " * 40 + "]"
    (tmp_path / "app.py").write_text("\n" * 7 + line + "\n", encoding="utf-8")
    column = line.index("next(tick)") + 1
    there = builders.span("app.py", 8, column, 10, "here")
    judgement = builders.corrupt()
    stream = replace(judgement.deployment.stream, ids=replace(judgement.deployment.stream.ids, evidence=(there,)))
    judgement = replace(judgement, deployment=replace(judgement.deployment, stream=stream))
    lines = render_check("text", builders.report(judgement), Options(tmp_path, 80)).splitlines()
    shown = next(i for i, text in enumerate(lines) if "next(tick)" in text)
    assert len(lines[shown]) <= 80
    assert lines[shown].index("next(tick)") == lines[shown + 1].index("^^^^^^^^^^")


@pytest.mark.parametrize(
    "line, column, length, code",
    [
        (1, 6, 10, "next(tick)"),
        (1, 5, 1, "x = [next(tick)]"),
        (2, 1, 60, "y = a + a + a + a + a + a + a + a + a..."),
        (3, 1, 12, ""),
        (9, 1, 9, ""),
    ],
    ids=["a piece", "a bracket alone says little", "a long one is cropped", "it has backquotes itself", "no such line"],
)
def test_a_place_is_quoted(line: int, column: int, length: int, code: str, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("x = [next(tick)]\ny = " + "a + " * 30 + "\n# see `tick`\n", encoding="utf-8")
    place = builders.span("app.py", line, column, length)
    assert quoted(place, loader(tmp_path)) == code
    assert quoted(replace(place, path="gone.py"), loader(tmp_path)) == ""


def test_facts_for_people() -> None:
    same_as_snapshot("facts-80", render_facts("text", audit(), Options(builders.HAPROXY_CASE, 80)))


def test_facts_stay_within_the_width() -> None:
    output = render_facts("text", audit(), Options(builders.HAPROXY_CASE, 60))
    assert max(len(line) for line in output.splitlines()) <= 60


def test_the_page_of_a_code() -> None:
    same_as_snapshot("explain-SSE308-80", render_explanation("sse308", 80, False))
    assert render_explanation("affinity-undone", 80, False) == render_explanation("SSE308", 80, False)


def test_the_list_of_codes() -> None:
    same_as_snapshot("rules-80", render_rules(80, False))
