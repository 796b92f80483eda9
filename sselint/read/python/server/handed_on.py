"""Functions that a class of handlers hands itself to: what they are given is known by what they do with it."""

from __future__ import annotations

import re

from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.values import Function, Value
from sselint.read.python.libraries import inject
from sselint.read.python.source import ir
from sselint.read.python.source.modules import Site


def handler(m: Machine, function: Function, parameter: ir.Parameter, site: Site) -> Value | None:
    """The object of a library's class of handlers that a function takes under a name, where it uses of it what no other
    object has, as the rules say. None where it does not."""
    text = function.module.code(function.node.cst)
    for mark, name in m.rules.known_handlers.items():
        if re.search(rf"\b{re.escape(parameter.name)}\.{re.escape(mark)}\b", text):
            return inject.made(m, name, site)
    return None
