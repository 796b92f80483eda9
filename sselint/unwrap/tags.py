"""Template tags in a text: Jinja2 (and Ansible), Go templates (Helm, consul-template, confd), ERB.

Tags are found and sorted by what they do to the text around them. Nothing is rendered here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

MAX_TAG = 20_000
"""Characters of one tag: an opening that nothing closes within them is no tag."""

MAX_UNCLOSED = 20
"""Openings that are read on without finding their end: a text with more is no template, and not read to its end again
and again."""

_OPENING = re.compile(r"\{\{|\{%|\{#|<%")
_CLOSING = {"{{": "}}", "{%": "%}", "{#": "#}", "<%": "%>"}
_STRING = re.compile(r"""`[^`]*`|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""")
_RAW_END = re.compile(r"\{%[-+]?\s*end(?:raw|verbatim)\s*[-+]?%\}")
_WORD = re.compile(r"\w+")
_ASSIGNMENT = re.compile(r"\$\w*(?:\s*,\s*\$\w+)?\s*:?=")
_ERB_LOOP = re.compile(r"\bdo\b(?:\s*\|[^|]*\|)?\s*$|^(?:for|while|until)\b")


class Role(Enum):
    """What a tag does to the text around it."""

    OUTPUT = "output"
    """Text of unknown content stands in its place."""
    NOTHING = "nothing"
    """A comment, an assignment: no text."""
    LOOP = "loop"
    """Opens text that is repeated."""
    CONDITION = "condition"
    """Opens text that may not stand."""
    DEFINITION = "definition"
    """Opens text that stands where it is called, if anywhere."""
    OTHER_BRANCH = "other_branch"
    """Closes one branch of a condition and opens the next."""
    CLOSE = "close"
    """Closes what was opened last."""


_OPENERS = {
    "if": Role.CONDITION,
    "unless": Role.CONDITION,
    "with": Role.CONDITION,
    "case": Role.CONDITION,
    "for": Role.LOOP,
    "range": Role.LOOP,
    "define": Role.DEFINITION,
    "macro": Role.DEFINITION,
}
_BLOCKS = frozenset({"block", "call", "filter", "autoescape", "trans"})
"""Openers whose text stands as it is, or nearly so."""
_BRANCHES = frozenset({"else", "elif", "elsif", "elseif", "when"})
_STATEMENTS_THAT_PRINT = frozenset({"include", "template", "print"})


@dataclass(frozen=True)
class Tag:
    """A tag: its offsets in the text, what it does, and its content without delimiters and whitespace control."""

    start: int
    end: int
    role: Role
    content: str


@dataclass(frozen=True)
class Block:
    """The text from the end of one tag to the start of the next one of the same construct. `construct` are the offsets
    of all of it, from the opening tag to the end of the closing one, `branches` how many blocks it has."""

    role: Role
    start: int
    end: int
    construct: tuple[int, int]
    branches: int = 1


def has_tags(text: str) -> bool:
    """Whether there may be tags at all: one search for each kind of opening."""
    return "{{" in text or "{%" in text or "<%" in text


def tags(text: str) -> tuple[Tag, ...]:
    """The tags of a text, in order. A `{{` that nothing closes, or a brace inside it, is no tag (Lua tables)."""
    jinja = "{%" in text
    comments = jinja or "{{" in text
    found: list[Tag] = []
    closings = dict.fromkeys(_CLOSING.values(), 0)
    position = unclosed = 0
    while unclosed < MAX_UNCLOSED and (match := _OPENING.search(text, position)):
        position = match.end()
        if match[0] == "{#" and not comments:
            continue
        closing = _CLOSING[match[0]]
        if 0 <= closings[closing] < position:
            closings[closing] = text.find(closing, position)
        if closings[closing] < 0 or closings[closing] > position + MAX_TAG:
            continue
        end = _end_of(text, match.end(), match[0], braces=jinja)
        if end is None:
            unclosed += jinja or match[0] != "{{"
            continue
        tag = _tag(text, match.start(), end, match[0])
        found.append(tag)
        position = end
        if match[0] == "{%" and tag.content.split()[:1] in (["raw"], ["verbatim"]):
            raw_end = _RAW_END.search(text, end)
            position = raw_end.start() if raw_end else len(text)
    return tuple(found)


def _end_of(text: str, start: int, opening: str, *, braces: bool) -> int | None:
    """The offset behind the closing delimiter; quotes hide it in expressions, not in comments, and so do the `braces`
    of a dictionary, which only Jinja2 writes there."""
    closing = _CLOSING[opening]
    limit = min(len(text), start + MAX_TAG)
    body = text[start : start + 5].lstrip("-+= ")
    if opening == "{#" or body.startswith(("/*", "#", "!")):
        end = text.find(closing, start, limit)
        return end + len(closing) if end >= 0 else None
    position, depth = start, 0
    while position < limit:
        character = text[position]
        if not depth and text.startswith(closing, position):
            return position + len(closing)
        if opening == "{{" and character in "{}" and not braces:
            return None
        depth += (character == "{") - (character == "}") if braces else 0
        string = _STRING.match(text, position, limit) if character in "`\"'" else None
        position = string.end() if string else position + 1
    return None


def _tag(text: str, start: int, end: int, opening: str) -> Tag:
    content = text[start + 2 : end - 2]
    if opening == "{#":
        return Tag(start, end, Role.NOTHING, "")
    if opening == "<%":
        return Tag(start, end, _erb_role(content), content.strip("-= \t\n"))
    content = content.strip("-+~ \t\r\n")
    role = _statement_role(content) if opening == "{%" else _go_role(content)
    return Tag(start, end, role, content)


def _go_role(content: str) -> Role:
    """What `{{ ... }}` does: only Go has statements in it, and none of its words is an expression by itself."""
    word = _WORD.match(content)
    name = word[0] if word else ""
    if content.startswith(("/*", "!")) or _ASSIGNMENT.match(content) or not content:
        return Role.NOTHING
    if name in ("if", "range", "with", "define", "block") and len(content) > len(name):
        return _OPENERS.get(name, Role.CONDITION)
    if name == "else":
        return Role.OTHER_BRANCH
    return Role.CLOSE if content == "end" else Role.OUTPUT


def _statement_role(content: str) -> Role:
    """What `{% ... %}` does."""
    word = _WORD.match(content)
    name = word[0] if word else ""
    if name in _OPENERS:
        return _OPENERS[name]
    if name in _BRANCHES:
        return Role.OTHER_BRANCH
    if name == "set":
        return Role.NOTHING if "=" in content else Role.DEFINITION
    if name in _BLOCKS:
        return Role.CONDITION
    if name in ("endraw", "endverbatim"):
        return Role.NOTHING
    if name.startswith("end"):
        return Role.CLOSE
    return Role.OUTPUT if name in _STATEMENTS_THAT_PRINT else Role.NOTHING


def _erb_role(content: str) -> Role:
    if content.startswith("="):
        return Role.OUTPUT
    code = content.strip("- \t\n")
    word = _WORD.match(code)
    name = word[0] if word else ""
    if name == "end" or code == "}":
        return Role.CLOSE
    if name in _BRANCHES:
        return Role.OTHER_BRANCH
    if _ERB_LOOP.search(code):
        return Role.LOOP
    return _OPENERS.get(name, Role.NOTHING) if not code.startswith("#") else Role.NOTHING


def blocks(found: Sequence[Tag], length: int) -> Iterator[Block]:
    """The blocks that tags open, inner ones before outer ones. One that nothing closes goes to the end of the text."""
    open_tags: list[list[Tag]] = []
    for tag in found:
        if tag.role in (Role.LOOP, Role.CONDITION, Role.DEFINITION):
            open_tags.append([tag])
        elif tag.role is Role.OTHER_BRANCH and open_tags:
            open_tags[-1].append(tag)
        elif tag.role is Role.CLOSE and open_tags:
            yield from _branches(open_tags.pop(), tag.start, tag.end)
    while open_tags:
        yield from _branches(open_tags.pop(), length, length)


def _branches(chain: Sequence[Tag], body_end: int, end: int) -> Iterator[Block]:
    construct = (chain[0].start, end)
    stops = [tag.start for tag in chain[1:]] + [body_end]
    for tag, stop in zip(chain, stops, strict=True):
        role = chain[0].role if tag is chain[0] else Role.CONDITION
        yield Block(role, tag.end, stop, construct, len(chain))
