"""Findings that somebody has decided to live with: inline ignores, and input problems that the settings waive.

`# sselint: ignore[SSE201] reason` at the end of a line speaks of that line; on a line of its own, of the next line that
is not a comment. The reason is demanded. Suppressed findings stay in the data.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sselint.facts import Span
from sselint.findings import Confidence, Finding, Severity, Suppression
from sselint.settings import Waiver

_IGNORE = re.compile(r"#\s*sselint:\s*ignore\b\s*(?:\[(?P<codes>[^\]]*)\])?(?P<reason>.*)")
_CODE = re.compile(r"SSE\d{3}")


@dataclass(frozen=True)
class Ignore:
    """An inline ignore: where it stands, the line that it speaks of, the codes and the reason as written."""

    place: Span
    line: int
    codes: tuple[str, ...]
    reason: str
    fault: str = ""
    """Why it is refused; "" where it counts."""


def waive(findings: Sequence[Finding], root: Path, paths: Sequence[str]) -> list[Finding]:
    """The findings with those suppressed that an ignore in one of `paths` covers, and what is wrong with the ignores.

    Once the verdict of a deployment is suppressed, its parts are notes: they only explain it. A suppressed part leaves
    the verdict alone.
    """
    ignores = [ignore for path in paths for ignore in _ignores(root / path, path)]
    if not ignores:
        return list(findings)
    used: set[tuple[Ignore, str]] = set()
    waived = [_suppressed(finding, ignores, used) for finding in findings]
    accepted = {finding.deployment for finding in waived if finding.suppressed and finding.code in ("SSE001", "SSE002")}
    return [*(_explaining(finding, accepted) for finding in waived), *_faults(ignores, used)]


def suppression_by_settings(code: str, path: str, waivers: Iterable[Waiver]) -> Suppression | None:
    """The waiver of the settings that covers an input problem, if there is one."""
    for waiver in waivers:
        if waiver.covers(code, path):
            return Suppression("settings", waiver.reason, waiver.place.path, waiver.place.line)
    return None


def _suppressed(finding: Finding, ignores: Iterable[Ignore], used: set[tuple[Ignore, str]]) -> Finding:
    if finding.suppressed:
        return finding
    for ignore in ignores:
        if not ignore.fault and finding.code in ignore.codes and any(_covers(ignore, s) for s in finding.evidence):
            used.add((ignore, finding.code))
            suppression = Suppression("inline", ignore.reason, ignore.place.path, ignore.place.line)
            return replace(finding, suppressed=suppression)
    return finding


def _covers(ignore: Ignore, span: Span) -> bool:
    return span.path == ignore.place.path and span.line <= ignore.line <= max(span.line, span.end_line)


def _explaining(finding: Finding, accepted: set[str]) -> Finding:
    part = not finding.code.startswith(("SSE0", "SSE9"))
    return replace(finding, severity=Severity.NOTE) if part and finding.deployment in accepted else finding


def _faults(ignores: Iterable[Ignore], used: set[tuple[Ignore, str]]) -> Iterator[Finding]:
    """SSE905 for an ignore that is refused, SSE906 for one that names a code in vain."""
    from sselint.catalogue import finding_rules

    for ignore in ignores:
        idle = [code for code in ignore.codes if (ignore, code) not in used]
        if not ignore.fault and not idle:
            continue
        rule = finding_rules()["SSE905" if ignore.fault else "SSE906"]
        message = ignore.fault or f"nothing to ignore here: {', '.join(idle)} is not reported for this line"
        yield Finding(rule.code, rule.severity["other"], Confidence.HIGH, message, (ignore.place,), "", rule.policies)


def _ignores(file: Path, path: str) -> Iterator[Ignore]:
    try:
        content = file.read_bytes()
    except OSError:
        return
    if b"sselint:" not in content:
        return
    text = content.decode("utf-8-sig", errors="replace")
    lines = text.splitlines()
    for number, column, comment in _comments(text, lines, path):
        match = _IGNORE.match(comment)
        if not match:
            continue
        alone = not lines[number - 1][: column - 1].strip()
        line = _next_line(lines, number) if alone else number
        place = Span(path, number, column, number, column + len(comment.rstrip()))
        codes = tuple(code.strip() for code in (match["codes"] or "").split(",") if code.strip())
        reason = match["reason"].strip().lstrip("-:").strip()
        yield Ignore(place, line, codes, reason, _fault(codes, reason))


def _comments(text: str, lines: Sequence[str], path: str) -> Iterator[tuple[int, int, str]]:
    """Line, column and text of the comments that speak to sselint; in Python a `#` inside a string is none."""
    if path.endswith((".py", ".pyi")):
        try:
            for token in tokenize.generate_tokens(io.StringIO(text).readline):
                if token.type == tokenize.COMMENT:
                    start = token.string.find("# sselint")
                    yield token.start[0], token.start[1] + 1 + max(start, 0), token.string[max(start, 0) :]
            return
        except (tokenize.TokenError, SyntaxError):
            pass
    for number, line in enumerate(lines, 1):
        match = _IGNORE.search(line)
        if match:
            yield number, match.start() + 1, line[match.start() :]


def _next_line(lines: Sequence[str], number: int) -> int:
    for following in range(number, len(lines)):
        text = lines[following].strip()
        if text and not text.startswith("#"):
            return following + 1
    return number


def _fault(codes: Sequence[str], reason: str) -> str:
    """What is wrong with an ignore, "" if nothing."""
    from sselint.catalogue import finding_rules

    if not codes:
        return "an ignore without a code is refused: write `# sselint: ignore[CODE] why`"
    for code in codes:
        if not _CODE.fullmatch(code) or code not in finding_rules():
            return f"there is no {code}: `sselint rules` lists the codes"
        if code.startswith("SSE9"):
            return f"{code} is waived for a path in the settings, not in the file: add [[tool.sselint.waivers]]"
    return "" if reason else f"an ignore without a reason is refused: write `# sselint: ignore[{codes[0]}] why`"
