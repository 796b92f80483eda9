"""The "pseudo config" of a route: the lines that decide about it, inherited ones first, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from sselint.facts import Evidence
from sselint.read.haproxy.lexer import Line
from sselint.read.haproxy.sections import Section
from sselint.read.haproxy.servers import servers

SHOWN_SERVERS = 12
"""Server lines in the evidence of one route: enough to see who the members are."""
SHOWN_LINES = 40
"""Other lines of one section: more are a generated list of rules."""

_LAST_WINS = frozenset(
    {"mode", "balance", "cookie", "dynamic-cookie-key", "stick-table", "hash-type", "hash-balance-factor", "retries",
     "retry-on", "hash-preserve-affinity"}
)  # fmt: skip
_ALL_COUNT = frozenset({"stick", "use-server", "force-persist", "ignore-persist", "default-server"})
_OPTIONS = frozenset({"redispatch", "persist", "http-no-delay", "allbackups"})


def pseudo_config(frontend: Section | None, shown: Sequence[Line], backends: Sequence[Section]) -> Evidence:
    """What applies, in the order of a configuration: inherited lines that nothing overrides, below the header of the
    `defaults` section they stand in; the frontend with the rules that choose (`shown`); the backends with what decides.
    """
    own = tuple(dict.fromkeys(backends))
    chain: list[Line] = []
    for parent, lines in _inherited([s for s in (frontend, *own) if s]).items():
        chain += [parent, *lines]
    if frontend and frontend not in own:
        chain += [frontend.header, *frontend.own("bind")[:2], *_named_in(frontend, shown), *shown]
        chain += [line for line in frontend.own("option") if _of_frontends(line)]
    for section in own:
        here = shown if section is frontend else ()
        decided = [line for line in section.lines if _applies(line, section)][:SHOWN_LINES]
        chain += [section.header, *_named_in(section, [*here, *decided]), *here, *decided]
        chain += [s.line for s in servers(section)][:SHOWN_SERVERS]
    return tuple(line.span() for line in dict.fromkeys(chain))


def _inherited(sections: Sequence[Section]) -> dict[Line, list[Line]]:
    """Headers of `defaults` sections with the lines in them that apply to any of the sections."""
    found: dict[Line, list[Line]] = {}
    for section in sections:
        for parent in reversed(tuple(section.lineage)[1:]):
            for line in parent.lines:
                if _applies(line, section) and (section.kind != "frontend" or _of_frontends(line)):
                    found.setdefault(parent.header, []).append(line)
    return {header: list(dict.fromkeys(lines)) for header, lines in found.items()}


def _of_frontends(line: Line) -> bool:
    return _subject(line) == ("option", "http-no-delay")


def _applies(line: Line, section: Section) -> bool:
    """Whether a line that `section` has or inherits decides about it, and no later one overrides it."""
    keyword, which = _subject(line)
    if keyword in _ALL_COUNT:
        return True
    if keyword == "option":
        return which in _OPTIONS and section.about_option(which) is line
    if keyword in _LAST_WINS:
        return section.last(keyword) is line
    return (keyword, which) == ("timeout", "server") and section.last(keyword, which) is line


def _subject(line: Line) -> tuple[str, str]:
    """What a line speaks of: its keyword, and for options and timeouts which."""
    words = [word.text for word in line.words[:3] if word.known]
    if words[:1] in (["no"], ["default"]):
        words = words[1:]
    words += ["", ""]
    return (words[0], words[1]) if words[0] in ("option", "timeout") else (words[0], "")


def _named_in(section: Section, shown: Sequence[Line]) -> tuple[Line, ...]:
    """The definitions of the ACLs and variables that the shown rules name."""
    words = [word.text.lstrip("!") for line in shown for word in line.words]
    acls = [line for name in dict.fromkeys(words) for line in section.acl(name)]
    words += [word.text for line in acls for word in line.words]
    used = {name for name in section.variables if any(f"var({name}" in word for word in words)}
    starts = tuple(f"set-var({name}" for name in used)
    made = [line for line in section.own("http-request") if line.argument(0).startswith(starts)] if starts else []
    return tuple(sorted((*made, *acls), key=lambda line: line.place))
