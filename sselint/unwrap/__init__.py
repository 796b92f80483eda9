"""Unwrap: templates masked, and configuration text lifted out of what it is wrapped in, with true lines and columns.

Nothing is rendered. A tag that prints becomes a word of the same length, marked as unknown; a tag that decides or
repeats becomes blanks, and the text it rules is marked as optional or repeated. nginx, HAProxy, Envoy or compose text
inside a block scalar (a ConfigMap, Helm values, Ansible variables, cloud-init) becomes a source of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from sselint.source import Source
from sselint.unwrap.masking import FILLER, Masked, Ranges, envsubst, filled, mask
from sselint.unwrap.yaml_shape import BlockScalar, block_scalars, shaped

_CONTENT = re.compile(r"^[ \t]*[^\s#].*$", re.MULTILINE)
"""A line with more than a comment."""
_BLANK_LINE = re.compile(r"[ \t]{3,}\r?(?:\n|\Z)")

KindOf = Callable[[str, str], "str | None"]

LIFTED = frozenset({"nginx", "haproxy", "envoy", "compose"})
"""Kinds that are looked for inside other texts."""

MAX_DEPTH = 3
"""Texts inside texts: an Envoy configuration in the values of a chart in a manifest."""

_YAML = frozenset({"kubernetes", "compose", "envoy"})
_DOCUMENT = re.compile(r"^(?:kind|apiVersion|services|static_resources)[ \t]*:", re.MULTILINE)
_TELLING = re.compile(
    r"\b(?:upstream|location|server|frontend|backend|listen|defaults|services:|[\w]*_pass|resources|filter_?[cC]hains"
    r"|filters|virtual_?[hH]osts|lb_?[pP]olicy|lb_?[eE]ndpoints|load_?\w*|eds_?\w*|session_?[sS]tate|proxy_set_header)\b"
    r"|envoy\.",
)
"""Words one of which every text of the lifted kinds has: a cheap look before the readers' own."""
_PROGRAMS = frozenset({"gunicorn"})
"""Kinds whose text is a program: braces in it are its own."""


def sources(path: str, text: str, unit: str, kind_of: KindOf) -> tuple[Source, ...]:
    """The sources in a file: the file itself if a reader recognises it, and what is wrapped in it.

    `kind_of` is asked with the path and the masked text, since a file is what it contains. Raises nothing.
    """
    return tuple(_sources(Source(path, text, "", unit), path, kind_of, MAX_DEPTH))


def _sources(raw: Source, name: str, kind_of: KindOf, depth: int) -> Iterator[Source]:
    masked = mask(raw.text)
    kind = kind_of(name, masked.text)
    if kind in _PROGRAMS and masked.tags:
        masked = Masked(raw.text)
    if kind is not None and (depth == MAX_DEPTH or kind in LIFTED):
        yield _masked_source(raw, kind, masked)
    if depth and (kind is None or kind in _YAML) and _may_hold_block_scalars(raw.text):
        for lifted, key in _lifted(raw, masked):
            yield from _sources(lifted, key, kind_of, depth - 1)


def _masked_source(raw: Source, kind: str, masked: Masked) -> Source:
    text, ranges = masked.text, masked.masked
    if kind in _YAML:
        text = _as_documents(text, masked) if masked.definitions else text
        text, written = shaped(text, masked.lone) if masked.lone else (text, ())
        # A mapping has a field once: what another branch says differently is not known, if it is not a whole document.
        unsure = ((a, b) for a, b in masked.alternatives if not _DOCUMENT.search(raw.text, a, b))
        ranges = (*ranges, *written, *unsure)
    elif masked.lone and kind == "nginx":
        text = _as_directives(text, masked)
    substituted = envsubst(text, kind)
    return replace(
        raw,
        kind=kind,
        text=filled(text, substituted) if substituted else text,
        masked=tuple(sorted({*ranges, *substituted})),
        loops=masked.loops,
        optional=masked.optional,
        original=raw.text if text != raw.text or substituted else "",
    )


def _as_documents(text: str, masked: Masked) -> str:
    """Definitions before the first line of YAML or behind the last one are documents of their own: the lines of their
    tags become the `---` between documents."""
    outside = list(_outside(masked.definitions, len(text)))
    written = [m.span() for m in _CONTENT.finditer("".join(text[a:b] for a, b in outside))]
    first, last = (written[0][0], written[-1][1]) if written else (len(text), 0)
    parts = list(text)
    before = 0
    for (a, b), definition in zip(outside, masked.definitions, strict=False):
        before += b - a
        if before <= first or before >= last:
            for position in (definition[0], definition[1] - 1):
                line = text.rfind("\n", 0, position) + 1
                if _BLANK_LINE.match(text, line):
                    parts[line : line + 3] = "---"
    return "".join(parts)


def _outside(ranges: Ranges, end: int) -> Iterator[tuple[int, int]]:
    """What lies before, between and behind ranges that are in order; nothing lies between nested ones."""
    position = 0
    for start, stop in ranges:
        yield position, max(position, start)
        position = max(position, stop)
    yield position, end


def _as_directives(text: str, masked: Masked) -> str:
    """Tags that print whole lines of nginx print whole directives."""
    parts = list(text)
    for tag in masked.lone:
        parts[tag.end - 1] = ";"
    return "".join(parts)


# -- texts inside texts ------------------------------------------------------------------------------------------------


def _may_hold_block_scalars(text: str) -> bool:
    return "|" in text and ":" in text and _TELLING.search(text) is not None


def _lifted(outer: Source, masked: Masked) -> Iterator[tuple[Source, str]]:
    """The literal block scalars of a text as sources without a kind, each with its key, which serves as a name."""
    lines = outer.text.split("\n")
    for scalar in block_scalars(masked.blank.split("\n")):
        inside = lines[scalar.first : scalar.last]
        if scalar.literal and len(inside) > 1 and any(map(_TELLING.search, inside)):
            yield _dedented(outer, lines, scalar), scalar.key


def _dedented(outer: Source, lines: list[str], scalar: BlockScalar) -> Source:
    place = partial(_place, outer)
    texts: list[str] = []
    origin: list[tuple[int, int]] = []
    for number in range(scalar.first, scalar.last):
        line = lines[number]
        shift = min(scalar.indent, len(line) - len(line.lstrip(" ")))
        texts.append(line[shift:])
        origin.append(place(number, shift))
    wrapped = f"key {scalar.key}" if scalar.key else "a list item"
    return replace(outer, text="\n".join(texts) + "\n", origin=tuple(origin), wrapped_in=wrapped)


def _place(outer: Source, line: int, column: int) -> tuple[int, int]:
    """A place in the outer text as one of the file, both from 0."""
    file_line, file_column = outer.at(line, column)
    return file_line - 1, file_column - 1


__all__ = ["FILLER", "LIFTED", "sources"]
