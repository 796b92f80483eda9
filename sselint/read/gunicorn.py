"""gunicorn.conf.py: a program, read and never run.

The last assignment of a setting at module level counts; one inside `if` or `try` makes it either.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sselint.facts import Count, Evidence, FileOutcome, FileReport, Pool, Reading, Span
from sselint.read import worker_number
from sselint.source import Source, Tree

_SETTING = re.compile(r"^(workers|worker_class|wsgi_app|bind|threads)\s*(:\s*\w+\s*)?=[^=]", re.MULTILINE)
_MAX_NESTING = 150
"""Open brackets: Python's parser takes about 200, and no settings file has more."""


def looks_like(path: str, text: str) -> bool:
    """Whether this is gunicorn's settings file: its name says so, or a `gunicorn*` name and a setting."""
    name = path.rsplit("/", 1)[-1]
    if not name.endswith(".py") or "gunicorn" not in name:
        return False
    return name == "gunicorn.conf.py" or _SETTING.search(text) is not None


@dataclass(frozen=True)
class Settings:
    """What the file says. `workers` is None where it does not set them; `line` is where it does."""

    workers: Count | None
    application: str | None
    folder: str | None
    line: int = 1


def settings(text: str, environment: Mapping[str, str | None]) -> Settings | None:
    """The settings of a file under an environment; None for text that is not Python."""
    if text.count("(") + text.count("[") + text.count("{") > 5000 or _nesting(text) > _MAX_NESTING:
        return None
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    assigned = _assignments(module.body)
    names = {name: values[-1][0] for name, values in assigned.items()}
    application = _text_of(names.get("wsgi_app"))
    if application and ":" not in application:
        application += ":application"
    workers, line = None, 1
    if "workers" in assigned:
        others = {name: value for name, value in names.items() if name != "workers"}
        intervals = [worker_number.evaluate(value, others, environment) for value, _ in assigned["workers"]]
        workers, line = _joined(intervals), assigned["workers"][-1][1]
    return Settings(workers, application, _text_of(names.get("chdir")), line)


def read(sources: Sequence[Source], tree: Tree) -> Reading:
    """A pool of workers for each settings file; what starts gunicorn with it elsewhere reads it again."""
    pools: list[Pool] = []
    files: list[FileReport] = []
    for source in sources:
        found = settings(source.text, {})
        if found is None:
            files.append(FileReport(source.path, FileOutcome.PARTLY, "not readable as Python", needed=True))
            continue
        workers = found.workers or Count.exactly(1, "gunicorn starts one worker by default")
        line = source.at(found.line - 1, 0)[0]
        evidence: Evidence = (_line_span(source, found.line),)
        pools.append(
            Pool(
                path=source.path,
                line=line,
                format="gunicorn",
                kind="workers",
                name="gunicorn workers",
                processes=workers,
                starts=found.application,
                app_directory=found.folder,
                evidence=evidence,
            )
        )
        files.append(FileReport(source.path, FileOutcome.ANALYSED))
    return Reading(pools=tuple(pools), files=tuple(files))


def _line_span(source: Source, line: int) -> Span:
    start = source.line_starts[min(line, len(source.line_starts)) - 1]
    end = source.text.find("\n", start)
    return source.span(start, len(source.text) if end < 0 else end, "the number of workers")


def _assignments(body: Sequence[ast.stmt]) -> dict[str, list[tuple[ast.expr, int]]]:
    """What each module-level name may be at the end: one value, or several where a condition decides."""
    result: dict[str, list[tuple[ast.expr, int]]] = {}
    for statement in body:
        for name, value in _targets(statement):
            result[name] = [(value, statement.lineno)]
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            name = statement.target.id
            before = [value for value, _ in result.get(name, [])] or [ast.Name(name, ast.Load())]
            added = (ast.BinOp(value, statement.op, statement.value) for value in before)
            result[name] = [(value, statement.lineno) for value in added]
        for branch in _branches(statement):
            for name, values in _assignments(branch).items():
                result[name] = [*result.get(name, []), *values]
    return result


def _targets(statement: ast.stmt) -> list[tuple[str, ast.expr]]:
    if isinstance(statement, ast.Assign):
        return [(t.id, statement.value) for t in statement.targets if isinstance(t, ast.Name)]
    if isinstance(statement, ast.AnnAssign) and statement.value is not None and isinstance(statement.target, ast.Name):
        return [(statement.target.id, statement.value)]
    return []


def _branches(statement: ast.stmt) -> list[list[ast.stmt]]:
    if isinstance(statement, (ast.If, ast.For, ast.While)):
        return [statement.body, statement.orelse]
    if isinstance(statement, ast.Try):
        return [statement.body, *(h.body for h in statement.handlers), statement.orelse, statement.finalbody]
    return [statement.body] if isinstance(statement, ast.With) else []


def _joined(intervals: Sequence[worker_number.Interval]) -> Count:
    whys = " or ".join(dict.fromkeys(i.why for i in intervals if i.why)) or "an expression that is not known"
    counts = [i.count("") for i in intervals]
    highs = [c.high for c in counts]
    high = None if None in highs else max(h for h in highs if h is not None)
    return Count(min(c.low for c in counts), high, f"workers: {whys}")


def _text_of(expression: ast.expr | None) -> str | None:
    if isinstance(expression, ast.Constant) and isinstance(expression.value, str):
        return expression.value
    return None


def _nesting(text: str) -> int:
    """The deepest nesting of brackets, strings and comments counted as if they were code (too careful is fine)."""
    depth = deepest = 0
    for character in text:
        if character in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]}":
            depth = max(0, depth - 1)
    return deepest
