"""The files of rules/python/: what is in them is understood, and what is not says where and what is expected."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sselint.catalogue import CatalogueError, load_yaml, rules_directory
from sselint.read.python.interpreter import builtin_calls, containers
from sselint.read.python.libraries import gives
from sselint.read.python.rules import CONTAINERS, Effect, Entry, Rules, load_rules

SHIPPED = sorted((rules_directory() / "python").glob("*.yaml"))
SERVERS = Path(__file__).parent / "libraries" / "servers"


def effects_of(entry: Entry) -> list[Effect]:
    return [*entry.methods.values(), *entry.attributes.values(), *([entry.call] if entry.call else [])]


def test_every_primitive_that_a_shipped_file_names_exists() -> None:
    known = {*gives.GIVES, *builtin_calls.PRIMITIVES}
    given = {e.what for entry in load_rules().entries.values() for e in effects_of(entry) if e.verb == "gives"}
    assert {what for what in given if "." not in what} <= known


def test_containers_are_those_of_the_interpreter() -> None:
    assert set(containers.KINDS) == CONTAINERS


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.stem)
def test_every_library_is_used_by_a_server_of_the_tests(path: Path) -> None:
    """A rule that no server goes through is a rule that nobody has seen working."""
    described = load_yaml(path)["names"]
    names = [*described, *(also for body in described.values() for also in (body or {}).get("also", ()))]
    modules = {str(name).partition(".")[0] for name in names} - {"sselint"}
    imports = "\n".join(file.read_text() for file in SERVERS.rglob("*.py"))
    used = set(re.findall(r"^(?:from|import) (\w+)", imports, re.MULTILINE))
    assert modules & used, f"no server in {SERVERS.name}/ imports one of {sorted(modules)}"


def test_every_file_says_what_it_is_about() -> None:
    for path in SHIPPED:
        assert path.read_text().startswith("# "), path
        assert load_yaml(path)["library"], path


WRONG = {
    "no mapping": ("- library", "expected a mapping with the key `library`"),
    "no library": ("names: {}", "expected a mapping with the key `library`"),
    "key of the file": ("library: x\nname: {}", "unknown key 'name'"),
    "entry": ("library: x\nnames: {x.A: response}", "x.A: expected a mapping, not str"),
    "key of an entry": ("library: x\nnames: {x.A: {rol: response}}", "x.A: unknown key 'rol'"),
    "role": ("library: x\nnames: {x.A: {role: answer}}", "x.A: role 'answer' is not one of"),
    "parameters": ("library: x\nnames: {x.A: {parameters: path}}", "x.A: `parameters` is a list of names"),
    "also": ("library: x\nnames: {x.A: {also: x.B}}", "x.A: `also` is a list of names, such as [x.B]"),
    "is": ("library: x\nnames: {x.A: {is: x.B}}", "x.A: `is: x.B` names nothing that was described before it"),
    "methods": ("library: x\nnames: {x.A: {methods: [send]}}", "x.A: methods and attributes are mappings"),
    "effect": ("library: x\nnames: {x.A: {methods: {send: text}}}", "x.A.send: expected a mapping such as"),
    "no verb": ("library: x\nnames: {x.A: {methods: {send: {of: '0'}}}}", "x.A.send: needs exactly one of"),
    "two verbs": ("library: x\nnames: {x.A: {call: {gives: self, makes: list}}}", "x.A.call: needs exactly one of"),
    "option": ("library: x\nnames: {x.A: {call: {gives: self, size: 3}}}", "x.A.call: unknown key 'size'"),
    "mints": ("library: x\nnames: {x.A: {call: {mints: uuid}}}", "`mints: uuid`: expected one of clock, counter"),
    "reads": ("library: x\nnames: {x.A: {methods: {get: {reads: table}}}}", "x.A.get: `reads: table`: expected one of"),
    "registers": ("library: x\nnames: {x.A: {call: {registers: path}}}", "`registers: path`: expected one of"),
    "makes": ("library: x\nnames: {x.A: {call: {makes: x.B}}}", "x.A: `makes: x.B` names nothing that is described"),
}


@pytest.mark.parametrize(("text", "what"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_in_a_file_is_named_with_its_place(text: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(text)
    with pytest.raises(CatalogueError) as raised:
        Rules([path])
    assert str(path) in str(raised.value)
    assert what in str(raised.value)


def test_a_method_of_several_names_and_of_all_names(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(
        "library: x\nnames: {x.A: {methods: {'send, push': {sends: text}, '*': {gives: self}}}}"
    )
    entry = Rules([tmp_path / "own.yaml"]).entry("x.A")
    assert entry is not None
    verbs = [effect.verb for name in ("send", "push", "other") if (effect := entry.method(name)) is not None]
    assert verbs == ["sends", "sends", "gives"]


def test_an_entry_that_is_another_has_its_methods_and_may_change_them(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(
        "library: x\nprefixes: {y: x}\nnames:\n"
        "  x.A: {role: response, parameters: [body], methods: {send: {sends: text}, close: {gives: nothing}}}\n"
        "  x.B: {is: x.A, also: [x.C], methods: {send: {gives: self}}}\n"
    )
    rules = Rules([tmp_path / "own.yaml"])
    found = rules.entry("y.C") or rules.entry("x.C")
    assert found is not None
    assert (found.name, found.role, found.parameters) == ("x.B", "response", ("body",))
    assert {name: effect.verb for name, effect in found.methods.items()} == {"send": "gives", "close": "gives"}
    assert rules.entry("y.A") is rules.entry("x.A"), "a prefix is another name of the same module"


def test_quotes_within_a_line_of_names(tmp_path: Path) -> None:
    """In a key that does not begin with one, YAML takes quotes for a part of the name, which then never matches."""
    methods = "names:\n  own.Thing:\n    methods: {%s: {gives: self}}\n"
    path = tmp_path / "own.yaml"
    path.write_text("library: own\n" + methods % 'begin "__enter__"')
    with pytest.raises(CatalogueError, match="the quotes of"):
        Rules([path])
    path.write_text("library: own\n" + methods % '"begin __enter__"')
    assert set(Rules([path]).entries["own.Thing"].methods) == {"begin", "__enter__"}
