"""What else in a HAProxy configuration touches a stream: idle timeouts, delayed events, edits of `Last-Event-ID`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from sselint.facts import CursorTreatment, Evidence, Observation, Span
from sselint.read.haproxy.conditions import condition
from sselint.read.haproxy.keys import LAST_EVENT_ID
from sselint.read.haproxy.lexer import Line
from sselint.read.haproxy.persistence import seconds_of
from sselint.read.haproxy.sections import Section

IDLE_CUT = "SSE603"
"""A stream without heartbeats is cut; `value` is the seconds."""
DELAYED = "SSE605"
"""Events arrive late; `value` is the seconds."""
LONG_SILENCE = 120.0
"""Seconds: who raises `timeout server` above this has thought of silent streams."""

_CURSOR_FETCH = re.compile(r"(?:req\.f?hdr|hdr|url_param|urlp)\(\s*[\"']?(?:last[-_]?event[-_]?id)", re.IGNORECASE)


@dataclass(frozen=True)
class CursorEdit:
    """What happens to `Last-Event-ID` on the way, with the lines that do it. `only` are lines that do it for some paths
    and hosts alone."""

    treatment: CursorTreatment
    evidence: Evidence
    only: tuple[Line, ...] = ()


def cursor_edits(*sections: Section) -> CursorEdit:
    """What the rules of these sections (frontend, backend) do to the request header `Last-Event-ID`."""
    evidence: list[Span] = []
    only: list[Line] = []
    treatment = CursorTreatment.PASSED
    for section in sections:
        for line, what in edits(section):
            holds = condition(line, section)
            if holds.never:
                continue
            if holds.always and line.sure:
                treatment = CursorTreatment.STRIPPED
                evidence.append(line.span(what))
            elif holds.by_path_and_host and line.sure:
                only.append(line)
            else:
                evidence.append(line.span(what + " under a condition"))
    return CursorEdit(treatment, tuple(evidence), tuple(only))


@lru_cache(maxsize=16384)
def edits(section: Section) -> tuple[tuple[Line, str], ...]:
    """The lines of a section that take the client's cursor out of the request, and what they do."""
    return tuple(_edits(section))


def _edits(section: Section) -> Iterator[tuple[Line, str]]:
    for line in section.all("http-request"):
        if _names_cursor(line) and not any(_CURSOR_FETCH.search(w.text) for w in line.arguments[2:]):
            action = line.argument(0)
            if action == "del-header":
                yield line, "removes Last-Event-ID"
            elif action in ("set-header", "replace-header", "replace-value"):
                yield line, "overwrites Last-Event-ID"
    for keyword in ("reqdel", "reqidel"):
        for line in section.all(keyword):
            if LAST_EVENT_ID in line.argument(0).replace("\\", "").lower():
                yield line, "removes Last-Event-ID"


def _names_cursor(line: Line) -> bool:
    name = line.argument(1).lower()
    words = [w.text for w in line.arguments]
    method = words[words.index("-m") + 1] if "-m" in words[:-1] else "str"
    if method == "beg":
        return LAST_EVENT_ID.startswith(name) and bool(name)
    if method == "end":
        return LAST_EVENT_ID.endswith(name) and bool(name)
    if method == "sub":
        return name in LAST_EVENT_ID and bool(name)
    if method == "reg":
        try:
            return bool(re.search(name, LAST_EVENT_ID))
        except re.error:
            return False
    return name == LAST_EVENT_ID


def observations(frontend: Section | None, backend: Section, *, http: bool) -> tuple[Observation, ...]:
    """What makes reconnects frequent or events late (SSE6xx), as measured in
    tests/premises/test_haproxy_claims.py."""
    return tuple(_timeouts(backend)) + (tuple(_delays(frontend, backend)) if http else ())


def _timeouts(backend: Section) -> Iterator[Observation]:
    """`timeout server` decides over an idle answer; `timeout client` and `timeout tunnel` do not."""
    line = backend.last("timeout", "server") or backend.last("srvtimeout")
    if line is None:
        return
    word = line.argument(1) if line.keyword == "timeout" else line.argument(0)
    seconds = seconds_of(word)
    if seconds and seconds <= LONG_SILENCE:
        why = f"timeout server cuts a stream that has been silent for {seconds:g} s"
        yield Observation(IDLE_CUT, why, (line.span(),), f"{seconds:g}")


def _delays(frontend: Section | None, backend: Section) -> Iterator[Observation]:
    """Either side may carry the option: what is set in one proxy holds for its own connections."""
    if any(section.option("http-no-delay") for section in (frontend, backend) if section):
        return
    why = "without option http-no-delay every event waits up to about 200 ms for more data"
    yield Observation(DELAYED, why, (backend.header.span(),), "0.2")
