"""Streams whose source is not in the tree: stated in the settings or with `--assume`, or read in another repository.

`sselint facts --format json > app.json` in the one, `sselint check --facts app.json` in the other.
"""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from sselint.facts import (
    AppReference,
    Cursor,
    Evidence,
    Guard,
    IdKind,
    IdSource,
    KeyOrigin,
    Minted,
    Name,
    Outcome,
    Reading,
    Replay,
    Run,
    Scope,
    Span,
    Stream,
    Truth,
    Where,
)
from sselint.settings import Settings, SettingsError, StatedStream, UnknownCursor

ASSUMED = "--assume"
"""The path of a stream that nothing but the command line speaks of."""

SCOPE_OF = {
    IdKind.COUNTER: Scope.OVERLAPPING,
    IdKind.INDEX: Scope.OVERLAPPING,
    IdKind.CLOCK: Scope.ORDERED_LOCAL,
    IdKind.RANDOM: Scope.UNIQUE_LOCAL,
    IdKind.EPOCH_PREFIXED: Scope.UNIQUE_LOCAL,
    IdKind.REPLICA_PREFIXED: Scope.UNIQUE_LOCAL,
    IdKind.STORE: Scope.SHARED,
    IdKind.CONSTANT: Scope.SHARED,
    IdKind.NONE: Scope.NONE,
}
"""What a kind of id means where nothing else is known of it."""


def streams_stated(settings: Settings, reading: Reading) -> tuple[Stream, ...]:
    """The streams that stand beside those of the source.

    `--assume ids=...` speaks of a server that is not in the tree: it is left out where the tree has one that is
    deployed. Raises SettingsError for a facts file that cannot be used.
    """
    stated = [_stream(s) for s in settings.streams]
    for file in settings.facts_files:
        stated += read_facts(file)
    if settings.assume.stream and not stated and not any(s.apps and s.deployable for s in reading.streams):
        stated.append(_stream(settings.assume.stream))
    return tuple(stated)


def _stream(stated: StatedStream) -> Stream:
    where = str(stated.place) if stated.place else ASSUMED
    evidence = (stated.place,) if stated.place else ()
    module, _, attribute = (stated.starts or "").partition(":")
    path = stated.place.path if stated.place else ASSUMED
    ids_why = f"{where} says ids = {stated.ids.value}"
    replay_why = f"{where} says replay = {stated.replay.value}, live-tail = {stated.live_tail.value}"
    run_why = f"{where} says unknown = {stated.unknown.value}"
    run = _run(stated, run_why, evidence)
    return Stream(
        path=path,
        line=stated.place.line if stated.place else 1,
        symbol=stated.name,
        unit=stated.unit,
        ids=IdSource(stated.ids, SCOPE_OF.get(stated.ids, Scope.UNKNOWN), ids_why, evidence),
        replay=Replay(stated.replay, stated.live_tail, replay_why, evidence),
        cursor=Cursor(Truth.of(stated.unknown is not UnknownCursor.NOT_READ), "", run_why, evidence),
        on_foreign=run,
        on_overlap=run if run.outcome is not Outcome.FAIL_CLOSED else Run(Outcome.COMPARED, ids_why, evidence),
        protocol=stated.protocol,
        url=stated.url,
        apps=(AppReference(module, attribute, f"{path}#{stated.name}"),),
        evidence=evidence,
        image=stated.image,
    )


def _run(stated: StatedStream, why: str, evidence: Evidence) -> Run:
    outcome = {
        UnknownCursor.TOLERANT: Outcome.COMPARED,
        UnknownCursor.REFUSED: Outcome.FAIL_CLOSED,
        UnknownCursor.NOT_READ: Outcome.NOT_READ,
    }[stated.unknown]
    return Run(outcome, why, evidence)


def read_facts(path: Path) -> list[Stream]:
    """The streams in what `sselint facts --format json` wrote. Raises SettingsError if it is something else."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"cannot be read: {error.strerror}", str(path), "name a file that exists") from error
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise SettingsError(f"not JSON: {error}", str(path), _HOW) from error
    if not isinstance(document, dict) or document.get("version") != 1 or "streams" not in document:
        raise SettingsError("not facts of version 1", str(path), _HOW)
    try:
        streams = [_stream_of(_from_elsewhere(item, path.name)) for item in document["streams"]]
        _check_types(streams)
        return streams
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise SettingsError(f"not facts of version 1: {error}", str(path), _HOW) from error


def _check_types(value: Any) -> None:
    """Raises TypeError where a text, number or truth in these facts is something else."""
    if isinstance(value, list | tuple | frozenset):
        for item in value:
            _check_types(item)
    if not is_dataclass(value):
        return
    for field in fields(value):
        inside = getattr(value, field.name)
        wanted = _PLAIN.get(str(field.type))
        if wanted is not None and type(inside) not in wanted:
            raise TypeError(f"`{field.name}` can't be {inside!r}")
        _check_types(inside)


_NOTHING = type(None)
_PLAIN: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "bool": (bool,),
    "str | None": (str, _NOTHING),
    "int | None": (int, _NOTHING),
}
_HOW = "write it with `sselint facts --format json > app.json` in the server's repository"


def _from_elsewhere(value: Any, file: str) -> Any:
    """The item with each path as `file#path`: a file of the same name may stand in the audited tree too."""
    if isinstance(value, list):
        return [_from_elsewhere(inner, file) for inner in value]
    if not isinstance(value, dict):
        return value
    paths = {k: f"{file}#{v}" for k, v in value.items() if k == "path" and isinstance(v, str)}
    return {k: _from_elsewhere(v, file) for k, v in value.items()} | paths


def _stream_of(item: dict[str, Any]) -> Stream:
    ids, replay, cursor = item["ids"], item["replay"], item["cursor"]
    apps = item.get("apps") or [{"module": "", "attribute": "", "path": item["path"]}]
    return Stream(
        path=item["path"],
        line=item["line"],
        symbol=item["symbol"],
        unit=".",
        ids=IdSource(
            IdKind(ids["kind"]),
            Scope(ids["scope"]),
            ids["why"],
            _evidence(ids),
            Minted(ids.get("minted", "published")),
            Truth(ids.get("reaches_fresh_client", "yes")),
            frozenset(Name(name) for name in ids.get("apart", ())),
        ),
        replay=Replay(
            Where(replay["where"]),
            Where(replay["live_tail"]),
            replay["why"],
            _evidence(replay),
            Truth(replay.get("ends", "no")),
            Truth(replay.get("evicts", "no")),
            replay.get("disk_path"),
        ),
        cursor=Cursor(Truth(cursor["read"]), cursor.get("how", ""), cursor.get("why", ""), _evidence(cursor)),
        on_foreign=_run_of(item["on_foreign"]),
        on_overlap=_run_of(item["on_overlap"]) if item.get("on_overlap") else None,
        on_missing=_run_of(item["on_missing"]) if item.get("on_missing") else None,
        on_malformed=_run_of(item["on_malformed"]) if item.get("on_malformed") else None,
        guards=tuple(_guard_of(g) for g in item.get("guards", ())),
        tags_replica=_truth(item.get("tags_replica", "no")),
        protocol=item.get("protocol", "sse"),
        url=item.get("url"),
        apps=tuple(AppReference(a["module"], a["attribute"], a["path"]) for a in apps),
        deployable=item.get("deployable", True),
        environment=frozenset(item.get("environment", ())),
        evidence=_evidence(item),
    )


def _truth(value: str | bool) -> Truth:
    return Truth.of(value) if isinstance(value, bool) else Truth(value)


def _run_of(item: dict[str, Any]) -> Run:
    return Run(
        Outcome(item["outcome"]),
        item["why"],
        _evidence(item),
        item.get("status"),
        bool(item.get("reset", False)),
        bool(item.get("late", False)),
    )


def _guard_of(item: dict[str, Any]) -> Guard:
    return Guard(item["key"], KeyOrigin(item["origin"]), item["why"], _evidence(item), item.get("status"))


def _evidence(item: dict[str, Any]) -> Evidence:
    return tuple(
        Span(e["path"], e["line"], e["column"], e["end_line"], e["end_column"], e.get("note", ""))
        for e in item.get("evidence", ())
    )
