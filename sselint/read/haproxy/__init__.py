"""Reads HAProxy configurations: frontends, backends, and what brings a client back to its server."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sselint.facts import FileOutcome, FileReport, Reading, Route
from sselint.read.haproxy.assembly import Assembly
from sselint.read.haproxy.persistence import NOTHING_ASSUMED, Assumed
from sselint.read.haproxy.routing import routes
from sselint.read.haproxy.sections import (
    SECTIONS,
    TEST_CASE_WORDS,
    TEST_CONFIGURATION,
    Configuration,
    configurations,
)
from sselint.source import Source, Tree

MAX_CHARACTERS = 4_000_000
"""Larger text is not read: a configuration with ten thousand backends has about two million characters."""

_TEMPLATE_TAG = re.compile(r"\{\{[^{}]*\}\}|\{%[^%]*%\}|\{#[^#]*#\}")
_FIRST_WORD = re.compile(r"^[ \t]*(?P<word>[^\s#]+)(?P<rest>[^\n]*)", re.MULTILINE)
_DIRECTIVE = re.compile(
    r"^[ \t]*(?:bind[ \t]+\S|server(?:-template)?[ \t]+\S+[ \t]+\S|(?:default|use)_backend[ \t]+\S"
    r"|mode[ \t]+(?:http|tcp|log)\b|balance[ \t]+\S|timeout[ \t]+(?:connect|client|server|check|queue|tunnel|http-)"
    r"|(?:no[ \t]+)?option[ \t]+[a-z]|maxconn[ \t]+\S|stick(?:-table)?[ \t]+\S|retries[ \t]+\S|default-server\b"
    r"|log[ \t]+(?:global|stdout|/|[\d\"])|(?:cli|con|srv)timeout[ \t]+\d|cookie[ \t]+\S|stats[ \t]+\S|daemon\b"
    r"|nbthread\b|acl[ \t]+\S+[ \t]+\S)",
    re.MULTILINE,
)
_BRACED = re.compile(r"[{;=:]\s*$")


def looks_like(path: str, text: str) -> bool:
    """Whether the text is a HAProxy configuration, whatever the file is called: the first word that is neither comment
    nor template tag begins a section (HAProxy refuses anything else), and there is a directive of one."""
    if "\0" in text[:4096]:
        return False
    head = _TEMPLATE_TAG.sub("", text[:65536])
    for found in _FIRST_WORD.finditer(head):
        word = found["word"]
        if word in (".if", ".notice", ".diag"):
            continue
        if word in TEST_CASE_WORDS:
            return bool(TEST_CONFIGURATION.search(text))
        if word not in SECTIONS or _BRACED.search(found["rest"]):
            return False
        return bool(_DIRECTIVE.search(head) or _DIRECTIVE.search(text))
    return False


def read(sources: Sequence[Source], tree: Tree, assumed: Assumed = NOTHING_ASSUMED) -> Reading:
    """The routes in these sources. Problems of one file are reported for it; nothing is raised, nothing else opened.

    `assumed` are facts from elsewhere: which cookies the application sets, whether clients begin with a POST.
    """
    small = [s for s in sources if len(s.text) <= MAX_CHARACTERS]
    files = [_too_large(s) for s in sources if len(s.text) > MAX_CHARACTERS]
    found: list[Route] = []
    for configuration in configurations(small):
        try:
            found.extend(routes(configuration, Assembly(configuration, assumed)))
        except Exception as error:  # one file must not take the others with it
            files.extend(_failed(configuration, error))
            continue
        files.extend(_reports(configuration))
    return Reading(routes=tuple(found), files=tuple(dict.fromkeys(files)))


def _failed(configuration: Configuration, error: Exception) -> list[FileReport]:
    why = f"{type(error).__name__}: {error}"
    return [FileReport(s.path, FileOutcome.INTERNAL_ERROR, why, needed=True) for s in configuration.sources]


def _too_large(source: Source) -> FileReport:
    why = f"larger than {MAX_CHARACTERS // 1_000_000} million characters"
    return FileReport(source.path, FileOutcome.TOO_LARGE, why, needed=True)


def _reports(configuration: Configuration) -> list[FileReport]:
    result = []
    for source in configuration.sources:
        lines = [line for s in configuration.sections for line in (s.header, *s.lines) if line.source is source]
        broken = next((line for line in lines if line.broken), None)
        if broken:
            report = FileReport(source.path, FileOutcome.PARTLY, "a quote is not closed", True, broken.span())
        else:
            report = FileReport(source.path, FileOutcome.ANALYSED)
        result.append(report)
    return result
