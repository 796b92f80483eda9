"""What users install: the wheel in an environment of its own, the editable install, and the pre-commit hook.

Everything is made from a scratch copy of the working tree, and runs where neither this checkout nor its `rules/` is in
sight.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path

import pytest
import yaml

from sselint import __version__
from sselint.catalogue import finding_rules

REPOSITORY = Path(__file__).parent.parent
SHIPPED = ("sselint", "rules", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", ".pre-commit-hooks.yaml")
SAMPLE = REPOSITORY / "sample_configs" / "haproxy-routes-on-last-event-id"
SECONDS = 300


def run(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command that knows nothing of this checkout."""
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV") and not k.startswith("GIT_")}
    return subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**clean, **environment},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def git(*arguments: str, cwd: Path) -> None:
    identity = ("-c", "user.name=test", "-c", "user.email=test@example.invalid", "-c", "init.defaultBranch=main")
    done = run("git", *identity, *arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr


def commit(folder: Path) -> None:
    git("init", "--quiet", cwd=folder)
    git("add", "--all", "--force", cwd=folder)
    git("commit", "--quiet", "--message", "all of it", cwd=folder)


Once = Callable[[str, Callable[[Path], None]], Path]


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    """Makes a folder once for all the processes that the tests run in: (name, how to fill it) -> the folder."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def make(name: str, fill: Callable[[Path], None]) -> Path:
        folder = shared / name
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (shared / f"{name}.done").exists():
                folder.mkdir()
                fill(folder)
                (shared / f"{name}.done").touch()
        return folder

    return make


@pytest.fixture(scope="module")
def copy(once: Once) -> Path:
    """This repository as a scratch repository of its own, as it stands in the working tree."""

    def fill(folder: Path) -> None:
        for name in SHIPPED:
            source = REPOSITORY / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, folder / name)
        commit(folder)

    return once("copy-of-sselint", fill)


# -- the archives ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def built(copy: Path, once: Once) -> Path:
    """The folder with the source archive and the wheel that is made from it."""

    def fill(folder: Path) -> None:
        done = run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, cwd=copy)
        assert done.returncode == 0, done.stdout + done.stderr

    return once("dist", fill)


def names_in(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_the_wheel_holds_the_package_with_its_rules_and_nothing_beside_it(built: Path, copy: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = names_in(wheel)
    assert {name.split("/")[0] for name in names} == {"sselint", f"sselint-{__version__}.dist-info"}
    inside = {name.removeprefix("sselint/") for name in names if name.startswith("sselint/rules/")}
    assert inside == {p.relative_to(copy).as_posix() for p in (copy / "rules").rglob("*") if p.is_file()}
    assert "sselint/py.typed" in names
    assert any(name.endswith("/licenses/LICENSE") for name in names)


def test_every_module_is_in_the_wheel(built: Path, copy: Path) -> None:
    (wheel,) = built.glob("*.whl")
    modules = {p.relative_to(copy).as_posix() for p in (copy / "sselint").rglob("*.py")}
    assert modules <= set(names_in(wheel))


# -- the wheel, installed ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def installed(built: Path, once: Once) -> Path:
    """The `bin` folder of an environment that holds the wheel and what it depends on."""

    def fill(folder: Path) -> None:
        made = run(sys.executable, "-m", "venv", folder, cwd=folder)
        assert made.returncode == 0, made.stderr
        (wheel,) = built.glob("*.whl")
        install = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
        pip = run(folder / "bin" / "python", *install, cwd=folder)
        assert pip.returncode == 0, pip.stderr

    return once("environment", fill) / "bin"


def test_the_installed_command_runs_outside_the_clone(installed: Path, tmp_path: Path) -> None:
    command = installed / "sselint"
    assert run(command, "--version", cwd=tmp_path).stdout == f"sselint {__version__}\n"
    assert run(installed / "python", "-m", "sselint", "--version", cwd=tmp_path).returncode == 0
    rules = run(command, "rules", cwd=tmp_path)
    assert rules.returncode == 0, rules.stderr
    assert all(code in rules.stdout for code in finding_rules())
    checked = run(command, "check", cwd=tmp_path)
    assert (checked.returncode, checked.stdout) == (0, "ok  no event stream here\n")


def test_the_installed_command_judges_a_sample(installed: Path, tmp_path: Path) -> None:
    shutil.copytree(SAMPLE, tmp_path / "agent")
    checked = run(installed / "sselint", "check", "agent", cwd=tmp_path)
    assert checked.returncode == 1, checked.stdout + checked.stderr
    assert "error[SSE001]" in checked.stdout


def where(python: Path, cwd: Path) -> dict[str, str]:
    """Where an interpreter finds the package and its rules, told from a folder that has neither."""
    program = (
        "import json, sselint, sselint.catalogue as c; "
        "print(json.dumps({'package': sselint.__file__, 'rules': str(c.rules_directory())}))"
    )
    done = run(python, "-I", "-c", program, cwd=cwd)
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found


def test_the_installed_package_finds_the_rules_inside_itself(installed: Path, tmp_path: Path) -> None:
    found = where(installed / "python", tmp_path)
    package = Path(found["package"]).parent
    assert Path(found["rules"]) == package / "rules"
    assert package.parent.name == "site-packages"
    assert not (package.parent / "rules").exists()


def test_the_dependencies_are_those_that_are_declared(installed: Path, tmp_path: Path) -> None:
    """Every module imports in an environment that has what `pyproject.toml` names, and nothing of the test extra."""
    program = (
        "import importlib, pkgutil, sselint; "
        "[importlib.import_module(m.name) for m in pkgutil.walk_packages(sselint.__path__, 'sselint.') "
        "if not m.name.endswith('__main__')]"
    )
    done = run(installed / "python", "-I", "-c", program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_an_editable_install_finds_the_rules_at_the_top(tmp_path: Path) -> None:
    origin = json.loads(distribution("sselint").read_text("direct_url.json") or "{}")
    if not origin.get("dir_info", {}).get("editable"):
        pytest.skip("the environment of the tests holds no editable install (`make test` makes one)")
    assert Path(where(Path(sys.executable), tmp_path)["rules"]) == REPOSITORY / "rules"


# -- the hook ----------------------------------------------------------------------------------------------------------


def test_the_hook_reads_the_whole_tree_although_one_file_was_changed(copy: Path, tmp_path: Path) -> None:
    """`pre-commit try-repo` on a scratch repository in which only a README is new."""
    shutil.copytree(SAMPLE, tmp_path, dirs_exist_ok=True)
    commit(tmp_path)
    (tmp_path / "README.md").write_text("# an agent\n", encoding="utf-8")
    git("add", "README.md", cwd=tmp_path)
    done = run(
        sys.executable, "-m", "pre_commit", "try-repo", copy, "sselint", "--verbose", cwd=tmp_path, NO_COLOR="1"
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "error[SSE001]" in done.stdout
    assert "- exit code: 1" in done.stdout


def test_the_hook_is_declared_for_the_whole_tree() -> None:
    (declared,) = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert declared["pass_filenames"] is False
    assert declared["entry"].split() == ["sselint", "check"]
    assert declared["language"] == "python"
