"""What callers out of sight may name of what a function lets them leave out: a decorator with options that nothing in
the tree uses does what it is for only where they are given.
"""

from __future__ import annotations

from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.values import Function
from sselint.read.python.source import ir
from sselint.read.python.source.modules import Site


def named(m: Machine, function: Function) -> list[ir.Parameter]:
    """The parameters of a decorator with options that are nothing where nobody names them. Whether its callers name
    them is open, once for all of them: more ways than that are not worth their number."""
    node = function.node
    if not isinstance(node, ir.FunctionNode) or not _hands_back_its_own(node):
        return []
    options = [p for p in node.parameters if p.kind in ("positional", "keyword") and _is_none(p.default)]
    label = f"whether callers of {node.name} say more than they must"
    site = Site(function.module, node.cst)
    return options if options and m.choose(2, ("named as well", node), "value", label, site) else []


def _hands_back_its_own(node: ir.FunctionNode) -> bool:
    """Whether a function gives back one that it defines itself."""
    inner = {statement.name for statement in node.body if isinstance(statement, ir.FunctionNode)}
    given = (s.value for s in node.body if isinstance(s, ir.Return))
    return any(isinstance(value, ir.Name) and value.id in inner for value in given)


def _is_none(default: ir.Expression | None) -> bool:
    return isinstance(default, ir.Constant) and default.value is None
