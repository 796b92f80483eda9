"""Dockerfile: the command, environment and working directory of the last stage. One container, as written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from sselint.facts import Count, FileOutcome, FileReport, Pool, Reading, Rolling, Setting, Span
from sselint.read import masked, shell
from sselint.read.images import base_command, started
from sselint.source import Source, Tree

_FROM = re.compile(r"^[ \t]*FROM[ \t]+(--\S+[ \t]+)*\S+([ \t]+AS[ \t]+\S+)?[ \t]*\r?$", re.MULTILINE | re.IGNORECASE)
_FIRST = re.compile(r"^[ \t]*(?![ \t#\r\n]|_+[ \t\r]*$)(\S+)", re.MULTILINE)
_OTHER = re.compile(r"^[ \t]*(RUN|COPY|CMD|ENTRYPOINT|WORKDIR|ADD|EXPOSE|ENV)[ \t]+\S", re.MULTILINE)
_NAME = re.compile(r"(.*[.-])?(docker|container)file([.-].*)?", re.IGNORECASE)
_HEREDOC = re.compile(r"<<-?[\"']?([A-Za-z_]\w*)[\"']?")


def looks_like(path: str, text: str) -> bool:
    """Whether this is a Dockerfile: FROM or ARG first, a FROM line, and the name or another instruction."""
    first = _FIRST.search(text)
    if first is None or first[1].upper() not in ("FROM", "ARG") or not _FROM.search(text):
        return False
    return _NAME.fullmatch(path.rsplit("/", 1)[-1]) is not None or _OTHER.search(text) is not None


def read(sources: Sequence[Source], tree: Tree) -> Reading:
    """One pool for each Dockerfile: format "dockerfile", to be merged into the pool of what builds or runs it."""
    pools = tuple(_pool(source, stage, tree) for source in sources if (stage := last_stage(source)) is not None)
    return Reading(pools=pools, files=tuple(FileReport(s.path, FileOutcome.ANALYSED) for s in sources))


@dataclass(frozen=True)
class Instruction:
    """One instruction: its name in upper case, its text with continuations joined, and its place."""

    name: str
    text: str
    span: Span


@dataclass(frozen=True)
class Stage:
    """What one build stage leaves behind for the container."""

    span: Span
    base: str
    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    command_span: Span | None = None
    folder: str = "/"
    environment: dict[str, Setting] = field(default_factory=dict)


def last_stage(source: Source) -> Stage | None:
    """The stage that becomes the image, with what it inherits from earlier stages; None without a FROM."""
    stages: dict[str, Stage] = {}
    arguments: dict[str, str | None] = {}
    stage: Stage | None = None
    name = ""
    for instruction in instructions(source):
        if instruction.name == "FROM":
            if stage is not None:
                stages[name.lower()] = stage
            words = [w for w in instruction.text.split() if not w.startswith("--")]
            base = words[0] if words else ""
            name = words[2] if len(words) > 2 and words[1].lower() == "as" else str(len(stages))
            earlier = stages.get(base.lower())
            first = Stage(instruction.span, base, command=base_command(base))
            stage = replace(earlier, span=instruction.span) if earlier else first
        elif instruction.name == "ARG":
            arguments.update((k, v) for k, v in _settings(instruction.text, arguments) if k not in arguments)
        elif stage is not None:
            stage = _applied(stage, instruction, arguments)
    return stage


def _applied(stage: Stage, instruction: Instruction, arguments: dict[str, str | None]) -> Stage:
    known = {**arguments, **{k: s.value for k, s in stage.environment.items()}}
    if instruction.name == "ENV":
        settings = {k: Setting(k, v, (instruction.span,)) for k, v in _settings(instruction.text, known)}
        return replace(stage, environment={**stage.environment, **settings})
    if instruction.name == "WORKDIR":
        folder = shell.expand(instruction.text.strip("\"'"), known)[0] or instruction.text
        return replace(stage, folder=str(PurePosixPath(stage.folder, folder)))
    if instruction.name == "ENTRYPOINT":
        return replace(stage, entrypoint=_words(instruction.text), command=(), command_span=instruction.span)
    if instruction.name == "CMD":
        return replace(stage, command=_words(instruction.text), command_span=instruction.span)
    return stage


def _words(text: str) -> tuple[str, ...]:
    """The exec form as it is; the shell form as the shell that runs it."""
    if text.startswith("["):
        try:
            words = json.loads(text)
        except ValueError:
            words = None
        if isinstance(words, list) and all(isinstance(w, str) for w in words):
            return tuple(words)
    return ("/bin/sh", "-c", text)


def _settings(text: str, known: dict[str, str | None]) -> list[tuple[str, str | None]]:
    """`NAME=value NAME2="two words"`, or the old `NAME the rest`."""
    words = shell.split(text)
    if words and "=" not in words[0]:
        name, _, rest = text.partition(" ")
        return [(name, shell.expand(rest.strip(), known)[0] if rest.strip() else None)]
    pairs = (w.partition("=") for w in words if "=" in w)
    return [(name, shell.expand(value, known)[0]) for name, _, value in pairs]


def instructions(source: Source) -> Iterator[Instruction]:
    """The instructions of a Dockerfile; comments, and the bodies of here-documents, are not part of their text."""
    lines, shown = source.text.split("\n"), masked.lines(source)
    position = 0
    while position < len(lines):
        first = position
        parts, position = _joined_lines(shown, position)
        text = " ".join(parts).strip()
        for heredoc in _HEREDOC.findall(text):
            while position < len(lines) and lines[position].strip() != heredoc:
                position += 1
            position += 1
        name, _, rest = text.partition(" ")
        if name.isalpha():
            start = source.line_starts[first] + len(lines[first]) - len(lines[first].lstrip())
            span = source.span(start, source.line_starts[first] + len(lines[first].rstrip()))
            yield Instruction(name.upper(), rest.strip(), span)


def _joined_lines(lines: Sequence[str], position: int) -> tuple[list[str], int]:
    """The lines of one instruction without their continuation marks, and where the next begins."""
    parts: list[str] = []
    while position < len(lines):
        line = lines[position].strip()
        position += 1
        if line.startswith("#") or (parts and not line):
            continue
        continued = line.endswith("\\")
        parts.append(line.rstrip("\\").replace("\t", " "))
        if not continued:
            break
    return parts, position


def _pool(source: Source, stage: Stage, tree: Tree) -> Pool:
    span = stage.command_span or stage.span
    folder = str(PurePosixPath(source.path).parent)
    pool = Pool(
        path=source.path,
        line=span.line,
        format="dockerfile",
        kind="replicas",
        name=f"container of {source.path}",
        processes=Count.exactly(1, "one container as written; nothing beside the Dockerfile says how many run"),
        # A container that is started by hand is gone before the next one takes its name and port.
        rolling=Rolling.REPLACED,
        command=(*stage.entrypoint, *stage.command),
        entrypoint=stage.entrypoint,
        build_context=folder,
        dockerfile=source.path,
        environment=tuple(stage.environment.values()),
        evidence=(span,),
    )
    pool = started(pool, tree, stage.folder)
    return replace(pool, app_directory=_relative_to(pool.app_directory, stage.folder))


def _relative_to(folder: str | None, working_directory: str) -> str | None:
    """A folder of the image as one of the build context, which is copied to the working directory."""
    if folder and folder.startswith("/"):
        return folder[len(working_directory) :].strip("/") or None if folder.startswith(working_directory) else folder
    return folder
