"""The settings of a run: `[tool.sselint]` in pyproject.toml or the whole of sselint.toml, and what an option changes.

No file is needed. Every mistake in one is a SettingsError that says what to write instead; none is passed over.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

from sselint.facts import Count, IdKind, Span, Where
from sselint.findings import Policy, Severity
from sselint.toml_table import SettingsError, Table, did_you_mean, parse_toml

__all__ = [
    "Assumptions",
    "DeploymentOverride",
    "Reference",
    "Settings",
    "SettingsError",
    "StatedStream",
    "UnknownCursor",
    "Waiver",
    "find_root",
    "load_settings",
    "parse_assumptions",
]

SETTINGS_FILES = ("sselint.toml", "pyproject.toml")


class UnknownCursor(str, Enum):
    """What a server that is stated by hand does with a cursor that it has never issued."""

    TOLERANT = "tolerant"
    """200 and business as usual."""
    REFUSED = "refused"
    """4xx, 204 or a reset event."""
    NOT_READ = "not-read"


STATED_IDS = tuple(kind.value for kind in IdKind if kind is not IdKind.UNKNOWN)
STATED_PLACES = (Where.MEMORY.value, Where.SHARED.value, Where.NONE.value)


@dataclass(frozen=True)
class Reference:
    """A thing in the tree as settings name it: `path`, or `path:name`; a bare name has the empty path."""

    path: str
    name: str
    place: Span

    @classmethod
    def parse(cls, text: str, place: Span) -> Reference:
        """`deploy/app.yaml`, `deploy/app.yaml:Deployment app`, `app/main.py:feed`, or `:feed` for a name alone."""
        path, _, name = text.partition(":")
        return cls(path.strip().removeprefix("./"), name.strip(), place)

    def means(self, path: str, *names: str) -> bool:
        """Whether the thing at `path` that goes by any of `names` is meant. The last part of a name is enough, and the
        path that a file of another repository (`app.json#app/main.py`) has there."""
        paths = (path, path.partition("#")[2])
        if self.path and not any(fnmatch.fnmatchcase(p, self.path) for p in paths):
            return False
        if not self.name:
            return True
        return any(name == self.name or re.split(r"[.\s]", name)[-1] == self.name for name in names)

    def __str__(self) -> str:
        return f"{self.path}:{self.name}" if self.name else self.path


@dataclass(frozen=True)
class DeploymentOverride:
    """`[[tool.sselint.deployments]]`: which stream stands behind which hops, by hand. Stronger than any other link.

    `routes` are named outermost first. `replicas` replaces the number of processes of the pool (of a pool that is not
    in the tree too). What is None or empty is left to the linker.
    """

    stream: Reference
    place: Span
    name: str | None = None
    routes: tuple[Reference, ...] = ()
    pool: Reference | None = None
    replicas: Count | None = None
    policy: Policy | None = None
    clients: tuple[str, ...] = ()


@dataclass(frozen=True)
class StatedStream:
    """`[[tool.sselint.streams]]`, or `--assume ids=...,unknown=...`: a server whose source is not in the tree.

    `ids` as IdKind, `unknown` what it does with a foreign cursor, `replay` and `live_tail` as Where. `starts`, `image`
    and `unit` link it to a pool as the source would.
    """

    name: str
    ids: IdKind
    unknown: UnknownCursor
    replay: Where
    live_tail: Where
    place: Span | None = None
    protocol: str = "sse"
    url: str | None = None
    starts: str | None = None
    image: str | None = None
    unit: str = "."


@dataclass(frozen=True)
class Waiver:
    """`[[tool.sselint.waivers]]`: input problems (SSE9xx) of the files that `path` (a glob) matches are expected."""

    path: str
    codes: tuple[str, ...]
    reason: str
    place: Span

    def covers(self, code: str, path: str) -> bool:
        """Whether the problem `code` of the file at `path` is waived."""
        named = not self.codes or code in self.codes
        return named and (fnmatch.fnmatchcase(path, self.path) or path.startswith(self.path.rstrip("/") + "/"))


@dataclass(frozen=True)
class Assumptions:
    """`--assume`, for one run: `replicas` stands for every number of processes that the tree leaves open; `stream` is
    the server behind each route that has none."""

    replicas: Count | None = None
    stream: StatedStream | None = None

    def __bool__(self) -> bool:
        return self.replicas is not None or self.stream is not None


@dataclass(frozen=True)
class Settings:
    """All that changes a run. Paths under `root` are POSIX and relative to it.

    `read` are the arguments that narrow what is read (directories below the root; empty: all of it), `reported` those
    that narrow what is reported (files). `exclude` are gitignore patterns. `rules` are the user's own rule
    files. `facts_files` are facts of servers in other repositories.
    """

    root: Path
    path: str | None = None
    clients: tuple[str, ...] = ()
    policy: Policy | None = None
    fail_on: Severity = Severity.ERROR
    fail_on_unknown: bool = False
    exclude: tuple[str, ...] = ()
    rules: tuple[Path, ...] = ()
    deployments: tuple[DeploymentOverride, ...] = ()
    streams: tuple[StatedStream, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    assume: Assumptions = Assumptions()
    facts_files: tuple[Path, ...] = ()
    exit_zero: bool = False
    read: tuple[str, ...] = ()
    reported: tuple[str, ...] = ()


def find_root(argument: Path) -> Path:
    """The nearest folder at or above `argument` with settings or `.git`, else `argument` (its folder, for a file)."""
    folder = (argument if argument.is_dir() else argument.parent).resolve()
    for candidate in (folder, *folder.parents):
        if (candidate / ".git").exists() or any(_holds_settings(candidate / name) for name in SETTINGS_FILES):
            return candidate
    return folder


def load_settings(paths: Sequence[Path]) -> Settings:
    """The settings for a run on `paths` (none: the current folder).

    Raises SettingsError for a path that is not there, for paths under different roots, and for any mistake in the
    settings file.
    """
    arguments = list(paths) or [Path()]
    for path in arguments:
        if not path.exists():
            raise SettingsError("no such file or folder", str(path), "name a folder or a file that exists")
    roots = sorted({find_root(path) for path in arguments})
    root = _common_root(roots) if len(roots) > 1 else roots[0]
    relative = {path: _absolute(path).relative_to(root).as_posix() for path in arguments}
    return replace(
        _read_settings(root),
        read=() if "." in relative.values() else tuple(sorted(r for p, r in relative.items() if p.is_dir())),
        reported=tuple(sorted(r for p, r in relative.items() if not p.is_dir())),
    )


def _absolute(path: Path) -> Path:
    """Follows the links of folders only: a file is known by the name it was asked for under."""
    return path.resolve() if path.is_dir() else path.parent.resolve() / path.name


def _common_root(roots: Sequence[Path]) -> Path:
    outer = roots[0]
    if all(root.is_relative_to(outer) for root in roots):
        return outer
    first, second = roots[0], roots[1]
    raise SettingsError(
        "the paths belong to different roots", f"{first} and {second}", "check one repository at a time"
    )


def _holds_settings(path: Path) -> bool:
    if path.name == "sselint.toml" or not path.is_file():  # reading a pipe would wait for ever
        return path.is_file()
    try:
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return False
    if "sselint" not in text:
        return False
    try:
        tool = parse_toml(text, path.name).get("tool")
        return isinstance(tool, dict) and "sselint" in tool
    except SettingsError:
        return bool(re.search(r"^\s*\[+\s*tool\s*\.\s*[\"']?sselint\b", text, re.MULTILINE))


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise SettingsError("not UTF-8", path.name, "save it as UTF-8") from error


def _read_settings(root: Path) -> Settings:
    holders = [name for name in SETTINGS_FILES if _holds_settings(root / name)]
    if not holders:
        return Settings(root)
    if len(holders) > 1:
        raise SettingsError("settings stand in two files", " and ".join(holders), "keep one of them")
    name = holders[0]
    try:
        text = _text_of(root / name)
    except OSError as error:
        raise SettingsError(f"cannot be read: {error.strerror}", name, "make it readable") from error
    document = parse_toml(text, name)
    if name == "sselint.toml":
        if "tool" in document:
            raise SettingsError("`[tool.sselint]` is for pyproject.toml", name, "write the keys without a table")
        return _settings_of(root, Table(document, name, text, ""))
    values = document["tool"]["sselint"]
    if not isinstance(values, dict):
        raise SettingsError("`tool.sselint` must be a table", name, "write [tool.sselint]")
    return _settings_of(root, Table(values, name, text, "tool.sselint"))


def _settings_of(root: Path, table: Table) -> Settings:
    settings = Settings(
        root=root,
        path=table.path,
        clients=table.strings("clients"),
        policy=table.choice("policy", Policy),
        fail_on=table.choice("fail-on", Severity) or Severity.ERROR,
        fail_on_unknown=table.flag("fail-on-unknown"),
        exclude=_patterns(table),
        rules=tuple(path for text in table.strings("rules") for path in _rules_paths(root, text, table)),
        deployments=tuple(_deployment(item) for item in table.tables("deployments")),
        streams=tuple(_stated_stream(item) for item in table.tables("streams")),
        waivers=tuple(_waiver(item) for item in table.tables("waivers")),
    )
    table.finish()
    return settings


def _patterns(table: Table) -> tuple[str, ...]:
    """The patterns of `exclude`."""
    patterns = table.strings("exclude")
    if patterns:
        from pathspec import GitIgnoreSpec

        for pattern in patterns:
            try:
                GitIgnoreSpec.from_lines([pattern])
            except ValueError as error:
                raise table.error(
                    "exclude", f"`{pattern}` is no pattern", "write it as in .gitignore: exclude = [\"vendored/\"]"
                ) from error
    return patterns


def _rules_paths(root: Path, text: str, table: Table) -> list[Path]:
    """The rule files that an entry names: a file, or every YAML file in a folder."""
    path = root / text
    if not path.exists():
        raise table.error("rules", f"no such rules file or folder: {text}", "name it relative to this file")
    if path.is_file():
        return [path]
    files = sorted(file for file in path.rglob("*") if file.suffix in (".yaml", ".yml") and file.is_file())
    if not files:
        raise table.error("rules", f"no YAML file in {text}", "put the rules there, or name another folder")
    return files


def _deployment(table: Table) -> DeploymentOverride:
    pool = table.string("pool")
    override = DeploymentOverride(
        stream=Reference.parse(table.required("stream", '"app/main.py:events"'), table.place("stream")),
        place=table.place(),
        name=table.string("name"),
        routes=tuple(Reference.parse(text, table.place("routes")) for text in table.strings("routes")),
        pool=Reference.parse(pool, table.place("pool")) if pool else None,
        replicas=_replicas(table),
        policy=table.choice("policy", Policy),
        clients=table.strings("clients"),
    )
    table.finish()
    return override


def _replicas(table: Table) -> Count | None:
    value = table.raw("replicas")
    if value is None:
        return None
    count = _count(value, f"stated in {table.place('replicas')}")
    if count is None:
        raise table.error(
            "replicas", f"`replicas` can't be {value!r}", 'write a number (3), or a range as a string ("2-6")'
        )
    return count


def _count(value: Any, why: str) -> Count | None:
    """3, "3", "2-6" or "2-" as a Count; None for anything else."""
    if isinstance(value, bool):
        return None
    match = re.fullmatch(r"(\d+)(?:\s*(-)\s*(\d*))?", str(value).strip())
    if not match or int(match.group(1)) < 1:
        return None
    low = int(match.group(1))
    if not match.group(2):
        return Count.exactly(low, why)
    high = int(match.group(3)) if match.group(3) else None
    return None if high is not None and high < low else Count(low, high, why)


def _stated_stream(table: Table) -> StatedStream:
    replay = Where(table.word("replay", STATED_PLACES) or Where.MEMORY.value)
    tail = table.word("live-tail", STATED_PLACES)
    ids = table.word("ids", STATED_IDS)
    if ids is None:
        raise table.error(None, "`ids` is missing", did_you_mean("", STATED_IDS))
    stream = StatedStream(
        name=table.required("name", '"events"'),
        ids=IdKind(ids),
        unknown=table.choice("unknown", UnknownCursor) or UnknownCursor.TOLERANT,
        replay=replay,
        live_tail=Where(tail) if tail else replay,
        place=table.place(),
        protocol=table.word("protocol", ("sse", "mcp")) or "sse",
        url=table.string("url"),
        starts=table.string("starts"),
        image=table.string("image"),
        unit=table.string("unit") or ".",
    )
    table.finish()
    return stream


def _waiver(table: Table) -> Waiver:
    codes = table.strings("codes")
    for code in codes:
        if not re.fullmatch(r"SSE9\d\d", code):
            raise table.error(
                "codes",
                f"{code} can't be waived for a path, only SSE9xx can",
                f"waive it where it stands: `# sselint: ignore[{code}] reason`",
            )
    waiver = Waiver(
        path=table.required("path", '"vendored/*.conf"').removeprefix("./"),
        codes=codes,
        reason=table.required("reason", '"why this file need not be analysed"'),
        place=table.place(),
    )
    table.finish()
    return waiver


def parse_assumptions(texts: Sequence[str]) -> Assumptions:
    """What `--assume` says: `replicas=3`, `replicas=2-6`, `ids=counter,unknown=tolerant,replay=memory`.

    Raises SettingsError for a key or value that is not one of these.
    """
    given: dict[str, str] = {}
    for pair in (part.strip() for text in texts for part in text.split(",")):
        key, equals, value = pair.partition("=")
        if not equals:
            raise SettingsError(f"`{pair}` is not KEY=VALUE", "--assume", "write for example --assume replicas=3")
        given[key.strip()] = value.strip()
    replicas = given.pop("replicas", None)
    count = None if replicas is None else _count(replicas, "assumed on the command line")
    if replicas is not None and count is None:
        raise SettingsError(
            f"`replicas` can't be {replicas!r}", "--assume", "write a number (replicas=3) or a range (replicas=2-6)"
        )
    return Assumptions(replicas=count, stream=_assumed_stream(given) if given else None)


def _assumed_stream(given: dict[str, str]) -> StatedStream:
    known = {
        "ids": STATED_IDS,
        "unknown": tuple(member.value for member in UnknownCursor),
        "replay": STATED_PLACES,
        "live-tail": STATED_PLACES,
        "protocol": ("sse", "mcp"),
    }
    for key, value in given.items():
        if key not in known:
            raise SettingsError(f"unknown key `{key}`", "--assume", did_you_mean(key, ("replicas", *known)))
        if value not in known[key]:
            raise SettingsError(f"`{key}` can't be {value!r}", "--assume", did_you_mean(value, known[key]))
    if "ids" not in given:
        raise SettingsError(
            "a server needs `ids` to be assumed", "--assume", "write for example --assume ids=counter,unknown=tolerant"
        )
    replay = Where(given.get("replay", Where.MEMORY.value))
    return StatedStream(
        name="assumed server",
        ids=IdKind(given["ids"]),
        unknown=UnknownCursor(given.get("unknown", UnknownCursor.TOLERANT.value)),
        replay=replay,
        live_tail=Where(given.get("live-tail", replay.value)),
        protocol=given.get("protocol", "sse"),
    )
