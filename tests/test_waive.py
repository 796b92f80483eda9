"""Findings that somebody has decided to live with: `# sselint: ignore[CODE] reason`, and waivers of the settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from sselint.facts import FileOutcome, FileReport, Span
from sselint.findings import Finding, Judgement, Report, Severity
from sselint.judge import judge_judgements
from sselint.report import Options, render_check
from sselint.settings import Waiver, load_settings
from tests.report import builders

SOURCE = """\
from collections import deque
import itertools

tick = itertools.count(1)
ring = deque(maxlen=500)
"""
TICK, RING = builders.span("app.py", 4, 8, 18, "counted here"), builders.span("app.py", 5, 8, 17, "kept here")


def judgement() -> Judgement:
    """The corrupt deployment, with its counter and its buffer where SOURCE has them."""
    stream = builders.stream()
    stream = replace(
        stream, ids=replace(stream.ids, evidence=(TICK,)), replay=replace(stream.replay, evidence=(RING,))
    )
    return builders.corrupt(deployment=builders.deployment(stream=stream), conditions=())


def report(root: Path, judgements: Sequence[Judgement] = (), files: Sequence[FileReport] = ()) -> Report:
    """The report on deployments whose source lies under `root`."""
    written = sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file())
    known = {file.path for file in files}
    analysed = tuple(FileReport(path, FileOutcome.ANALYSED) for path in written if path not in known)
    audit = builders.Audit(root=str(root), files=(*files, *analysed))
    return judge_judgements(judgements or (judgement(),), audit, load_settings([root]))


def with_comment(root: Path, line: str, comment: str) -> Report:
    """The report where `comment` stands at the end of the source line that begins with `line`."""
    lines = [f"{text}  {comment}" if text.startswith(line) else text for text in SOURCE.splitlines()]
    (root / "app.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return report(root)


def of(code: str, findings: Sequence[Finding]) -> Finding:
    (finding,) = [f for f in findings if f.code == code]
    return finding


def codes(found: Report, *, suppressed: bool) -> set[str]:
    return {f.code for f in found.findings if (f.suppressed is not None) is suppressed}


# -- an ignore that counts ---------------------------------------------------------------------------------------------


def test_an_ignore_suppresses_the_finding_of_its_line_and_keeps_it_in_the_data(tmp_path: Path) -> None:
    found = with_comment(tmp_path, "tick", "# sselint: ignore[SSE101] numbered by hand since 2019")
    finding = of("SSE101", found.findings)
    assert finding.suppressed is not None
    assert (finding.suppressed.by, finding.suppressed.reason) == ("inline", "numbered by hand since 2019")
    assert (finding.suppressed.path, finding.suppressed.line) == ("app.py", 4)
    assert codes(found, suppressed=True) == {"SSE101"}


def test_a_waived_part_never_waives_the_whole(tmp_path: Path) -> None:
    found = with_comment(tmp_path, "tick", "# sselint: ignore[SSE101] numbered by hand since 2019")
    assert of("SSE001", found.findings).suppressed is None
    assert found.exit == 1


def test_a_waived_whole_makes_its_parts_notes(tmp_path: Path) -> None:
    """They explain what was accepted; the run passes."""
    found = with_comment(tmp_path, "tick", "# sselint: ignore[SSE001] a demo, never more than one process")
    assert codes(found, suppressed=True) == {"SSE001"}
    assert {f.severity for f in found.findings if not f.suppressed} == {Severity.NOTE}
    assert found.exit == 0


def test_several_codes_share_a_reason(tmp_path: Path) -> None:
    found = with_comment(tmp_path, "tick", "# sselint: ignore[SSE101, SSE501] numbered by hand")
    assert codes(found, suppressed=True) == {"SSE101", "SSE501"}


def test_an_ignore_on_a_line_of_its_own_speaks_of_the_next(tmp_path: Path) -> None:
    text = SOURCE.replace("tick =", "# sselint: ignore[SSE101] by hand\n# and more words\n\ntick =")
    (tmp_path / "app.py").write_text(text, encoding="utf-8")
    moved = replace(TICK, line=7, end_line=7)
    stream = replace(builders.stream(), ids=replace(builders.stream().ids, evidence=(moved,)))
    found = report(tmp_path, [builders.corrupt(deployment=builders.deployment(stream=stream), conditions=())])
    assert codes(found, suppressed=True) == {"SSE101"}


def test_any_place_of_a_finding_will_do(tmp_path: Path) -> None:
    """SSE001 is shown at the counter; whoever owns the balancer may accept it there."""
    (tmp_path / "app.py").write_text(SOURCE, encoding="utf-8")
    lines = ["# nothing"] * 12 + ["  cookie SRV insert  # sselint: ignore[SSE301] two servers, restarted by hand"]
    (tmp_path / "haproxy.cfg").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = report(tmp_path)
    assert of("SSE301", found.findings).suppressed is not None


@pytest.mark.parametrize("path", ["haproxy.cfg", "nginx.conf", "k8s.yaml"])
def test_configuration_takes_ignores_too(path: str, tmp_path: Path) -> None:
    (tmp_path / path).write_text("x  # sselint: ignore[SSE301] known\n", encoding="utf-8")
    place = builders.span(path, 1)
    route = builders.route(affinity=builders.affinity(evidence=(place,)))
    judged = builders.corrupt(deployment=builders.deployment(hops=(builders.hop(route),)))
    assert of("SSE301", report(tmp_path, [judged]).findings).suppressed is not None


# -- look-alikes that suppress nothing ---------------------------------------------------------------------------------


def test_an_ignore_of_another_line_suppresses_nothing(tmp_path: Path) -> None:
    found = with_comment(tmp_path, "ring", "# sselint: ignore[SSE101] the wrong line")
    assert codes(found, suppressed=True) == set()


def test_an_ignore_inside_a_string_is_none(tmp_path: Path) -> None:
    text = SOURCE.replace("count(1)", "count(1), '# sselint: ignore[SSE101] not a comment'")
    (tmp_path / "app.py").write_text(text, encoding="utf-8")
    assert codes(report(tmp_path), suppressed=True) == set()


def test_the_directives_of_other_tools_are_left_alone(tmp_path: Path) -> None:
    found = with_comment(tmp_path, "tick", "# noqa: S101  # type: ignore")
    assert not {f.code for f in found.findings} & {"SSE905", "SSE906"}


# -- what is refused or useless ----------------------------------------------------------------------------------------


def refused(tmp_path: Path, comment: str) -> Finding:
    found = with_comment(tmp_path, "tick", comment)
    assert codes(found, suppressed=True) == set()
    finding = of("SSE905", found.findings)
    assert finding.severity is Severity.WARNING
    assert str(finding.evidence[0]) == "app.py:4"
    return finding


def test_an_ignore_without_reason_is_refused(tmp_path: Path) -> None:
    assert "without a reason" in refused(tmp_path, "# sselint: ignore[SSE101]").message


@pytest.mark.parametrize("comment", ["# sselint: ignore", "# sselint: ignore[]", "# sselint: ignore it is fine"])
def test_a_bare_ignore_is_refused(comment: str, tmp_path: Path) -> None:
    assert "without a code" in refused(tmp_path, comment).message


@pytest.mark.parametrize("code", ["SSE999", "SSE1", "sse101", "all"])
def test_an_ignore_of_no_code_is_refused(code: str, tmp_path: Path) -> None:
    assert f"there is no {code}" in refused(tmp_path, f"# sselint: ignore[{code}] because").message


def test_input_problems_are_not_waived_in_the_file(tmp_path: Path) -> None:
    """A file that cannot be read cannot speak."""
    assert "[[tool.sselint.waivers]]" in refused(tmp_path, "# sselint: ignore[SSE901] broken").message


def test_an_unused_ignore_is_reported(tmp_path: Path) -> None:
    found = with_comment(tmp_path, "ring", "# sselint: ignore[SSE102] was a clock once")
    finding = of("SSE906", found.findings)
    assert finding.message == "nothing to ignore here: SSE102 is not reported for this line"
    assert finding.severity is Severity.WARNING


def test_a_used_ignore_is_not_reported(tmp_path: Path) -> None:
    found = with_comment(tmp_path, "tick", "# sselint: ignore[SSE101] by hand")
    assert "SSE906" not in {f.code for f in found.findings}


def test_an_ignore_of_two_codes_of_which_one_is_not_there_names_it(tmp_path: Path) -> None:
    found = with_comment(tmp_path, "tick", "# sselint: ignore[SSE101, SSE102] by hand")
    assert codes(found, suppressed=True) == {"SSE101"}
    assert of("SSE906", found.findings).message == "nothing to ignore here: SSE102 is not reported for this line"


# -- the settings ------------------------------------------------------------------------------------------------------

BROKEN = FileReport("vendor/edge.conf", FileOutcome.UNREADABLE, "line 9 never ends", True)


def with_waiver(root: Path, path: str, codes: str = '["SSE901"]') -> Report:
    text = f'[[waivers]]\npath = "{path}"\ncodes = {codes}\nreason = "a broken copy, kept for the record"\n'
    (root / "sselint.toml").write_text(text, encoding="utf-8")
    return report(root, [builders.safe()], [BROKEN])


def test_an_input_problem_that_the_settings_waive_is_no_failure(tmp_path: Path) -> None:
    found = with_waiver(tmp_path, "vendor/*.conf")
    suppression = of("SSE901", found.findings).suppressed
    assert suppression is not None
    assert (suppression.by, suppression.reason) == ("settings", "a broken copy, kept for the record")
    assert (suppression.path, suppression.line, found.exit) == ("sselint.toml", 1, 0)


@pytest.mark.parametrize("path, listed", [("other/*.conf", '["SSE901"]'), ("vendor/*.conf", '["SSE902"]')])
def test_a_waiver_of_another_path_or_code_changes_nothing(path: str, listed: str, tmp_path: Path) -> None:
    found = with_waiver(tmp_path, path, listed)
    assert of("SSE901", found.findings).suppressed is None
    assert found.exit == 3


def test_a_folder_is_waived_with_all_that_is_in_it() -> None:
    place = Span("sselint.toml", 1, 1, 1, 2)
    assert Waiver("vendor", (), "why", place).covers("SSE901", "vendor/deep/edge.conf")
    assert not Waiver("vendor", (), "why", place).covers("SSE901", "vendored/edge.conf")


# -- in the report -----------------------------------------------------------------------------------------------------


def test_suppressed_findings_are_listed_on_request(tmp_path: Path) -> None:
    found = with_comment(tmp_path, "tick", "# sselint: ignore[SSE101] by hand")
    quiet = render_check("text", found, Options(tmp_path))
    assert "by hand" not in quiet.replace("ignore[SSE101] by hand", "")
    assert "1 suppressed" in quiet
    told = render_check("text", found, Options(tmp_path, show_suppressed=True))
    assert "app.py:4 (inline): by hand" in told


def test_an_accepted_deployment_is_told_in_short_with_the_reason(tmp_path: Path) -> None:
    found = with_comment(tmp_path, "tick", "# sselint: ignore[SSE001] a demo, never more than one process")
    text = render_check("text", found, Options(tmp_path))
    assert text.startswith("ignored  app.py:feed behind haproxy.cfg: corrupt, and accepted\n")
    assert "Accepted: a demo, never more than one process (app.py:4)" in text
    assert "All five conditions" not in text


def test_an_accepted_deployment_that_breaks_a_declared_policy_is_told_in_full(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(SOURCE.replace("(1)", "(1)  # sselint: ignore[SSE001] a demo"), encoding="utf-8")
    declared = replace(judgement(), deployment=replace(judgement().deployment, declared_policy="no-resumption"))
    text = render_check("text", report(tmp_path, [declared]), Options(tmp_path))
    assert "error[SSE003] declared policy 3 (no-resumption)" in text
    assert "How it happens" in text


def test_a_suppression_does_not_change_the_fingerprint(tmp_path: Path) -> None:
    plain = with_comment(tmp_path, "tick", "")
    ignored = with_comment(tmp_path, "tick", "# sselint: ignore[SSE101] by hand")
    assert of("SSE101", plain.findings).fingerprint == of("SSE101", ignored.findings).fingerprint

