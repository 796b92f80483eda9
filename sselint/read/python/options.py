"""Options of the command line: what a parser finds is said by the command that starts the server, as the environment is
by the deployment's files. An option is a variable that is called by its long flag, `--workers`."""

from __future__ import annotations

from sselint.read.python.context import Context
from sselint.read.python.machine import Machine
from sselint.read.python.rules import Effect
from sselint.read.python.values import Const, External, Ref, Unknown, Value, Variable

NOTHING = Const.of(None)
SWITCHES = {"store_true": Const.of(False), "store_false": Const.of(True)}
"""What an option that takes no value is where it is not given."""


def added(m: Machine, effect: Effect, c: Context) -> Value:
    """An argument is described: from now on the parser has an attribute of its name."""
    named = [v.value for v in c.arguments.positional if isinstance(v, Const) and isinstance(v.value, str)]
    if isinstance(c.receiver, Ref) and named:
        attribute = c.arguments.keywords.get("dest")
        name = str(attribute.value) if isinstance(attribute, Const) else _attribute(named)
        m.write_attribute(c.receiver, name, _value(c, named), c.arguments.site)
    return NOTHING


def _attribute(flags: list[str]) -> str:
    """The first long flag, else the first: argparse, "dest"."""
    first = next((flag for flag in flags if flag.startswith("--")), flags[0])
    return first.lstrip("-").replace("-", "_")


def _value(c: Context, flags: list[str]) -> Value:
    keywords = c.arguments.keywords
    action = keywords.get("action")
    switch = SWITCHES.get(action.value) if isinstance(action, Const) else None
    if not flags[0].startswith("-") or "nargs" in keywords or (action is not None and switch is None):
        return Unknown(f"{flags[-1]} of the command line")
    kind = keywords.get("type")
    number = isinstance(kind, External) and kind.name in ("int", "builtins.int")
    name = next((flag for flag in flags if flag.startswith("--")), flags[0])
    return Variable(name, switch or keywords.get("default", NOTHING), number, for_all=True)
