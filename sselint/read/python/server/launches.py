"""Servers that are started in Python: `uvicorn.run(app, workers=4)` and its like are pools of processes."""

from __future__ import annotations

from collections.abc import Iterator

from sselint.facts import Count, Pool, Setting
from sselint.read.python.answers.outcome import evidence_of
from sselint.read.python.interpreter.machine import Hypothesis, Machine
from sselint.read.python.interpreter.oracle import Oracle
from sselint.read.python.interpreter.values import Const, Ref, Unknown, Value, Variable
from sselint.read.python.server.registered import Registration
from sselint.read.python.server.world import World


def pools(world: World) -> Iterator[Pool]:
    """The servers that the tree starts itself. A place that starts whatever it is given is one, whoever calls it."""
    found = (_pool(world, r) for r in world.registrations if r.kind == "server")
    yield from dict.fromkeys(pool for pool in found if pool is not None)


def _pool(world: World, registration: Registration) -> Pool | None:
    values = registration.values
    app = values.get("target") or registration.handler
    spans = evidence_of([(registration.site, "the server is started here")])
    if not spans:
        return None
    workers = _workers(registration)
    return Pool(
        path=spans[0].path,
        line=spans[0].line,
        format="python",
        kind="workers",
        name=f"{registration.effect.get('name', 'the server')} in {spans[0].path}",
        processes=_count(world, workers),
        number_from=_variable(workers),
        only_as_script=registration.only_as_script,
        starts=_starts(world, registration, app),
        evidence=spans,
    )


def _workers(registration: Registration) -> Value | None:
    """The argument that says how many processes, or the environment variable that does where there is none."""
    if registration.effect.get("only") == "one":
        return None
    given = registration.values.get("with workers")
    variable = registration.effect.get("default")
    nothing = Const.of(None)
    return Variable(str(variable), nothing) if variable and given in (None, nothing) else given


def _variable(workers: Value | None) -> Setting | None:
    """The variable that says how many, with the number that is meant where it is not set."""
    if not isinstance(workers, Variable):
        return None
    default = workers.default.value if isinstance(workers.default, Const) else None
    return Setting(workers.name, "1" if default is None else str(default))


def _count(world: World, value: Value | None) -> Count:
    if isinstance(value, Variable):
        known = world.settle(Machine(world, Oracle(), Hypothesis.BUILD), value)
        if known == value and value.default == Const.of(None):
            known = Const.of(None)
        if isinstance(known, Const):
            value = known
    if value is None or (isinstance(value, Const) and value.value is None):
        return Count.exactly(1, "one process, as nothing else is said")
    if isinstance(value, Const):
        try:
            return Count.exactly(int(value.value), f"{value.value} workers are written down")
        except (TypeError, ValueError):
            return Count.unknown("the number of workers is not a number")
    if isinstance(value, Variable):
        return Count.unknown(f"{value.name} says how many workers")
    return Count.unknown(value.why if isinstance(value, Unknown) else "the number of workers is computed")


def _starts(world: World, registration: Registration, app: Value | None) -> str | None:
    if isinstance(app, Const) and isinstance(app.value, str):
        return app.value
    if isinstance(app, Ref):
        for path, names in world.globals.items():
            for name, values in names.items():
                if app in values and world.loaded[path] is registration.site.module:
                    return f"{world.loaded[path].name}:{name}"
        for function, number in world.factories:
            if number == app.id:
                return f"{function.module.name}:{function.name}"
        for path, names in world.globals.items():
            for name, values in names.items():
                if app in values:
                    return f"{world.loaded[path].name}:{name}"
    return None
