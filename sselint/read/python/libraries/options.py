"""Options of the command line: what a parser finds is said by the command that starts the server, as the environment is
by the deployment's files. An option is a variable that is called by its long flag, `--workers`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sselint.read.python.interpreter.values import Callback, Const, External, Function, Ref, Unknown, Value, Variable
from sselint.read.python.source import ir

if TYPE_CHECKING:
    from sselint.read.python.interpreter.machine import Arguments, Machine
    from sselint.read.python.libraries.context import Context
    from sselint.read.python.rules import Effect

NOTHING = Const.of(None)
SWITCHES = {"store_true": Const.of(False), "store_false": Const.of(True)}
"""What an option that takes no value is where it is not given."""
EVERY = "*"
"""Among the options of a function: each parameter of it is one."""


# -- a parser that is told of its arguments ----------------------------------------------------------------------------


def added(m: Machine, effect: Effect, c: Context) -> Value:
    """An argument is described: from now on the parser has an attribute of its name."""
    flags = _flags(c.arguments)
    if isinstance(c.receiver, Ref) and flags:
        attribute = c.arguments.keywords.get("dest")
        name = str(attribute.value) if isinstance(attribute, Const) else _name(flags)
        m.write_attribute(c.receiver, name, _value(c.arguments, flags), c.arguments.site)
    return NOTHING


# -- a function whose parameters are options ---------------------------------------------------------------------------


def decorator(effect: Effect, c: Context) -> Callback:
    """What marks a function as a command, with the option that it describes if it describes one."""
    flags = _flags(c.arguments)
    if effect.what == "option":
        return Callback("described", {_name(flags): _value(c.arguments, flags)} if flags else {})
    return Callback("described", {EVERY: NOTHING} if effect.get("otherwise") == "option" else {})


def mark(m: Machine, function: Value, described: dict[str, Value]) -> Value:
    """The function, of which some parameters are known to be options now."""
    if isinstance(function, Function):
        m.world.options.setdefault(function.node, {}).update(described)
    return function


def given(m: Machine, function: Function, parameter: ir.Parameter, default: Value | None) -> Value | None:
    """What a parameter is where the caller gives nothing: the option that it was described as, else the default."""
    described = m.world.options.get(function.node, {})
    if parameter.name in described:
        return described[parameter.name]
    if EVERY not in described:
        return default
    if default is None:
        return Unknown(f"{parameter.name} of the command line")
    number = isinstance(default, Const) and type(default.value) is int
    return Variable(f"--{parameter.name.replace('_', '-')}", default, number, for_all=True)


# -- one option --------------------------------------------------------------------------------------------------------


def _flags(arguments: Arguments) -> list[str]:
    """The names of an argument; of `--on/--off` the first."""
    texts = [v.value for v in arguments.positional if isinstance(v, Const) and isinstance(v.value, str)]
    return [text.partition("/")[0] for text in texts]


def _name(flags: Sequence[str]) -> str:
    """The name that is none of the flags, else the first long flag, else the first (argparse, "dest")."""
    plain = next((flag for flag in flags if not flag.startswith("-")), None)
    first = next((flag for flag in flags if flag.startswith("--")), flags[0])
    return plain or first.lstrip("-").replace("-", "_")


def _value(arguments: Arguments, flags: Sequence[str]) -> Value:
    keywords = arguments.keywords
    action, several = keywords.get("action"), keywords.keys() & {"nargs", "multiple", "count"}
    switch = SWITCHES.get(action.value) if isinstance(action, Const) else None
    if keywords.get("is_flag") == Const.of(True):
        switch = Const.of(False)
    name = next((flag for flag in flags if flag.startswith("-")), None)
    if name is None or several or (action is not None and switch is None):
        return Unknown(f"{flags[-1]} of the command line")
    kind, default = keywords.get("type"), keywords.get("default", switch or NOTHING)
    number = isinstance(kind, External) and kind.name in ("int", "builtins.int")
    number = number or (isinstance(default, Const) and type(default.value) is int)
    return Variable(next((flag for flag in flags if flag.startswith("--")), name), default, number, for_all=True)
