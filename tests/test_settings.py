"""The settings: where they are found, what they say, and that every mistake names its place and what to write."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from sselint.facts import Count, IdKind, Span, Where
from sselint.findings import Policy, Severity
from sselint.settings import (
    Reference,
    Settings,
    SettingsError,
    UnknownCursor,
    find_root,
    load_settings,
    parse_assumptions,
)

PLACE = Span("sselint.toml", 1, 1, 1, 2)


def write(root: Path, text: str, name: str = "sselint.toml") -> Path:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text, encoding="utf-8")
    return root / name


def settings_of(root: Path, text: str, name: str = "sselint.toml") -> Settings:
    write(root, text, name)
    return load_settings([root])


def mistake(root: Path, text: str, name: str = "sselint.toml") -> SettingsError:
    """The mistake that such a file makes."""
    with pytest.raises(SettingsError) as error:
        settings_of(root, text, name)
    return error.value


# -- where they are ----------------------------------------------------------------------------------------------------


def test_no_settings_are_needed(tmp_path: Path) -> None:
    settings = load_settings([tmp_path])
    assert settings == Settings(tmp_path.resolve())
    assert settings.fail_on is Severity.ERROR


def test_the_root_is_the_nearest_folder_with_settings_or_git(tmp_path: Path) -> None:
    deep = tmp_path / "services" / "feed" / "app"
    deep.mkdir(parents=True)
    assert find_root(deep) == deep.resolve()
    (tmp_path / ".git").mkdir()
    assert find_root(deep) == tmp_path.resolve()
    write(tmp_path / "services" / "feed", "")
    assert find_root(deep) == (tmp_path / "services" / "feed").resolve()
    assert find_root(write(deep, "", "main.py")) == (tmp_path / "services" / "feed").resolve()


def test_a_pyproject_of_other_tools_is_no_root(tmp_path: Path) -> None:
    write(tmp_path, '[project]\nname = "feed"\ndependencies = ["sselint"]\n', "pyproject.toml")
    (tmp_path / "app").mkdir()
    assert find_root(tmp_path / "app") == (tmp_path / "app").resolve()


def test_both_files_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    alone = settings_of(tmp_path / "a", 'fail-on = "note"\n')
    inside = settings_of(tmp_path / "b", '[tool.sselint]\nfail-on = "note"\n', "pyproject.toml")
    assert alone.fail_on is inside.fail_on is Severity.NOTE
    assert (alone.path, inside.path) == ("sselint.toml", "pyproject.toml")


def test_a_folder_below_the_root_narrows_what_is_read_and_a_file_what_is_reported(tmp_path: Path) -> None:
    write(tmp_path, "")
    file = write(tmp_path / "app", "", "main.py")
    assert load_settings([tmp_path / "app"]).read == ("app",)
    assert (load_settings([file]).read, load_settings([file]).reported) == ((), ("app/main.py",))
    assert load_settings([tmp_path, tmp_path / "app"]).read == ()


def test_paths_of_two_repositories_are_refused(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / ".git").mkdir(parents=True)
    with pytest.raises(SettingsError, match="different roots"):
        load_settings([tmp_path / "one", tmp_path / "two"])


def test_settings_in_two_files_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "[tool.sselint]\n", "pyproject.toml")
    error = mistake(tmp_path, "")
    assert (error.what, error.where) == ("settings stand in two files", "sselint.toml and pyproject.toml")


# -- what they say -----------------------------------------------------------------------------------------------------


def test_a_deployment(tmp_path: Path) -> None:
    settings = settings_of(
        tmp_path,
        '[[deployments]]\nstream = "./app/main.py:feed"\nroutes = ["edge.cfg:in", "inner.conf"]\n'
        'pool = "k8s.yaml"\nreplicas = "2-"\npolicy = "no-resumption"\nclients = ["browser"]\nname = "live"\n',
    )
    (deployment,) = settings.deployments
    assert deployment.stream.means("app/main.py", "feed")
    assert [str(route) for route in deployment.routes] == ["edge.cfg:in", "inner.conf"]
    assert deployment.replicas is not None
    assert (deployment.replicas.low, deployment.replicas.high) == (2, None)
    assert deployment.replicas.why == "stated in sselint.toml:5"
    assert (deployment.policy, deployment.clients, deployment.name) == (Policy.NO_RESUMPTION, ("browser",), "live")
    assert str(deployment.place) == "sselint.toml:1"


def test_a_stated_stream_keeps_replay_and_live_tail_together_unless_it_says_otherwise(tmp_path: Path) -> None:
    first, second = settings_of(
        tmp_path,
        '[[streams]]\nname = "a"\nids = "store"\nreplay = "shared"\n'
        '[[streams]]\nname = "b"\nids = "counter"\nreplay = "shared"\nlive-tail = "memory"\nunknown = "refused"\n',
    ).streams
    assert (first.replay, first.live_tail, first.unknown) == (Where.SHARED, Where.SHARED, UnknownCursor.TOLERANT)
    assert (second.live_tail, second.unknown, second.ids) == (Where.MEMORY, UnknownCursor.REFUSED, IdKind.COUNTER)
    assert second.place is not None and second.place.line == 5


@pytest.mark.parametrize(
    "reference, path, names, means",
    [
        ("app/main.py", "app/main.py", ("feed",), True),
        ("app/main.py:feed", "app/main.py", ("Feed.feed",), True),
        ("app/main.py:feed", "app/main.py", ("feeds",), False),
        ("app/*.py:feed", "app/main.py", ("feed",), True),
        ("k8s.yaml:app", "k8s.yaml", ("Deployment app",), True),
        ("k8s.yaml:Deployment app", "k8s.yaml", ("Deployment app",), True),
        (":feed", "anywhere.py", ("feed",), True),
        ("other.py", "app/main.py", ("feed",), False),
        ("app/main.py:feed", "app.json#app/main.py", ("feed",), True),
        ("app.json#app/main.py:feed", "app.json#app/main.py", ("feed",), True),
        ("main.py:feed", "app.json#app/main.py", ("feed",), False),
    ],
)
def test_what_a_reference_means(reference: str, path: str, names: tuple[str, ...], means: bool) -> None:
    assert Reference.parse(reference, PLACE).means(path, *names) is means


def test_a_folder_of_rules_means_the_files_in_it(tmp_path: Path) -> None:
    for name in ("b.yaml", "deep/a.yml", "README.md"):
        write(tmp_path / "mine", "library: x\n", name)
    settings = settings_of(tmp_path, 'rules = ["mine", "mine/b.yaml"]\n')
    assert [path.name for path in settings.rules] == ["b.yaml", "a.yml", "b.yaml"]
    (tmp_path / "empty").mkdir()
    assert "no YAML file in empty" in mistake(tmp_path, 'rules = ["empty"]\n').what


# -- mistakes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, what, where, instead",
    [
        ("fail-on = ", "not TOML", "sselint.toml:1", "correct the syntax"),
        ("\nfail-on = =\n", "not TOML", "sselint.toml:2:11", "correct the syntax"),
        ("\nfail_on = 1\n", "unknown key `fail_on`", "sselint.toml:2", "write `fail-on`"),
        ('fail-on = "fatal"\n', "`fail-on` can't be 'fatal'", "sselint.toml:1", "`error`"),
        ('policy = "pinned-fail-close"\n', "can't be 'pinned-fail-close'", "sselint.toml:1", "`pinned-fail-closed`"),
        ("fail-on-unknown = 1\n", "must be true or false, not 1", "sselint.toml:1", "fail-on-unknown = true"),
        ('exclude = "build"\n', "`exclude` must be a list of strings", "sselint.toml:1", 'exclude = ["..."]'),
        ('rules = ["mine"]\n', "no such rules file or folder: mine", "sselint.toml:1", "relative to this file"),
        ("[deployments]\n", "`deployments` must be an array of tables", "sselint.toml:1", "[[deployments]]"),
        ('[[deployments]]\nname = "x"\n', "`stream` is missing", "sselint.toml:1", 'stream = "app/main.py:events"'),
        ('[[deployments]]\nstream = ""\n', "a string that is not empty", "sselint.toml:2", 'stream = "..."'),
        (
            '[[deployments]]\nstream = "a"\n\n[[deployments]]\nstream = "b"\nreplicas = 0\n',
            "`replicas` can't be 0",
            "sselint.toml:6",
            '("2-6")',
        ),
        ('[[deployments]]\nstream = "a"\nreplicas = true\n', "can't be True", "sselint.toml:3", "write a number"),
        ('[[deployments]]\nstream = "a"\nreplicas = "6-2"\n', "can't be '6-2'", "sselint.toml:3", "write a number"),
        ('[[streams]]\nname = "a"\n', "`ids` is missing", "sselint.toml:1", "`counter`"),
        ('[[streams]]\nname = "a"\nids = "count"\n', "`ids` can't be 'count'", "sselint.toml:3", "write `counter`"),
        ('[[streams]]\nname = "a"\nids = "unknown"\n', "`ids` can't be 'unknown'", "sselint.toml:3", "`counter`"),
        (
            '[[streams]]\nname = "a"\nids = "clock"\nreplay = "pod_disk"\n',
            "`replay` can't be 'pod_disk'",
            "sselint.toml:4",
            "`shared`",
        ),
        ('[[waivers]]\npath = "a"\n', "`reason` is missing", "sselint.toml:1", "reason ="),
        (
            '[[waivers]]\npath = "a"\nreason = "r"\ncodes = ["SSE101"]\n',
            "SSE101 can't be waived for a path",
            "sselint.toml:4",
            "# sselint: ignore[SSE101] reason",
        ),
        ("[tool.sselint]\n", "`[tool.sselint]` is for pyproject.toml", "sselint.toml", "without a table"),
    ],
)
def test_a_mistake_names_its_place_and_what_to_write(
    text: str, what: str, where: str, instead: str, tmp_path: Path
) -> None:
    error = mistake(tmp_path, text)
    assert what in error.what
    assert error.where == where
    assert instead in error.instead


def test_in_pyproject_the_place_is_that_of_our_table(tmp_path: Path) -> None:
    text = '[tool.other]\nfail_on = 1\n\n[tool.sselint]\nfail-on = "error"\nfail_on = 1\n'
    assert mistake(tmp_path, text, "pyproject.toml").where == "pyproject.toml:6"


def test_a_table_that_is_none_is_refused(tmp_path: Path) -> None:
    assert "must be a table" in mistake(tmp_path, "[tool]\nsselint = 1\n", "pyproject.toml").what


def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sselint.toml").write_bytes(b'policy = "caf\xe9"\n')
    with pytest.raises(SettingsError, match="not UTF-8"):
        load_settings([tmp_path])


def test_a_pyproject_with_our_table_and_broken_syntax_is_named(tmp_path: Path) -> None:
    error = mistake(tmp_path, "[tool.sselint]\nfail-on = \n", "pyproject.toml")
    assert error.where.startswith("pyproject.toml:2")


def test_a_broken_pyproject_of_other_tools_is_nobodys_concern_here(tmp_path: Path) -> None:
    assert settings_of(tmp_path, "[tool.other\n", "pyproject.toml").path is None


# -- assumptions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, low, high",
    [("replicas=3", 3, 3), ("replicas=2-6", 2, 6), ("replicas=2-", 2, None), (" replicas = 3 ", 3, 3)],
)
def test_a_number_that_is_assumed(text: str, low: int, high: int | None) -> None:
    assert parse_assumptions([text]).replicas == Count(low, high, "assumed on the command line")


def test_a_server_that_is_assumed() -> None:
    assumed = parse_assumptions(["ids=counter,unknown=refused", "replay=shared,replicas=3"])
    assert assumed.stream is not None
    assert (assumed.stream.ids, assumed.stream.unknown) == (IdKind.COUNTER, UnknownCursor.REFUSED)
    assert (assumed.stream.replay, assumed.stream.live_tail) == (Where.SHARED, Where.SHARED)


def test_nothing_is_assumed_by_itself() -> None:
    assert not parse_assumptions([])


def test_a_pipe_called_like_settings_is_never_waited_for(tmp_path):
    for name in ("pyproject.toml", "sselint.toml"):
        os.mkfifo(tmp_path / name)
    assert load_settings([tmp_path]).path is None


@pytest.mark.parametrize(
    ("text", "says"),
    [('exclude = ["!"]\n', "`!` is no pattern"), ("a = " + "[" * 5000 + "]" * 5000, "nested too deeply")],
)
def test_what_the_parsers_of_others_choke_on_is_a_mistake_in_the_settings(tmp_path, text, says):
    (tmp_path / "sselint.toml").write_text(text)
    with pytest.raises(SettingsError, match=re.escape(says)):
        load_settings([tmp_path])


@pytest.mark.parametrize("text", ["tool = 3 # sselint\n", 'tool = "sselint"\n', "tool = [{sselint = 1}]\n"])
def test_a_tool_that_is_no_table_holds_no_settings(tmp_path, text):
    (tmp_path / "pyproject.toml").write_text(text)
    assert load_settings([tmp_path]).path is None
