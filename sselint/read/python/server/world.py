"""The program as it stands when a request comes in: modules run, objects made, routes registered, stores filled.

Modules are run as they would be at start-up. Then everything that may be called later is run too, to see what it puts
where, until nothing new turns up. Paper runs read what was found (`heap`) and change nothing of it.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Mapping
from typing import Any

from sselint.read.python.interpreter import calls, counters, late, variables
from sselint.read.python.interpreter.choices import Choices, picked
from sselint.read.python.interpreter.heap import Heap
from sselint.read.python.interpreter.machine import Frame, Hypothesis, Machine, Passing, Raised, Signal
from sselint.read.python.interpreter.oracle import Budget, Explorer, Oracle, OutOfBudget
from sselint.read.python.interpreter.values import (
    Callback,
    ClassValue,
    Const,
    Cursor,
    External,
    Function,
    Input,
    Lazy,
    ModuleValue,
    Ref,
    Scope,
    Unknown,
    Value,
    Variable,
    settled,
    stepped,
)
from sselint.read.python.libraries import described, library
from sselint.read.python.libraries.environment import Environment
from sselint.read.python.rules import Effect, Rules
from sselint.read.python.server import circles, starred
from sselint.read.python.server.registered import Refusal, Registration, Registrations, SetThere
from sselint.read.python.source import ir
from sselint.read.python.source.lower import SyntaxTrouble
from sselint.read.python.source.modules import Module, ModuleTable, Site

MODULE_PATHS = 12
MODULE_STEPS, REST_STEPS = 12_000, 300
CURSOR_SPELLING = re.compile(r"[-_\s]")


class World:
    """The heap, the modules and what they registered."""

    def __init__(self, table: ModuleTable, rules: Rules, environment: Environment, budget: Budget) -> None:
        self.table = table
        self.rules = rules
        self.environment = environment
        self.budget = budget
        self.heap = Heap()
        self.globals: dict[str, dict[str, dict[Value, None]]] = {}
        self.rewritten: set[tuple[str, str]] = set()
        self.choices = Choices()
        self.running: dict[str, Scope] = {}
        self.stars: dict[str, dict[str, None]] = {}
        self.taken: dict[ir.Node, Function] = {}
        """Functions inside of others that a decorator out of sight took: whoever made it calls them."""
        self.loaded: dict[str, Module] = {}
        self.broken: dict[str, SyntaxTrouble] = {}
        self.faults: dict[str, Exception] = {}
        """Files on which the reader itself failed."""
        self.refused: dict[str, str] = {}
        """Files that must not reach the parser, with the reason."""
        self.called: set[ir.Node] = set()
        self.standalone: set[ir.Node] = set()
        """Functions that nothing in the tree calls: they are run by themselves."""
        self.stand_ins: set[int] = set()
        """Objects that nothing in the tree makes: they are made to see what their classes do."""
        self.reached: set[ir.Node] = set()
        """Functions that something in the tree calls, perhaps only in a later round: what they are given is known."""
        self.completed: set[ir.Node] = set()
        """Functions that some run has come to the end of."""
        self.placeholders: dict[str, set[ir.Node | tuple[int, str]]] = {}
        """What stands in for arguments of functions that were looked at by themselves, with those functions, and for
        attributes that were not set yet, with those."""
        self.options: dict[ir.Node, dict[str, Value]] = {}
        """Functions that a command line calls, with those of their parameters that are options."""
        self.registrations = Registrations()
        self.visited: set[str] = set()
        """Files whose functions run for a stream that no application mounts."""
        self.touched: set[str] = set()
        """Files of which some function ran."""
        self.followed: set[str] = set()
        """Files whose functions ran in the paper runs of the latest stream."""
        self.cut = False
        """Whether a stage ended because its budget did."""
        self.handed_on: dict[str, dict[Value, None]] = {}
        """What start-up hands to the state of each request, by name: the dict that a lifespan yields."""
        self.unread: dict[tuple[str, str], tuple[bool, bool]] = {}
        """File and name of handlers that send events, or say so, and of which no stream was made: whether an
        application mounts them, and whether it is because work ended."""
        self.about: set[str] | None = None
        """The files that mention streams, and who imports them, as soon as that is known."""
        self.middleware: dict[Value, bool] = {}
        """Whether a middleware has to do with the cursor."""
        self.set_on_requests: dict[Value, SetThere] = {}
        self.probes: list[Machine] = []
        """The latest runs of the endpoints that stream."""
        self.refusals: list[Refusal] = []
        self.namespaces: set[str] = set()
        self.forcing: set[Lazy] = set()
        self.factories: dict[tuple[Function, int], None] = {}
        """Functions that give an application, with the number of the application."""
        self.nowhere = Site(Module(_EMPTY, "", False), object())
        self.cursor_words = frozenset(plain(w) for w in rules.word_list("cursor_names"))

    def is_about_streams(self, module: Module) -> bool:
        """Whether a file has to do with streams."""
        return self.about is None or module.path in self.about

    def renew(self, budget: Budget | int) -> None:
        """Begins a stage with a budget of its own; remembers whether the last one was cut short."""
        self.cut = self.cut or self.budget.spent
        self.budget = Budget(budget) if isinstance(budget, int) else budget

    # -- modules ----------------------------------------------------------------------------------------------------

    def load(self, module: Module) -> bool:
        """Runs a module's body, once. False where it is not Python."""
        if module.path in self.loaded:
            return module.path not in self.broken and module.path not in self.refused
        self.loaded[module.path] = module
        self.globals.setdefault(module.path, {})
        if module.refusal is not None:
            self.refused[module.path] = module.refusal
            return False
        try:
            body = module.body
        except SyntaxTrouble as trouble:
            self.broken[module.path] = trouble
            return False

        def path(oracle: Oracle, passes_over: bool = False) -> bool:
            m = Machine(self, oracle, Hypothesis.BUILD)
            m.boot = True
            return self._run_module(m, module, body, passes_over)

        explorer = Explorer(self.budget, MODULE_PATHS, cover=True, steps=MODULE_STEPS, total=2 * MODULE_STEPS)
        ended = [came_to_its_end for came_to_its_end, _ in explorer.run(path)]
        if ended and not any(ended):  # a server that runs has started: what fails on every path is not understood
            path(Oracle(steps_left=MODULE_STEPS), passes_over=True)
        return True

    def _run_module(self, m: Machine, module: Module, body: tuple[ir.Statement, ...], passes_over: bool) -> bool:
        """Whether it came to its end. `passes_over` goes on behind statements that raise."""
        scope = Scope(module, {})
        outer = self.running.get(module.path)
        self.running[module.path] = scope
        frame = Frame(module, scope, level="module")
        try:
            for statement in body:
                self._run_at_top(m, statement, frame, passes_over)
            return True
        except Raised as raised:
            self._refused(m, module, raised)
        except (Signal, Passing, OutOfBudget, RecursionError):
            pass
        except Exception as error:  # a fault of ours must not cost the other modules
            self.faults.setdefault(module.path, error)
        finally:
            self._keep(m, module, scope)
            if outer is None:
                del self.running[module.path]
            else:
                self.running[module.path] = outer
        return False

    def _run_at_top(self, m: Machine, statement: ir.Statement, frame: Frame, passes_over: bool) -> None:
        """Runs a statement of a module's body. One that is too long costs itself, and not what stands below it."""
        from sselint.read.python.interpreter import statements

        try:
            statements.run_block(m, (statement,), frame)
        except OutOfBudget:
            m.oracle.steps_left = REST_STEPS
        except Raised:
            if not passes_over:
                raise

    def _keep(self, m: Machine, module: Module, scope: Scope) -> None:
        held = self.globals[module.path]
        for name, value in scope.variables.items():
            self.heap.add(held.setdefault(name, {}), settled(value))
            self.choices.wrote(("global", module.path, name), settled(value), m.oracle.decisions)

    def _refused(self, m: Machine, module: Module, raised: Raised) -> None:
        decisions = tuple(d for d in m.oracle.decisions if d.kind == "environment")
        if decisions and raised.site is not None:
            self.refusals.append(Refusal(module, raised.site, decisions, tuple(m.variables)))

    def import_module(self, m: Machine, node: ir.Import, frame: Frame) -> None:
        """`import a.b`, `import a.b as c`."""
        from sselint.read.python.interpreter import statements

        found = self.table.resolve(node.module, frame.module)
        site = m.site(frame, node)
        if node.name is not None:
            value: Value = ModuleValue(found) if found is not None else External(node.module)
            statements.set_name(m, node.name, value, frame, site)
            return
        head = node.module.partition(".")[0]
        top = self.table.resolve(head, frame.module)
        if top is None and found is not None:
            parts = node.module.split(".")
            self.namespaces.update(".".join(parts[:n]) for n in range(1, len(parts)))
        statements.set_name(m, head, ModuleValue(top) if top is not None else External(head), frame, site)

    def import_from(self, m: Machine, node: ir.ImportFrom, frame: Frame) -> None:
        """`from a import b as c`."""
        from sselint.read.python.interpreter import statements

        found = self._source(node, frame.module)
        if found is None:
            name = f"{node.module}.{node.name}" if not node.level else f"?.{node.module}.{node.name}"
            sub = (
                self.table.resolve(name, frame.module)
                if not node.level
                else self.table.relative_module(frame.module, node.level, f"{node.module}.{node.name}".strip("."))
            )
            value: Value = ModuleValue(sub) if sub is not None else External(name)
            if node.name != "*":
                statements.set_name(m, node.alias, value, frame, m.site(frame, node))
            else:
                starred.took(self, frame.module, node.module)
            return
        if node.name != "*":
            here = found.path in self.loaded and found.path not in self.running
            value = self.module_attribute(m, found, node.name) if here else Lazy(found, node.name)
            statements.set_name(m, node.alias, value, frame, m.site(frame, node))
            return
        self.load(found)
        starred.passed_on(self, frame.module, found)
        for name in self._names_of(found):
            if not name.startswith("_") and not circles.comes_back(self, frame.module, found, name):
                statements.set_name(m, name, self.module_attribute(m, found, name), frame, m.site(frame, node))

    def _source(self, node: ir.ImportFrom, importer: Module) -> Module | None:
        if node.level:
            return self.table.relative_module(importer, node.level, node.module)
        return self.table.resolve(node.module, importer)

    def _names_of(self, module: Module) -> list[str]:
        scope = self.running.get(module.path)
        return [*(scope.variables if scope is not None else ()), *self.globals.get(module.path, ())]

    def module_attribute(self, m: Machine, module: Module, name: str) -> Value:
        """`module.name`: a global, or a module below it."""
        self.load(module)
        found = self.global_value(m, module, name)
        if found is not None:
            return described.as_described(self.rules, module, name, found)
        below = self._below(module, name) or starred.from_library(self, module, name)
        if below is not None:
            return below
        getter = self.global_value(m, module, "__getattr__")
        if getter is not None:
            return calls.call(m, getter, (Const.of(name),), {}, self.nowhere, None)
        return Unknown(f"{name} of {module.name}, which it does not define")

    def _below(self, module: Module, name: str) -> Value | None:
        """A module below a package, or beside a module."""
        sub = self.table.resolve(f"{module.name}.{name}", module) or self.table.relative_module(module, 1, name)
        return ModuleValue(sub) if sub is not None and sub is not module else None

    def force(self, m: Machine, value: Value) -> Value:
        """A value; what was imported and not needed yet is loaded now. Imports may go in a circle."""
        if not isinstance(value, Lazy):
            return value
        if value in self.forcing:
            return self._below(value.module, value.name) or Unknown(f"{value.name}, which imports itself")
        self.forcing.add(value)
        try:
            return self.force(m, self.module_attribute(m, value.module, value.name))
        finally:
            self.forcing.discard(value)

    # -- names ------------------------------------------------------------------------------------------------------

    def lookup(self, m: Machine, name: str, frame: Frame) -> Value:
        """The value of a name where `frame` runs."""
        if frame.names is None or name not in frame.names.global_:
            scope: Scope | None = frame.scope
            while scope is not None:
                if name in scope.variables:
                    held = scope.variables[name]
                    if isinstance(held, Lazy):
                        held = scope.variables[name] = self.force(m, held)
                    return held
                scope = scope.parent
        found = self.global_value(m, frame.module, name)
        if found is not None:
            return found
        if name == "__name__":
            may_be = m.boot and not frame.module.path.endswith("__init__.py")
            script = may_be and m.once(2, ("script", frame.module.path), "condition", "whether it is run as a script")
            return Const.of("__main__" if script else frame.module.name)
        if name == "__file__":
            return Const.of(frame.module.path)
        taken = starred.from_library(self, frame.module, name)
        if taken is not None or hasattr(builtins, name):
            return taken or External(f"builtins.{name}")
        return Unknown(f"{name}, which nothing defines on this path")

    def global_value(self, m: Machine, module: Module, name: str) -> Value | None:
        """A global of a module; where several values are possible, the oracle picks one for the whole run."""
        key = ("global", module.path, name)
        held = m.overlay.known.get(key)
        if isinstance(held, Value):
            return held
        scope = self.running.get(module.path)
        if scope is not None and name in scope.variables:
            return self.force(m, scope.variables[name])
        options = list(self.globals.get(module.path, {}).get(name, ()))
        if not options:
            return None
        if len(options) > 1:  # a name that is imported, and what it was found to stand for, are one
            options = list(dict.fromkeys(self.force(m, value) for value in options))
        if not m.boot:
            options += late.alternatives(module, name, options, (module.path, name) in self.rewritten)
        if len(options) > 1 and not (m.building and self.choices.is_open(key)):
            options = _made_lazily(options)
        found = counters.so_far(m, ("counter", module.path, name), options)
        if found is None and len(options) > 1:
            found = picked(m, key, options, name, None)
            m.overlay.known.pop(key, None)
        found = self.force(m, found or options[0])
        if (module.path, name) in self.rewritten:
            found = m.as_state(found, self.heap.number(("counter", module.path, name)))
        m.overlay.known[key] = found
        return found

    def write_global(self, m: Machine, module: Module, name: str, value: Value) -> None:
        """`global name; name = value`."""
        scope = self.running.get(module.path)
        if scope is not None and m.boot:
            scope.variables[name] = value
            return
        m.escape(value)
        m.overlay.known[("global", module.path, name)] = value
        if m.building:
            self.rewritten.add((module.path, name))
            self.heap.add(self.globals.setdefault(module.path, {}).setdefault(name, {}), settled(value))
            self.choices.wrote(("global", module.path, name), settled(value), m.oracle.decisions)

    # -- the environment --------------------------------------------------------------------------------------------

    def settle(self, m: Machine, variable: Variable) -> Value:
        """The value of an environment variable, if the deployment's files say what it is."""
        m.note("environment", None, name=variable.name)
        m.variables.setdefault(variable.name)
        setting = self.environment.settings.get(variable.name)
        if setting is not None:
            if setting.value is not None:
                return variables.made(Const.of(setting.value), variable.through)
            return Unknown(f"{variable.name}, which is set to something that is not written down")
        unset = variable.default if variable.default is not None else Const.of(None)
        return unset if self.environment.says_all(variable.name) else variable

    def decide_variable(
        self, m: Machine, variable: Variable, label: str, site: Site | None, test: Callable[[Any], bool]
    ) -> bool:
        """Whether a test of an environment variable holds; if nothing settles it, both ways are gone."""
        known = self.settle(m, variable)
        if isinstance(known, Const):
            try:
                return bool(test(int(known.value) if variable.number and known.value is not None else known.value))
            except (TypeError, ValueError):
                return False
        if isinstance(known, Unknown):
            return m.once(2, ("variable", variable.name, label), "environment", known.why, site) == 0
        says = f"{variable.name} {label}"
        default = self._by_default(variable, test)
        option = m.once(2, ("variable", variable.name, label), "environment", says, site)
        return default if option == 0 else not default

    def _by_default(self, variable: Variable, test: Callable[[Any], bool]) -> bool:
        value = variable.default.value if isinstance(variable.default, Const) else None
        try:
            return bool(test(int(value) if variable.number and value is not None else value))
        except (TypeError, ValueError):
            return False

    # -- the request ------------------------------------------------------------------------------------------------

    def sent(self, m: Machine, carrier: str, name: Value | None, default: Value, site: Site) -> Value:
        """What the client sent under a name: the cursor, or something else that it chose."""
        if not isinstance(name, Const):
            return Unknown(f"a {carrier} whose name is computed")
        spelled = name.value.decode("latin-1") if isinstance(name.value, bytes) else str(name.value)
        word = plain(spelled)
        if carrier == "environ":
            if not word.startswith("http"):
                return Input(spelled)
            carrier, word = "header", word.removeprefix("http")
        if word in self.cursor_words:
            return self.cursor(m, f"{carrier} {spelled}", default, site)
        return Input.under(carrier, spelled.lower(), default)

    def cursor(self, m: Machine, how: str, default: Value, site: Site | None) -> Value:
        """The cursor, as the run assumes it."""
        m.note("cursor", site, how=how)
        made = Cursor(None, False, m.shape)
        if m.hypothesis is Hypothesis.MISSING:
            return default
        if m.building:
            given = m.choose(2, ("cursor", site), "condition", "whether there is a cursor", site) == 0
            return stepped(made, site, "the cursor is read here") if given else default
        return stepped(made, site, "the cursor is read here")

    def request_state(self, m: Machine, site: Site) -> Value:
        """A place for values that live as long as the request."""
        held = m.request.get("state")
        if held is None:
            held = m.request["state"] = m.make("namespace", "namespace", None, label="request state")
        return held

    def set_on_request(self, m: Machine, name: str, site: Site) -> Value | None:
        """What stands in front of the handler sets on the request under a name."""
        from sselint.read.python.server import set_on_requests

        return set_on_requests.value_of(m, name, site)

    # -- registering and decorating ---------------------------------------------------------------------------------

    def register(
        self,
        m: Machine,
        kind: str,
        receiver: Value | None,
        handler: Value | None,
        values: Mapping[str, Value],
        effect: Effect,
        site: Site,
    ) -> None:
        """Records a registration while the program is being built."""
        if not m.building:
            return
        to = Ref(receiver.id) if isinstance(receiver, Ref) else None
        handler = settled(handler) if handler is not None else None
        for value in values.values():
            m.escape(value)
        kept = {k: settled(v) for k, v in values.items()}
        as_script = any(d.key == ("script", site.module.path) and d.option == 1 for d in m.oracle.decisions)
        made = Registration(kind, to, handler, kept, effect, site, as_script)
        if self.registrations.add(made):
            self.heap.version += 1

    def returned(self, m: Machine, function: Function, value: Ref) -> None:
        """Remembers functions that make applications: command lines may name them."""
        if function.receiver is None and library.role_of(m, value) == "application":
            self.factories[(function, value.id)] = None

    def decorated(self, m: Machine, effect: Effect, function: Value) -> Value:
        """What a decorator that the rules describe makes of a function."""
        if effect.what == "cached":
            return Callback("cached", function)
        return function

    def callback(
        self,
        m: Machine,
        callback: Callback,
        positional: tuple[Value, ...],
        keywords: dict[str, Value],
        site: Site | None,
    ) -> Value:
        """A callable of the interpreter's own."""
        from sselint.read.python.interpreter import callbacks

        return callbacks.call(m, callback, positional, keywords, site or self.nowhere)


def plain(name: str) -> str:
    """A name without its case and its dashes."""
    return CURSOR_SPELLING.sub("", name).lower()


def _made_lazily(options: list[Value]) -> list[Value]:
    """`None` until it is first needed: what is made then is what later requests meet."""
    made = [v for v in options if isinstance(v, Ref | Function | ClassValue)]
    nothing = [v for v in options if isinstance(v, Const) and v.value is None]
    return [v for v in options if v not in nothing] if made and nothing else options


def _empty() -> Any:
    from sselint.source import Source

    return Source("", "", "python")


_EMPTY = _empty()
