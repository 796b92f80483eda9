"""HAProxy `server`, `server-template` and `default-server` lines (manual, section 5).

The last of contradicting parameters wins; a `default-server` line sets them for the server lines below it, in its own
section and, written in `defaults`, in those that inherit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache

from sselint.catalogue import load_yaml, rules_directory
from sselint.facts import Count, Target
from sselint.read.haproxy.lexer import Line, Word
from sselint.read.haproxy.sections import Section

_PORT = re.compile(r"^(?P<host>.*?)(?::(?P<port>[+-]?\d*))?$")
_FAMILY = re.compile(r"^(?:ipv4|ipv6|tcp4|tcp6|tcp|udp4|udp6|udp|uxst|uxdg)@")
_NOT_A_HOST = re.compile(r"^(?:unix@|abns@|abnsz@|fd@|sockpair@|rhttp@|/)")


@dataclass(frozen=True)
class Server:
    """A server line: name, address, parameters. `parameters` maps a keyword to its value (empty for flags)."""

    line: Line
    name: str
    address: Word | None
    parameters: dict[str, Word] = field(compare=False)
    low: int = 1
    high: int | None = 1

    def flag(self, name: str) -> bool:
        """Whether a parameter is set (and no later `no-...` takes it away)."""
        return name in self.parameters

    def value(self, name: str) -> str:
        """The value of a parameter, empty if it is not set or unknown."""
        word = self.parameters.get(name)
        return word.value or "" if word else ""

    @property
    def checked(self) -> bool:
        """Whether anything can mark it down: a health check of its own or of the server it tracks, or an agent."""
        return any(self.flag(name) for name in ("check", "agent-check", "track"))

    @property
    def watch(self) -> Word | None:
        """The word that makes it checked, if that is written on the server line itself."""
        found = [self.parameters[n] for n in ("check", "agent-check", "track") if n in self.parameters]
        return next((w for w in found if self.line.words[0].start <= w.start < self.line.words[-1].end), None)

    @property
    def target(self) -> Target:
        """What it forwards to."""
        word = self.address
        if word is None or not word.known:
            return Target(word.text if word else "", None, self.line.span())
        text = _FAMILY.sub("", word.text)
        if _NOT_A_HOST.match(text):
            return Target(text, None, self.line.span())
        found = _PORT.match(text)
        host, port = (found["host"], found["port"]) if found else (text, None)
        number = int(port) if port and port.isdigit() else None
        return Target(host.strip("[]") or text, number, self.line.span())


@cache
def keywords_with_value() -> dict[str, int]:
    """How many values follow a parameter of a server line; parameters that are not listed have none."""
    document = load_yaml(rules_directory() / "affinity" / "haproxy.yaml")
    return {name: int(number) for name, number in document["server_parameters"].items()}


@lru_cache(maxsize=16384)
def servers(section: Section) -> tuple[Server, ...]:
    """The servers of a backend or listen that take traffic, in order. Left out are those that nobody reaches before
    somebody says so on the runtime socket: disabled ones start in maintenance, those of weight 0 drained (measured in
    tests/premises/test_haproxy_claims.py); a `use-server` rule reaches the latter."""
    named = {line.argument(0) for line in section.own("use-server")}
    defaults = [p for line in _inherited_defaults(section.parent) for p in _parameters(line.arguments)]
    result: list[Server] = []
    for line in section.lines:
        if line.keyword == "default-server":
            defaults += _parameters(line.arguments)
        elif line.keyword in ("server", "server-template") and len(line.words) > 2:
            server = _server(line, defaults)
            drained = server.value("weight") == "0" and server.name not in named
            if not server.flag("disabled") and not drained:
                result.append(server)
    return tuple(result)


def _inherited_defaults(parent: Section | None) -> tuple[Line, ...]:
    return parent.all("default-server") if parent else ()


def _server(line: Line, defaults: Sequence[tuple[str, Word]]) -> Server:
    words = line.arguments
    template = line.keyword == "server-template"
    parameters = _settled([*defaults, *_parameters(words[3 if template else 2 :])])
    low, high = (1, 1) if not template else _slots(words[1])
    if line.repeated:
        low, high = min(low, 1), None
    address = words[2] if template and len(words) > 2 else None if template else words[1]
    return Server(line, words[0].text, address, parameters, low, high)


def _slots(word: Word) -> tuple[int, int | None]:
    """How many servers a `server-template` makes: `3` or `1-10`."""
    found = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", word.value or "")
    if not found:
        return 1, None
    first, last = int(found[1]), found[2]
    number = int(last) - first + 1 if last else first
    return (number, number) if number > 0 else (1, None)


def _parameters(words: Sequence[Word]) -> Iterator[tuple[str, Word]]:
    """(keyword, value or the keyword itself) in order."""
    known = keywords_with_value()
    position = 0
    while position < len(words):
        word = words[position]
        number = known.get(word.text, 0) if word.known else 0
        yield (word.text if word.known else ""), words[min(position + number, len(words) - 1)]
        position += 1 + number


def _settled(parameters: Sequence[tuple[str, Word]]) -> dict[str, Word]:
    result: dict[str, Word] = {}
    for name, value in parameters:
        if name.startswith("no-"):
            result.pop(name[3:], None)
        elif name == "enabled":
            result.pop("disabled", None)
        elif name:
            result[name] = value
    return result


def members(found: Sequence[Server]) -> Count:
    """How many processes a backend's servers are."""
    if not found:
        return Count.unknown("no server line that is known")
    low = sum(s.low for s in found)
    high = None if any(s.high is None for s in found) else sum(s.high or 0 for s in found)
    backups = sum(s.flag("backup") for s in found)
    words = [f"{low} server{'' if low == 1 else 's'}"]
    if any(s.line.keyword == "server-template" for s in found):
        words = [f"server-template with {found[0].line.argument(1) or 'an unknown number of'} slots"]
    if any(s.line.repeated for s in found):
        return Count(max(1, low), None, "server lines in a template loop")
    if not all(s.line.sure for s in found):
        sure = sum(s.low for s in found if s.line.sure)
        return Count(max(1, sure), high, "server lines under a condition")
    if backups:
        words.append(f"{backups} of them backup")
    return Count(low, high, ", ".join(words))
