"""Records of classes that no statement defines: `namedtuple("Event", "id data")`, `SimpleNamespace(id=..)`."""

from __future__ import annotations

from sselint.read.python.interpreter import iteration, own_attributes, records
from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.values import ClassValue, Const, External, Scope, Tuple, Unknown, Value
from sselint.read.python.libraries.context import Context
from sselint.read.python.rules import Effect
from sselint.read.python.source import ir


def record_class(m: Machine, effect: Effect, c: Context) -> Value:
    """The class that a call makes, with the fields that `of` names and the base that `as` names: one for each place."""
    name, site = c.arguments.first(), c.arguments.site
    fields = _names(m, c.argument(effect, "of") or Const.of(None))
    if not isinstance(name, Const) or not fields:
        return Unknown("a class of records whose fields are not known")
    defaults = iteration.known_items(m, c.argument(effect, "default") or Tuple(()))
    held = m.heap.make(("class", site), "namespace", str(name.value), site, True).details
    if "class" not in held:
        node = ir.ClassNode(site.node, str(name.value), (), (), ())
        scope = Scope(site.module, {})
        bare = len(fields) - len(defaults)
        found: dict[str, tuple[ir.Expression | None, ir.Expression | None, Scope]] = {}
        for number, field in enumerate(fields):
            found[field] = (None, _written(site.node, defaults[number - bare]) if number >= bare else None, scope)
        bases = (External(str(effect.get("as"))),)
        held["class"] = ClassValue(node, site.module, bases, scope.variables, found, {"dataclass": True})
    return held["class"]


def _names(m: Machine, value: Value) -> list[str]:
    """The names of the fields: in one text, or one by one."""
    if isinstance(value, Const) and isinstance(value.value, str):
        return value.value.replace(",", " ").split()
    given = iteration.known_items(m, value)
    return [str(v.value) for v in given if isinstance(v, Const)]


def _written(cst: object, value: Value) -> ir.Expression:
    return ir.Constant(cst, value.value) if isinstance(value, Const) else ir.Constant(cst, None)


def namespace(m: Machine, effect: Effect, c: Context) -> Value:
    """An object that holds what the call names."""
    ref = m.make("namespace", "namespace", c.arguments.site, c.arguments.frame)
    m.constructing.append(ref)
    for name, value in c.arguments.keywords.items():
        m.write_attribute(ref, name, value, c.arguments.site)
    m.constructing.pop()
    return ref


def as_tuple(m: Machine, effect: Effect, c: Context) -> Value:
    """The fields of a record in their order."""
    fields = records.tuple_fields(m, c.arguments.first())
    return Tuple(tuple(fields)) if fields is not None else Unknown("the fields of a record that is not seen")


def fields(m: Machine, effect: Effect, c: Context) -> Value:
    """The fields of a record or of its class, each with its name."""
    return own_attributes.fields(m, c.arguments.first()) or Unknown("the fields of a record that is not seen")
