"""The documentation is true: examples parse, every key is described, generated pages are up to date."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
from pathlib import Path

import pytest

from sselint.catalogue import client_rules, finding_rules
from sselint.facts import IdKind
from sselint.settings import Settings, SettingsError, load_settings
from sselint.toml_table import Table

REPOSITORY = Path(__file__).parent.parent
DOCS = REPOSITORY / "docs"
SETTINGS_PAGE = (DOCS / "settings.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The examples of the settings page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", SETTINGS_PAGE, re.MULTILINE | re.DOTALL)


def load(text: str, root: Path) -> Settings:
    """The settings of an example, in the file that it is for, with the folders it names."""
    (root / "sselint-rules").mkdir(exist_ok=True)
    (root / "sselint-rules" / "ours.yaml").write_text("library: ours\n", encoding="utf-8")
    name = "pyproject.toml" if "[tool.sselint" in text.replace("[[", "[") else "sselint.toml"
    (root / name).write_text(text, encoding="utf-8")
    return load_settings([root])


@pytest.mark.parametrize("text", blocks("toml"), ids=lambda text: text.splitlines()[0])
def test_the_examples_of_the_settings_page_load(text: str, tmp_path: Path) -> None:
    settings = load(text, tmp_path)
    assert settings != Settings(settings.root, path=settings.path)


def test_the_examples_say_what_their_comments_say(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    settings = load("\n".join(blocks("toml")[:-1]), tmp_path / "one")
    (deployment,), (stream,), (waiver,) = settings.deployments, settings.streams, settings.waivers
    assert deployment.replicas is not None
    assert (deployment.replicas.low, deployment.replicas.high) == (2, 6)
    assert deployment.pool is not None and deployment.pool.means("deploy/app.yaml", "Deployment app")
    assert (stream.ids, stream.unknown.value, stream.replay.value) == (IdKind.COUNTER, "tolerant", "memory")
    assert waiver.covers("SSE901", "vendor/edge.conf") and not waiver.covers("SSE903", "vendor/edge.conf")


def test_the_clients_of_the_examples_are_described() -> None:
    known = {name.lower() for rule in client_rules() for name in rule.names}
    for text in blocks("toml"):
        for names in re.findall(r"^clients = (\[.*?\])", text, re.MULTILINE):
            assert {name.lower() for name in ast.literal_eval(names)} <= known


def test_every_key_of_the_settings_is_described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[str] = set()
    finish = Table.finish

    def recorded(table: Table) -> None:
        asked.update(table.asked)
        finish(table)

    monkeypatch.setattr(Table, "finish", recorded)
    load("\n".join(blocks("toml")[:-1]), tmp_path)
    assert {"policy", "stream", "ids", "codes"} <= asked
    described = {key for text in blocks("toml") for key in re.findall(r"^([a-z-]+) = ", text, re.MULTILINE)}
    described |= set(re.findall(r"^\| `([a-z-]+)` \|", SETTINGS_PAGE, re.MULTILINE))
    described |= set(re.findall(r"^\[\[tool\.sselint\.([a-z]+)\]\]", "\n".join(blocks("toml")), re.MULTILINE))
    assert asked == described


def test_every_kind_of_id_that_can_be_stated_is_named() -> None:
    for kind in set(IdKind) - {IdKind.UNKNOWN}:
        assert f"`{kind.value}`" in SETTINGS_PAGE


def test_a_key_of_the_page_in_the_wrong_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="unknown key `ids`"):
        load('[tool.sselint]\nids = "counter"\n', tmp_path)


def test_codes_that_the_page_names_exist() -> None:
    assert set(re.findall(r"SSE\d{3}", SETTINGS_PAGE)) <= set(finding_rules())


README = REPOSITORY / "README.md"
OUTPUT = re.compile(r"(<!-- output: sample_configs/([\w-]+) -->\n```text\n)(.*?)(```)", re.DOTALL)


def shown(sample: str) -> str:
    """A sample's output as the README shows it: without what was found on the way."""
    text = (REPOSITORY / "tests" / "snapshots" / f"{sample}-80.txt").read_text(encoding="utf-8")
    head, found, rest = text.partition("\n  Found on the way\n")
    assert found
    summary = rest.strip().splitlines()[-2:]
    return "\n".join([head, "  Found on the way", "    ...", "", *summary, ""])


def test_the_readme_shows_a_real_output() -> None:
    """The one that tests/test_sample_output.py has seen; UPDATE_SNAPSHOTS=1 puts it in."""
    text = README.read_text(encoding="utf-8")
    if os.environ.get("UPDATE_SNAPSHOTS"):
        text = OUTPUT.sub(lambda match: match[1] + shown(match[2]) + match[4], text)
        README.write_text(text, encoding="utf-8")
    outputs = [(match[2], match[3]) for match in OUTPUT.finditer(text)]
    assert outputs
    for sample, output in outputs:
        assert output == shown(sample)


def generated() -> tuple[Path, str]:
    spec = importlib.util.spec_from_file_location("rules_page", DOCS / "rules_page.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PAGE, module.page()


def test_the_page_of_the_rules_is_up_to_date() -> None:
    """`python docs/rules_page.py` (or UPDATE_SNAPSHOTS=1) writes it anew."""
    file, text = generated()
    if os.environ.get("UPDATE_SNAPSHOTS"):
        file.write_text(text, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == text


def test_every_code_has_its_place_on_the_page() -> None:
    _, text = generated()
    for code in finding_rules():
        assert text.count(f'<a id="{code.lower()}"></a>') == 1


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
