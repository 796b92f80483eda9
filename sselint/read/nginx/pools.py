"""What a `*_pass` forwards to: upstream blocks, hosts written in place, and what variables can make of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sselint.facts import Count, Target
from sselint.read.nginx.parser import Directive, Word
from sselint.read.nginx.scopes import Scope
from sselint.read.nginx.upstreams import Upstream, count_members, split_address
from sselint.read.nginx.variables import ANY, Choice, Value, Variables, fits

FITS_BUDGET = 200
"""Upstreams that a name with a part from the request may stand for."""

_PATH = re.compile(r"\$\{?(?:request_uri|document_uri|uri|is_args)\b")
_NAME = re.compile(r"(?!localhost\Z)[\w-]+", re.ASCII)
_SCHEME = re.compile(r"(?P<scheme>[a-z]+)://", re.I)
_DEFAULT_PORTS = {"http": 80, "https": 443, "grpc": 80, "grpcs": 443}


@dataclass(frozen=True)
class Destination:
    """One place that a request can be handed to: an upstream block, or a host written in the directive.

    `choice` is how it is chosen. `unknown` is why it cannot be known, "" if it can. `by_name` is True where a part of
    the request makes up the upstream's name.
    """

    choice: Choice
    upstream: Upstream | None = None
    target: Target | None = None
    unknown: str = ""
    refused: bool = False
    """An empty name: nginx answers 500 and forwards nothing."""
    by_name: bool = False
    port_written: bool = False

    @property
    def members(self) -> Count:
        """How many addresses are written here."""
        if self.upstream is not None:
            if self.upstream.opaque and "include" in self.upstream.opaque:
                return Count.unknown(self.upstream.opaque)
            return count_members(self.upstream.serving)
        if self.target is not None and self.target.host:
            return Count.exactly(1, "one host in the directive")
        return Count.unknown(self.unknown or "the host comes from the request")


@dataclass(frozen=True)
class Pass:
    """All that a `*_pass` can forward to. `runtime` is True where nginx looks the name up for each request."""

    directive: Directive
    value: Value
    destinations: tuple[Destination, ...]
    runtime: bool
    shadowed: tuple[Upstream, ...] = ()
    """Upstream blocks of the host's name that do not apply, because a port is written behind a variable name."""

    @property
    def authority(self) -> str:
        """Host and port as written, variables and all, without what can only be a path."""
        return _PATH.split(_authority(self.directive.args[0])[1])[0]

    @property
    def upstreams(self) -> tuple[Upstream, ...]:
        """The upstream blocks it can reach, each once."""
        return tuple(dict.fromkeys(d.upstream for d in self.destinations if d.upstream is not None))

    @property
    def members(self) -> Count:
        """How many addresses all of it names, each counted once."""
        unknown = next((d for d in self.forwarding if d.upstream is None and not (d.target and d.target.host)), None)
        if unknown is not None or not self.forwarding:
            return Count.unknown(unknown.unknown if unknown else "nothing says where requests go")
        for upstream in self.upstreams:
            if "include" in upstream.opaque:
                return Count.unknown(upstream.opaque)
        lines = tuple(m for u in self.upstreams for m in u.serving)
        named = count_members(lines) if self.upstreams else Count.exactly(0, "")
        in_place = {(d.target.host, d.target.port) for d in self.forwarding if d.target}
        if not in_place:
            return named
        low = named.low + len(in_place)
        why = f"{low} host{'s' * (low != 1)} in the directive" if not self.upstreams else f"{named.why} and others"
        return Count(low, None if named.high is None else named.high + len(in_place), why)

    @property
    def forwarding(self) -> tuple[Destination, ...]:
        """The destinations that forward anything."""
        return tuple(d for d in self.destinations if not d.refused)


def resolve(
    directive: Directive, scope: Scope, variables: Variables, upstreams: Mapping[str, Upstream], hidden: str = ""
) -> Pass:
    """What a `*_pass` directive forwards to in a scope. `hidden` is why there may be more upstreams than these."""
    word = directive.words[1]
    value = variables.value(word.text, scope)
    runtime = "$" in word.text
    destinations: list[Destination] = []
    shadowed: list[Upstream] = []
    if (alike := _of_the_same_template(directive, word, upstreams)) is not None:
        destinations = [Destination(choice, upstream=alike) for choice in value.choices]
        return Pass(directive, value, tuple(destinations), runtime)
    for choice in value.choices:
        masked = choice.masked or directive.word_masked(word)
        destinations += _destinations(choice, masked, directive, runtime, upstreams, shadowed)
    if hidden:
        destinations = [_perhaps_hidden(d, hidden) for d in destinations]
    return Pass(directive, value, tuple(destinations), runtime, tuple(dict.fromkeys(shadowed)))


def hidden_upstreams(http: Scope) -> str:
    """Why an http or stream context may have upstreams that are not seen here, or ""."""
    for directive in http.children:
        if directive.name == "include" and directive.args and not set(directive.args[0]) & set("*?["):
            return f"{directive.written(directive.words[1])} is not in the tree"
        if len(directive.words) == 1 and directive.block is None and directive.word_masked(directive.words[0]):
            return "a template writes directives of which nothing is known"
    return ""


def _perhaps_hidden(destination: Destination, hidden: str) -> Destination:
    """A plain name without a port is an upstream if there is one of that name, and a host if there is none."""
    target = destination.target
    if target is None or not _NAME.fullmatch(target.host) or destination.port_written:
        return destination
    return Destination(destination.choice, unknown=f"{target.host} may be an upstream: {hidden}")


def _of_the_same_template(directive: Directive, word: Word, upstreams: Mapping[str, Upstream]) -> Upstream | None:
    """The one upstream whose name a template writes like the pass's: `{{ site }}-feed` is `{{site}}-feed`."""
    if not directive.word_masked(word) or "$" in word.text:
        return None
    _, authority = _authority("".join(directive.written(word).split()))
    same = [u for u in upstreams.values() if "".join(u.directive.written(u.directive.words[1]).split()) == authority]
    return same[0] if len(same) == 1 else None


def _destinations(
    choice: Choice,
    masked: bool,
    directive: Directive,
    runtime: bool,
    upstreams: Mapping[str, Upstream],
    shadowed: list[Upstream],
) -> list[Destination]:
    scheme, authority = _authority(choice.text)
    if authority == "" and not masked:
        return [Destination(choice, refused=True)]
    if masked:
        return [Destination(choice, unknown="a template writes where to forward", target=None)]
    name = authority.lower()
    if named := upstreams.get(name):
        return [Destination(choice, upstream=named)]
    host, port = split_address(authority)
    if ANY in authority:
        return _by_pattern(choice, name, upstreams)
    if runtime and (behind := upstreams.get(host.lower())) is not None:
        shadowed.append(behind)  # without a variable nginx refuses a port behind an upstream's name
    written = ":" in authority
    port = port if port is not None or host.startswith("unix:") else _DEFAULT_PORTS.get(scheme)
    place = choice.via or directive
    return [Destination(choice, target=Target(host, port, place.span()), port_written=written)]


def _by_pattern(choice: Choice, name: str, upstreams: Mapping[str, Upstream]) -> list[Destination]:
    """Upstreams whose names fit a name that is partly unknown."""
    if name.replace(ANY, "").strip(".:-_"):
        found = [u for key, u in upstreams.items() if fits(key, name)]
        if len(found) > FITS_BUDGET:
            return [
                Destination(choice, unknown=f"a name that the request makes up fits more than {FITS_BUDGET} upstreams")
            ]
        if found:
            return [Destination(choice, upstream=u, by_name=True) for u in found]
    host, _ = split_address(name)
    if ANY not in host:
        return [Destination(choice, target=Target(host, None), by_name=True)]
    return [Destination(choice, unknown="what the request brings decides where it goes")]


def _authority(text: str) -> tuple[str, str]:
    """Scheme and authority of a pass's value."""
    match = _SCHEME.match(text)
    scheme = match["scheme"].lower() if match else ""
    rest = text[match.end() :] if match else text
    if rest.startswith(f"{ANY}://"):
        rest = rest[len(ANY) + 3 :]
    if rest.startswith("unix:"):
        return scheme, rest if not match else "unix:" + rest[5:].split(":", 1)[0]
    return scheme, rest.split("/", 1)[0].split("?", 1)[0]
