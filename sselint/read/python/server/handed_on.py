"""What a function is given that nothing in the tree calls, known by what it does with it."""

from __future__ import annotations

import re

from sselint.read.python.interpreter import expressions
from sselint.read.python.interpreter.machine import Frame, Machine
from sselint.read.python.interpreter.values import External, Function, Value
from sselint.read.python.libraries import inject
from sselint.read.python.source import ir
from sselint.read.python.source.lower import walk
from sselint.read.python.source.modules import Site


def handler(m: Machine, function: Function, parameter: ir.Parameter, site: Site) -> Value | None:
    """The object of a library's class of handlers that a function takes under a name, where it uses of it what no other
    object has, as the rules say. None where it does not."""
    text = function.module.code(function.node.cst)
    for mark, name in m.rules.known_handlers.items():
        if re.search(rf"\b{re.escape(parameter.name)}\.{re.escape(mark)}\b", text):
            return inject.made(m, name, site)
    return None


def asked_for(m: Machine, function: Function, parameter: ir.Parameter, home: Frame) -> External | None:
    """The one library's class, other than Python's own, of which a function asks whether a parameter is an object of
    it: it knows what to do with one. None where it asks for none, or for several."""
    if not isinstance(function.node, ir.FunctionNode) or parameter.annotation is not None:
        return None
    tests = (node for node in walk(function.node.body) if isinstance(node, ir.Call) and len(node.arguments) == 2)
    kinds = [test.arguments[1].value for test in tests if _asks_what_it_is(test, parameter)]
    asked = [expressions.evaluate(m, kind, home) for kind in kinds]
    found = {kind.name: kind for kind in asked if isinstance(kind, External) and _is_described(m, kind)}
    return next(iter(found.values())) if len(found) == 1 else None


def _asks_what_it_is(test: ir.Call, parameter: ir.Parameter) -> bool:
    subject = test.arguments[0].value
    asks = isinstance(test.function, ir.Name) and test.function.id == "isinstance"
    return asks and isinstance(subject, ir.Name) and subject.id == parameter.name


def _is_described(m: Machine, kind: External) -> bool:
    return m.rules.entry(kind.name) is not None and not kind.name.startswith("builtins.")
