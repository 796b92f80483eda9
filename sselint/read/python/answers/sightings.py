"""Client libraries used in the tree: related evidence, never proof that there is no other client.

What matters is what becomes of a refusal. A client swallows it where an endless loop catches it and asks again, or
where the library raises nothing for it and the loop does not look at the status.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sselint.catalogue import ClientRule, client_rules
from sselint.facts import ClientSighting, Evidence, Truth
from sselint.read.python.source import ir, scan
from sselint.read.python.source.lower import walk
from sselint.read.python.source.modules import TESTS, Module, ModuleTable
from sselint.source import Source

EVERYTHING = frozenset({"Exception", "BaseException"})
CURSOR = re.compile(r"last[-_]?event[-_]?id", re.IGNORECASE)
STATUS = frozenset({"raise_for_status", "status_code", "status", "is_success", "is_error", "ok"})
"""Names of what a response says of its status: a loop that mentions one of them looks at it."""


@dataclass(frozen=True)
class Use:
    """An endless loop that follows a stream: the loop, and the handlers around the client, outermost `try` first."""

    loop: ir.While
    handlers: tuple[ir.Handler, ...]


def clients(table: ModuleTable, sources: Mapping[str, Source]) -> Iterator[ClientSighting]:
    """The client libraries that files of the tree import, tests left out."""
    described = [rule for rule in client_rules() if rule.modules]
    words = [module.rpartition(".")[2] for rule in described for module in rule.modules]
    for path, source in sources.items():
        if any(word in source.text for word in words) and not TESTS.search(path):
            yield from _in_file(table.at(path), described)


def _in_file(module: Module, described: Sequence[ClientRule]) -> Iterator[ClientSighting]:
    from sselint.read.python.source.lower import SyntaxTrouble

    for rule in described:
        imported = _imported(module.source, rule)
        if imported is None or scan.refusal(module.source.text.encode("utf-8", "surrogatepass")) is not None:
            continue
        try:
            yield _sighting(module, rule, imported)
        except SyntaxTrouble:  # named elsewhere, if a deployment needs the file
            return


def _imported(source: Source, rule: ClientRule) -> re.Match[str] | None:
    """Where a file imports a client."""
    names = "|".join(map(re.escape, rule.modules))
    forms = [rf"from[ \t]+(?:{names})(?:\.[\w.]+)?[ \t]+import\b", rf"import[ \t]+(?:{names})\b"]
    for package, _, name in (module.rpartition(".") for module in rule.modules):
        if package:
            forms.append(rf"from[ \t]+{re.escape(package)}[ \t]+import\b[^\n]*\b{name}\b")
    return re.search(rf"^[ \t]*(?:{'|'.join(forms)})[^\n]*", source.text, re.MULTILINE)


def _sighting(module: Module, rule: ClientRule, imported: re.Match[str]) -> ClientSighting:
    name = rule.names[0]
    evidence: Evidence = (module.source.span(imported.start(), imported.end(), f"{name} is imported here"),)
    bound = frozenset(_bound(module.body, rule.modules))
    if not _presents(module.source, rule):
        return ClientSighting(name, Truth.NO, "it sends no cursor that anything could refuse", evidence)
    uses = list(_uses(module.body, bound))
    for use in uses:
        swallowed = _swallowed(use, rule)
        if swallowed is not None:
            why, node = swallowed
            return ClientSighting(name, Truth.YES, why, (*evidence, module.span(node.cst, "a refusal ends here")))
    if uses:
        return ClientSighting(name, Truth.NO, "a refusal ends the loop that follows the stream", evidence)
    return ClientSighting(name, Truth.UNKNOWN, "what becomes of a refusal is decided out of sight", evidence)


def _presents(source: Source, rule: ClientRule) -> bool:
    """Whether it comes back with a cursor: by itself, or because the file says so."""
    return rule.facts["sends_last_event_id"] is Truth.YES or CURSOR.search(source.text) is not None


def _swallowed(use: Use, rule: ClientRule) -> tuple[str, ir.Node] | None:
    """Why a loop swallows a refusal and where, None if it does not."""
    for handler in use.handlers:
        if _gives_way(handler.body):
            return None
        if _catches(handler, rule):
            return "an endless loop catches what a refusal raises, and asks again with the same cursor", handler
    if not rule.refusals and not STATUS & frozenset(_names(use.loop)):
        why = "an endless loop asks again without a look at the status, and a refusal is an empty stream to it"
        return why, use.loop
    return None


def _catches(handler: ir.Handler, rule: ClientRule) -> bool:
    if handler.type is None:
        return True
    types = handler.type.items if isinstance(handler.type, ir.Display) else (handler.type,)
    caught = {t.name if isinstance(t, ir.Attribute) else t.id for t in types if isinstance(t, ir.Attribute | ir.Name)}
    return bool(caught & (EVERYTHING | frozenset(rule.refusals)))


def _gives_way(body: Sequence[ir.Statement]) -> bool:
    """Whether a handler leaves the loop, or forgets the cursor: an assignment of nothing to something."""
    for node in walk(body):
        if isinstance(node, ir.Raise | ir.Return) or (isinstance(node, ir.Jump) and node.kind == "break"):
            return True
        if isinstance(node, ir.Assign) and isinstance(node.value, ir.Constant) and not node.value.value:
            return True
    return False


# -- where a client is used


def _bound(body: Sequence[ir.Statement], modules: Sequence[str]) -> Iterator[str]:
    """The names that imports of the client's modules bind."""
    for node in walk(body):
        if isinstance(node, ir.ImportFrom):
            if any(_within(node.module, m) or f"{node.module}.{node.name}" == m for m in modules):
                yield node.alias
        elif isinstance(node, ir.Import) and any(_within(node.module, m) for m in modules):
            yield node.name or node.module.partition(".")[0]


def _within(name: str, module: str) -> bool:
    return name == module or name.startswith(f"{module}.")


def _uses(body: Sequence[ir.Statement], bound: frozenset[str]) -> Iterator[Use]:
    for node in walk(body):
        endless = isinstance(node, ir.While) and isinstance(node.test, ir.Constant) and bool(node.test.value)
        if isinstance(node, ir.While) and endless and _calls(node.body, bound):
            around = [t for t in walk(node.body) if isinstance(t, ir.Try) and _calls(t.body, bound)]
            yield Use(node, tuple(handler for attempt in around for handler in attempt.handlers))


def _calls(body: Sequence[ir.Node], bound: frozenset[str]) -> bool:
    """Whether something that the client's import bound is called."""
    return any(isinstance(n, ir.Call) and bound & frozenset(_names(n.function)) for n in walk(body))


def _names(node: ir.Node) -> Iterator[str]:
    for found in walk((node,)):
        if isinstance(found, ir.Name):
            yield found.id
        elif isinstance(found, ir.Attribute):
            yield found.name
