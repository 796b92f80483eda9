"""Which texts make up one nginx configuration: `include` resolved inside the audited tree only.

nginx resolves a relative include against the folder of the main file, wherever the include stands. In a repository the
main file's folder stands for /etc/nginx, so an absolute path is tried there with its leading folders taken away; a
fragment without a main file is tried against its own folder and those above. `nginx -T` dumps and the keys of one
ConfigMap carry their files with them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import translate

from sselint.facts import Span
from sselint.read.nginx.knowledge import knowledge
from sselint.read.nginx.parser import Directive, Parsed, Problem, parse
from sselint.source import Source, Tree

INCLUDE_DEPTH_BUDGET = 20
INCLUDE_COUNT_BUDGET = 2_000
BYTES_BUDGET = 16 * 1024 * 1024
EXPANDED_BUDGET = 400_000
"""Directives of one configuration after all includes."""

_TEMPLATE_ENDINGS = ("", ".template", ".tmpl", ".tpl", ".j2", ".jinja", ".jinja2", ".erb", ".in")
_DUMP_MARKER = re.compile(r"^# configuration file (?P<name>/\S*|[\"'].*):[ \t\r]*$", re.M)
_MESSAGE = re.compile(r"\s*$|.*?(?:nginx: |\[(?:warn|notice|info|emerg)\])")
_KEY = re.compile(r"key (?P<key>\S+?)[\"']?$")


@dataclass(frozen=True)
class Missing:
    """An include that names nothing in the tree. `certain` is False for a pattern, which may match nothing, and for one
    under a template's condition."""

    pattern: str
    span: Span
    certain: bool


@dataclass(frozen=True)
class File:
    """A text with the name it goes by: a path of the tree, a file of a dump, a key of a ConfigMap."""

    name: str
    source: Source
    parsed: Parsed
    dumped: bool = False

    @property
    def folder(self) -> str:
        """The folder of the name ("" is the root)."""
        return posixpath.dirname(self.name)

    @property
    def identity(self) -> tuple[str, str, int]:
        """What tells this text from all others."""
        return (self.source.path, self.name, self.parsed.directives[0].start if self.parsed.directives else 0)


@dataclass
class Configuration:
    """A root file with all its includes in place. `files` are the texts that took part, the root first."""

    root: File
    directives: tuple[Directive, ...] = ()
    files: list[File] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether nginx would read nothing else: a main file or a dump, all of whose includes are here."""
        return (self.root.dumped or _is_main(self.root)) and not self.missing


def is_dump(text: str) -> bool:
    """Whether a text is the output of `nginx -T`: nothing but nginx's own messages stands before its first file."""
    first = _DUMP_MARKER.search(text)
    return first is not None and all(map(_MESSAGE.match, text[: first.start()].splitlines()))


def files_of(source: Source) -> Iterator[File]:
    """The files in a source: one, or those of an `nginx -T` dump (line numbers stay those of the dump)."""
    markers = list(_DUMP_MARKER.finditer(source.text)) if is_dump(source.text) else []
    if not markers:
        key = _KEY.search(source.wrapped_in)
        name = posixpath.join(posixpath.dirname(source.path), key["key"]) if key else source.path
        yield File(name, source, parse(source))
        return
    ends = [m.start() for m in markers[1:]] + [len(source.text)]
    for marker, end in zip(markers, ends, strict=True):
        yield File(marker["name"].strip("\"' "), source, parse(source, marker.end(), end), dumped=True)


class Library:
    """All texts that includes can name: the sources of this run first, then the tree."""

    def __init__(self, sources: Sequence[Source], tree: Tree) -> None:
        self.tree = tree
        self.files = [file for source in sources for file in files_of(source)]
        self._loaded: dict[str, File | None] = {}
        self._bytes = 0
        self._by_name: dict[str, list[File]] = {}
        for file in self.files:
            self._by_name.setdefault(file.name, []).append(file)
        self._folders: dict[str, list[str]] = {}
        for path in sorted(set(tree.files) | {f.name for f in self.files if not f.dumped}):
            self._folders.setdefault(posixpath.dirname(path), []).append(path)

    def find(self, pattern: str, root: File, including: File) -> tuple[File, ...]:
        """The files that an include's pattern names, in nginx's order (by name). Empty: none in the tree."""
        if root.dumped:
            return self._in_dump(pattern, root)
        for base, relative in _candidates(pattern, root.folder, including.folder):
            if names := self._match(base, relative):
                return tuple(file for name in names if (file := self._file(name, root)) is not None)
        return ()

    def _in_dump(self, pattern: str, root: File) -> tuple[File, ...]:
        wanted = posixpath.normpath(posixpath.join(root.folder, pattern))
        matches = _glob(wanted)
        dump = [f for f in self.files if f.dumped and f.source is root.source and f is not root]
        return tuple(sorted((f for f in dump if matches(f.name)), key=lambda f: f.name))

    def _match(self, base: str, relative: str) -> list[str]:
        """The names in the tree that match, each file once although a template of it lies beside it."""
        wanted = posixpath.normpath(posixpath.join(base, relative))
        if wanted.startswith(("../", "/")) or wanted in ("..", "."):
            return []
        folder = posixpath.dirname(wanted)
        if not _is_pattern(folder):
            pool = self._folders.get(folder, [])
        else:
            matches_folder = _glob(folder)
            pool = [name for key, names in self._folders.items() if matches_folder(key) for name in names]
        for ending in _TEMPLATE_ENDINGS:
            matches = _glob(wanted + ending)
            if found := [name for name in pool if matches(name)]:
                return found
        return []

    def _file(self, name: str, root: File) -> File | None:
        known = self._by_name.get(name, [])
        for file in known:
            if file.source.path == root.source.path or not file.source.wrapped_in:
                return file
        return self._load(name) if name in self.tree.known else None

    def _load(self, name: str) -> File | None:
        if name not in self._loaded:
            self._loaded[name] = self._read(name)
        return self._loaded[name]

    def _read(self, name: str) -> File | None:
        try:
            text = self.tree.text(name)
        except OSError:
            return None
        self._bytes += len(text)
        if self._bytes > BYTES_BUDGET or "\0" in text[:4096]:
            return None
        source = Source(name, text, "nginx")
        return File(name, source, parse(source))


def _candidates(pattern: str, root_folder: str, own_folder: str) -> Iterator[tuple[str, str]]:
    """(folder, relative pattern) to try, the likeliest first; all inside the tree."""
    folders = [root_folder, own_folder]
    for start in (root_folder, own_folder):
        while start:
            start = posixpath.dirname(start)
            folders.append(start)
    folders = list(dict.fromkeys(folders))
    if not pattern.startswith("/"):
        yield from ((folder, pattern) for folder in folders)
        return
    parts = pattern.strip("/").split("/")
    for drop in range(len(parts)):
        relative = "/".join(parts[drop:])
        if _is_pattern(relative) and "/" not in relative and drop:
            return  # "*.conf" alone would take in whatever lies beside the main file
        yield from ((folder, relative) for folder in (folders if drop < len(parts) - 1 else folders[:2]))


def _is_pattern(path: str) -> bool:
    return any(char in path for char in "*?[")


def _glob(pattern: str) -> Callable[[str], bool]:
    """A test for paths: `*` and `?` do not cross a slash, as glob(3) has it."""
    if not _is_pattern(pattern):
        return lambda path: path == pattern
    segments = [re.compile(translate(part)) for part in pattern.split("/")]

    def matches(path: str) -> bool:
        parts = path.split("/")
        return len(parts) == len(segments) and all(s.match(p) for s, p in zip(segments, parts, strict=True))

    return matches


def configurations(library: Library) -> list[Configuration]:
    """The configurations under the root: every file that no other one includes is the root of one.

    Files of a dump are reached from its first file only.
    """
    made: list[Configuration] = []
    included: set[tuple[str, str, int]] = set()
    dumps: set[int] = set()
    for file in sorted(library.files, key=lambda f: not _is_main(f)):
        if file.identity in included or (file.dumped and id(file.source) in dumps):
            continue
        if file.dumped:
            dumps.add(id(file.source))
        configuration = expand(file, library)
        included.update(f.identity for f in configuration.files[1:])
        made.append(configuration)
    return [c for c in made if c.root.identity not in included]


def _is_main(file: File) -> bool:
    """Whether the file is one that nginx can be started with, not a fragment."""
    return any(d.block is not None and d.name in ("http", "stream", "events") for d in file.parsed.directives)


def expand(root: File, library: Library) -> Configuration:
    """`root` with its includes replaced by what they name. Cycles, depth and count are bounded and named."""
    return _Expansion(root, library).run()


class _Expansion:
    def __init__(self, root: File, library: Library) -> None:
        self.library = library
        self.made = Configuration(root)
        self.count = 0
        self.includes = 0

    def run(self) -> Configuration:
        root = self.made.root
        self._take(root)
        self.made.directives = self._block(root.parsed.directives, (root,), ())
        return self.made

    def _take(self, file: File) -> None:
        if all(f is not file for f in self.made.files):
            self.made.files.append(file)
            self.made.problems.extend(file.parsed.problems)

    def _block(
        self, block: tuple[Directive, ...], chain: tuple[File, ...], via: tuple[Directive, ...]
    ) -> tuple[Directive, ...]:
        out: list[Directive] = []
        for directive in block:
            self.count += 1
            if self.count > EXPANDED_BUDGET:
                if self.count == EXPANDED_BUDGET + 1:
                    self._problem(f"more than {EXPANDED_BUDGET} directives with all includes", directive)
                break
            if directive.name == "include" and directive.block is None and directive.args:
                out.extend(self._include(directive, chain, via))
            elif directive.block is not None:
                out.append(replace(directive, block=self._block(directive.block, chain, via), via=via))
            else:
                out.append(replace(directive, via=via) if via else directive)
        return tuple(out)

    def _include(
        self, directive: Directive, chain: tuple[File, ...], via: tuple[Directive, ...]
    ) -> Iterator[Directive]:
        pattern = directive.args[0]
        if directive.is_masked or "$" in pattern:
            self._missing(directive, certain=False)
            yield directive
            return
        found = self.library.find(pattern, chain[0], chain[-1])
        if not found and not knowledge().shipped.match(pattern) and not self._is_empty_folder(pattern):
            optional = directive.source.is_optional(directive.start)
            self._missing(directive, certain=not (_is_pattern(pattern) or optional))
            yield directive
        for file in found:
            if self._allowed(file, directive, chain):
                self._take(file)
                yield from self._block(file.parsed.directives, (*chain, file), (*via, directive))

    def _allowed(self, file: File, directive: Directive, chain: tuple[File, ...]) -> bool:
        self.includes += 1
        if any(f is file for f in chain):
            self._problem(f"{file.name} includes itself", directive)
        elif len(chain) > INCLUDE_DEPTH_BUDGET:
            self._problem(f"includes are nested deeper than {INCLUDE_DEPTH_BUDGET}", directive)
        elif self.includes > INCLUDE_COUNT_BUDGET:
            if self.includes == INCLUDE_COUNT_BUDGET + 1:
                self._problem(f"more than {INCLUDE_COUNT_BUDGET} includes", directive)
        else:
            return True
        return False

    def _is_empty_folder(self, pattern: str) -> bool:
        """A relative pattern that matches nothing is fine with nginx, and the whole tree is in view."""
        return _is_pattern(pattern) and not pattern.startswith("/") and _is_main(self.made.root)

    def _missing(self, directive: Directive, *, certain: bool) -> None:
        written = directive.written(directive.words[1])
        self.made.missing.append(Missing(written, directive.span(f'include "{written}"'), certain))

    def _problem(self, why: str, directive: Directive) -> None:
        self.made.problems.append(Problem(why, directive.span(why)))
