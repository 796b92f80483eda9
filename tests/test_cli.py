"""The command line: commands, options, formats, and what it says to a mistake."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from sselint import __version__, terminal
from sselint.catalogue import finding_rules, rules_directory
from sselint.facts import FileOutcome, FileReport, Span
from tests.cli_runner import CommandLine
from tests.report import builders


@pytest.fixture
def sselint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """The command line in an empty folder, in an environment that asks for nothing."""
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "SSELINT_TRACEBACK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return CommandLine(tmp_path, monkeypatch, capsys)


def outside(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "sselint", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent), **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


# -- what it says of itself --------------------------------------------------------------------------------------------


def test_the_version(sselint: CommandLine) -> None:
    run = sselint.run("--version")
    assert (run.code, run.out) == (0, f"sselint {__version__}\n")


def test_help_names_every_command_and_exit_code(sselint: CommandLine) -> None:
    run = sselint.run("--help")
    assert run.code == 0
    for command in ("check", "explain", "facts", "rules"):
        assert re.search(rf"^  {command} +[A-Z].*\.$", run.out, re.MULTILINE)
    words = " ".join(run.out.split())
    assert "Nothing in the tree is executed, and nothing leaves the machine." in words
    assert "Exit: 0 clean, 1 findings, 2 usage or settings, 3 something that a deployment needs" in words


@pytest.mark.parametrize("command", ["check", "facts", "rules", "explain"])
def test_the_help_of_a_command_explains_every_option(command: str, sselint: CommandLine) -> None:
    run = sselint.run(command, "--help")
    assert run.code == 0
    assert run.out.startswith(f"Usage: sselint {command} ")
    assert max(map(len, run.out.splitlines())) <= 100
    options = re.findall(r"^  (?:-h, )?--[a-z-]+.*(?:\n {10,}.*)*", run.out, re.MULTILINE)
    assert options
    for option in options:
        assert re.search(r"[a-z]{2}.*[.)]$", " ".join(option.split())), option


def test_without_a_command_it_shows_the_help(sselint: CommandLine) -> None:
    run = sselint.run()
    assert "Usage: sselint" in run.out + run.err


def test_python_m_sselint_is_the_same(tmp_path: Path) -> None:
    run = outside("--version", cwd=tmp_path)
    assert (run.returncode, run.stdout, run.stderr) == (0, f"sselint {__version__}\n", "")


# -- rules and explain -------------------------------------------------------------------------------------------------


def test_rules_lists_every_code(sselint: CommandLine) -> None:
    run = sselint.run("rules")
    assert run.code == 0
    assert re.findall(r"^  (SSE\d+) ", run.out, re.MULTILINE) == list(finding_rules())


@pytest.mark.parametrize("code", finding_rules())
def test_explain_has_a_page_for_every_code(code: str, sselint: CommandLine) -> None:
    run = sselint.run("explain", code)
    rule = finding_rules()[code]
    assert run.code == 0
    assert run.out.startswith(f"{code} {rule.title} ({rule.name})")
    assert sselint.run("explain", code.lower()).out == sselint.run("explain", rule.name).out == run.out


@pytest.mark.parametrize(
    "word, instead",
    [
        ("SSE110", "`sselint rules` lists the codes"),
        ("101", "write `SSE101`"),
        ("counter-id", "write `counter-ids`"),
        ("zzz", "`sselint rules` lists the codes"),
    ],
)
def test_explain_of_no_code_says_what_to_write(word: str, instead: str, sselint: CommandLine) -> None:
    run = sselint.run("explain", word)
    assert (run.code, run.out) == (2, "")
    assert f"there is no code `{word}`" in run.err and instead in run.err


# -- mistakes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, what, instead",
    [
        (["chek"], "there is no command `chek`", "write `check`"),
        (["tree"], "`tree` is not a command", "write `sselint check tree`"),
        (["check", "--formt", "json"], "--formt", "--format"),
        (["check", "--format", "jsn"], "there is no format `jsn`", "write `json`"),
        (["check", "--format", "sarif"], "there is no format `sarif`", "write one of `text`, `json`"),
        (["facts", "--format", "html"], "there is no format `html`", "write one of `text`, `json`"),
        (["check", "--format", "json="], "`json=` names no file", "write json=FILE"),
        (["check", "--format", "text", "--format", "json"], "two formats would go to standard output", "json=FILE"),
        (["check", "--format", "json=no/such/folder"], "cannot be written: no such file", "a folder that exists"),
        (["check", "nowhere"], "no such file or folder", "name a folder or a file that exists"),
        (["check", "--policy", "pinned"], "'pinned' is not one of", "'pinned-fail-closed'"),
        (["check", "--fail-on", "fatal"], "'fatal' is not one of", "'error'"),
        (["check", "--assume", "three"], "`three` is not KEY=VALUE", "--assume replicas=3"),
        (["check", "--assume", "replica=3"], "unknown key `replica`", "write `replicas`"),
        (["check", "--assume", "replicas=none"], "`replicas` can't be 'none'", "replicas=3"),
        (["check", "--assume", "unknown=tolerant"], "a server needs `ids`", "ids=counter"),
        (["check", "--assume", "ids=count"], "`ids` can't be 'count'", "write `counter`"),
        (["check", "--facts", "nowhere.json"], "cannot be read", "name a file that exists"),
        (["check", "--facts", "tree/broken.json"], "not JSON", "sselint facts --format json"),
        (["explain"], "Missing argument 'CODE'", "sselint explain"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistake_is_answered_with_what_to_write(
    arguments: list[str], what: str, instead: str, sselint: CommandLine
) -> None:
    (sselint.root / "tree").mkdir()
    (sselint.root / "tree" / "broken.json").write_text("{", encoding="utf-8")
    run = sselint.run(*arguments)
    assert (run.code, run.out) == (2, "")
    assert what in run.err
    assert instead in run.err
    assert "Traceback" not in run.err


def test_a_mistake_in_the_settings_names_its_line(sselint: CommandLine) -> None:
    (sselint.root / "sselint.toml").write_text('# ours\nfail_on = "error"\n', encoding="utf-8")
    run = sselint.run("check")
    assert (run.code, run.out) == (2, "")
    assert run.err.splitlines() == ["sselint: unknown key `fail_on`", "  in sselint.toml:2", "  write `fail-on`"]


@pytest.mark.parametrize(
    "option", ["--baseline", "--write-baseline", "--sarif", "--init"], ids=lambda option: option.strip("-")
)
def test_what_does_not_exist_is_not_pretended(option: str, sselint: CommandLine) -> None:
    assert sselint.run("check", option, "x").code == 2
    assert option not in sselint.run("check", "--help").out


def test_a_fault_of_ours_is_told_without_a_traceback(sselint: CommandLine) -> None:
    from sselint import pipeline

    def fails(*_: object) -> None:
        raise ZeroDivisionError("in a room")

    sselint.monkeypatch.setattr(pipeline, "audit", fails)
    run = sselint.run("check")
    assert (run.code, run.out) == (3, "")
    assert run.err.splitlines()[0] == "sselint: a fault of sselint: ZeroDivisionError: in a room"
    assert "SSELINT_TRACEBACK=1" in run.err


# -- exit codes --------------------------------------------------------------------------------------------------------

BROKEN = FileReport("edge.conf", FileOutcome.UNREADABLE, "line 9 never ends", True, Span("edge.conf", 9, 1, 9, 2))
UNUSED = replace(BROKEN, path="old.conf", needed=False)


@pytest.mark.parametrize(
    "judgements, files, options, code",
    [
        ([], [], [], 0),
        ([builders.safe()], [], [], 0),
        ([builders.safe()], [], ["--fail-on", "warning"], 0),
        ([builders.safe()], [], ["--fail-on", "note"], 1),
        ([builders.corrupt()], [], [], 1),
        ([builders.corrupt()], [], ["--exit-zero"], 0),
        ([builders.latent()], [], [], 0),
        ([builders.latent()], [], ["--fail-on", "warning"], 1),
        ([builders.loud()], [], ["--fail-on", "warning"], 1),
        ([builders.unknown()], [], [], 0),
        ([builders.unknown()], [], ["--fail-on-unknown"], 1),
        ([builders.safe()], [], ["--fail-on-unknown"], 0),
        ([builders.safe()], [], ["--policy", "pinned-fail-closed"], 0),
        ([builders.safe()], [], ["--policy", "shared-replay"], 1),
        ([builders.safe()], [BROKEN], [], 3),
        ([builders.safe()], [BROKEN], ["--fail-on", "warning"], 3),
        ([builders.safe()], [BROKEN], ["--exit-zero"], 3),
        ([builders.safe()], [UNUSED], [], 0),
        ([builders.corrupt()], [BROKEN], [], 1),
        ([builders.corrupt()], [BROKEN], ["--exit-zero"], 3),
    ],
)
def test_exit_codes(
    judgements: list[builders.Judgement],
    files: list[FileReport],
    options: list[str],
    code: int,
    sselint: CommandLine,
) -> None:
    """1 beats 3, and the format never matters."""
    sselint.found(*judgements, files=files)
    text = sselint.run("check", *options)
    machine = sselint.run("check", *options, "--format", "json")
    both = sselint.run("check", *options, "--format", "text", "--format", "json=report.json")
    assert (text.code, machine.code, both.code) == (code, code, code)
    assert json.loads(machine.out)["exit"] == code


def test_fail_on_stands_in_the_settings_too_and_the_option_wins(sselint: CommandLine) -> None:
    sselint.found(builders.latent())
    (sselint.root / "sselint.toml").write_text('fail-on = "warning"\n', encoding="utf-8")
    assert sselint.run("check").code == 1
    assert sselint.run("check", "--fail-on", "error").code == 0


def test_an_unreadable_file_is_named_with_its_place_and_reason(sselint: CommandLine) -> None:
    sselint.found(builders.safe(), files=[BROKEN])
    run = sselint.run("check")
    assert "warning[SSE901] edge.conf:9 could not be read: line 9 never ends" in " ".join(run.out.split())


# -- formats and options -----------------------------------------------------------------------------------------------


def test_several_formats_each_go_to_their_place(sselint: CommandLine) -> None:
    sselint.found(builders.corrupt())
    run = sselint.run("check", "--format", "text", "--format", "json=report.json", "--format", "text=report.txt")
    assert run.out.startswith("error[SSE001] app.py:feed behind haproxy.cfg\n")
    assert (sselint.root / "report.txt").read_text(encoding="utf-8").startswith("error[SSE001] ")
    document = json.loads((sselint.root / "report.json").read_text(encoding="utf-8"))
    schema = json.loads((rules_directory() / "schema" / "check.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(document)
    assert [d["verdict"] for d in document["deployments"]] == ["corrupt"]


def test_facts_in_both_formats(sselint: CommandLine) -> None:
    sselint.found(builders.corrupt())
    assert sselint.run("facts").out.startswith("stream app.py:16 feed")
    document = json.loads(sselint.run("facts", "--format", "json").out)
    schema = json.loads((rules_directory() / "schema" / "facts.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(document)
    assert [s["symbol"] for s in document["streams"]] == ["feed"]


def test_facts_judge_nothing_and_say_when_they_are_not_all(sselint: CommandLine) -> None:
    sselint.found(builders.corrupt())
    assert sselint.run("facts").code == 0
    sselint.found(builders.safe(), files=[BROKEN])
    assert sselint.run("facts", "--format", "json").code == 3
    waiver = '[[waivers]]\npath = "edge.conf"\nreason = "broken on purpose"\n'
    (sselint.root / "sselint.toml").write_text(waiver, encoding="utf-8")
    assert sselint.run("facts").code == 0


def test_statistics_on_request(sselint: CommandLine) -> None:
    sselint.found(builders.corrupt())
    assert "Statistics" not in sselint.run("check").out
    assert re.search(r"Statistics\n +1  corrupt", sselint.run("check", "--statistics").out)


def test_suppressed_findings_are_listed_on_request(sselint: CommandLine) -> None:
    source = "\n" * 7 + "tick = itertools.count(1)  # sselint: ignore[SSE101] numbered by hand\n"
    (sselint.root / "app.py").write_text(source, encoding="utf-8")
    sselint.found(builders.corrupt(), files=[FileReport("app.py", FileOutcome.ANALYSED)])
    quiet, told = sselint.run("check"), sselint.run("check", "--show-suppressed")
    assert "1 suppressed" in quiet.out
    assert "app.py:8 (inline): numbered by hand" not in quiet.out
    assert "app.py:8 (inline): numbered by hand" in told.out
    assert quiet.code == told.code == 1


def test_an_assumption_is_named_in_the_report(sselint: CommandLine) -> None:
    sselint.found(builders.corrupt())
    run = sselint.run("check", "--assume", "replicas=2-6")
    assert "assumed: 2 to 6 processes wherever the tree leaves the number open" in run.out


# -- terminals ---------------------------------------------------------------------------------------------------------


def test_no_colour_in_a_pipe_and_none_with_no_color(sselint: CommandLine) -> None:
    sselint.found(builders.corrupt())
    assert "\x1b" not in sselint.run("check").out
    sselint.monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1;31m" in sselint.run("check").out
    sselint.monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in sselint.run("check").out


def test_a_report_in_a_file_has_no_colour(sselint: CommandLine) -> None:
    sselint.found(builders.corrupt())
    sselint.monkeypatch.setenv("FORCE_COLOR", "1")
    sselint.run("check", "--format", "text=report.txt")
    assert "\x1b" not in (sselint.root / "report.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("columns, width", [("40", 60), ("80", 80), ("100", 100), ("300", 120)])
def test_the_width_is_the_terminals_within_reason(columns: str, width: int, sselint: CommandLine) -> None:
    sselint.monkeypatch.setenv("COLUMNS", columns)
    assert terminal.width() == width
    sselint.found(builders.corrupt())
    assert max(map(len, sselint.run("check").out.splitlines())) <= width


def on_terminal(*arguments: str, cwd: Path) -> str:
    """What a run shows whose standard error is a terminal."""
    ours, theirs = pty.openpty()
    try:
        run = subprocess.run(
            [sys.executable, "-m", "sselint", *arguments],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
            stdout=subprocess.DEVNULL,
            stderr=theirs,
            timeout=60,
            check=False,
        )
        assert run.returncode == 0
    finally:
        os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 65536):
            shown += piece
    except OSError:  # the other end is closed, and all of it is read
        pass
    os.close(ours)
    return shown.decode()


def test_progress_is_told_on_a_terminal_and_wiped_out(tmp_path: Path) -> None:
    shown = on_terminal("check", ".", cwd=tmp_path)
    assert "looking for files ..." in shown
    assert shown.endswith("\r\x1b[K")


def test_no_progress_in_a_pipe(tmp_path: Path) -> None:
    assert outside("check", ".", cwd=tmp_path).stderr == ""


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    command = f"{sys.executable} -m sselint rules | head -n 1; exit ${{PIPESTATUS[0]}}"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    run = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (run.returncode, run.stderr, run.stdout) == (0, "", "The deployment\n")


def test_a_terminal_that_lacks_letters_is_no_error(tmp_path: Path) -> None:
    program = "from sselint import terminal; terminal.accept_any_text(); terminal.write('caf\\xe9\\n', None)"
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent), "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (run.returncode, run.stdout) == (0, "caf\\xe9\n")
