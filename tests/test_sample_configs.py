"""The samples are configurations that the proxies accept, and each is named where people look for it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from sselint.find import find
from sselint.pipeline import read_kind
from tests import proxies

SAMPLES = Path(__file__).parents[1] / "sample_configs"
FOLDERS = sorted(path for path in SAMPLES.iterdir() if path.is_dir())
PROXIES = ("haproxy", "nginx", "envoy")


def configurations(folder: Path) -> list[tuple[str, Path]]:
    """The proxy configurations of a sample as sselint tells them: (kind, path)."""
    found = find(folder, [folder], ())
    return [(kind, folder / source.path) for kind in PROXIES for source in found.of(kind)]


CONFIGURATIONS = [(kind, path) for folder in FOLDERS for kind, path in configurations(folder)]


def names_in(kind: str, path: Path) -> set[str]:
    """The host names that a configuration forwards to."""
    found = find(path.parent, [path.parent], ())
    routes = read_kind(kind, found.of(kind), found.tree).routes
    return {target.host for route in routes for target in route.targets if not re.fullmatch(r"[\d.]+", target.host)}


def on_loopback(kind: str, path: Path, folder: Path) -> Path:
    """A copy whose host names are 127.0.0.1, because HAProxy and nginx look names up, and which would listen on a free
    port of loopback."""
    text = path.read_text(encoding="utf-8")
    for name in names_in(kind, path):
        text = re.sub(rf"(?<![\w.-]){re.escape(name)}(?=:\d)", "127.0.0.1", text)
    text = re.sub(r"^(\s*listen\s+)\d+;", rf"\g<1>127.0.0.1:{proxies.free_port()};", text, flags=re.MULTILINE)
    copy = folder / path.name
    copy.write_text(text, encoding="utf-8")
    return copy


def command(kind: str, config: Path) -> list[str]:
    """The proxy's own check of a configuration file."""
    if kind == "haproxy":
        return [str(proxies.haproxy()), "-c", "-f", str(config)]
    if kind == "nginx":
        (config.parent / "logs").mkdir()
        return [str(proxies.nginx()), "-t", "-p", str(config.parent), "-e", "stderr", "-c", str(config)]
    return [str(proxies.envoy()), "--mode", "validate", "-c", str(config), "-l", "error", "--disable-hot-restart"]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_sample_has_a_balancer(folder: Path) -> None:
    assert configurations(folder)


@pytest.mark.premises
@pytest.mark.parametrize(
    ("kind", "path"), CONFIGURATIONS, ids=[f"{path.parent.name}-{path.name}" for _, path in CONFIGURATIONS]
)
def test_the_proxy_accepts_it(kind: str, path: Path, tmp_path: Path) -> None:
    config = on_loopback(kind, path, tmp_path)
    run = subprocess.run(command(kind, config), capture_output=True, text=True, timeout=30, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.premises
@pytest.mark.parametrize("kind", PROXIES)
def test_a_mistake_would_be_noticed(kind: str, tmp_path: Path) -> None:
    path = next(path for its_kind, path in CONFIGURATIONS if its_kind == kind)
    config = on_loopback(kind, path, tmp_path)
    config.write_text(config.read_text(encoding="utf-8") + "\nno_such_directive: x y\n", encoding="utf-8")
    run = subprocess.run(command(kind, config), capture_output=True, text=True, timeout=30, check=False)
    assert run.returncode != 0


def test_the_readme_names_every_sample_and_no_other() -> None:
    readme = (SAMPLES / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `([^`]+)/` \|", readme, re.MULTILINE)
    assert sorted(named) == [folder.name for folder in FOLDERS]
