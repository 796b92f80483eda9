"""HAProxy lines to sections: `.if` blocks, `defaults` and who inherits from which, files that one process is given.

Configuration manual, sections 2.4 (conditional blocks) and 4 (proxies: which `defaults` section applies).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePosixPath

from sselint.read.haproxy.lexer import Choice, Line, lines
from sselint.source import Source

SECTIONS = frozenset(
    {
        "global", "defaults", "frontend", "backend", "listen", "peers", "resolvers", "mailers", "userlist", "program",
        "ring", "cache", "http-errors", "fcgi-app", "log-forward", "log-profile", "crt-store", "traces", "acme",
    }
)
"""The words that begin a section wherever they begin a line (manual, sections 3, 4 and 12)."""

PROXIES = frozenset({"frontend", "backend", "listen"})

TEST_CASE_WORDS = ("vtest", "varnishtest", "feature")
"""The words that a VTest case, or a file that one includes, begins with."""

_TEST_CASE = re.compile(rf"^\s*(?:{'|'.join(TEST_CASE_WORDS)})\s", re.MULTILINE)
TEST_CONFIGURATION = re.compile(r"^[ \t]*haproxy\s(?:[^\n{]|\\\n)*-conf(?:\+\w+)?\s*\{", re.MULTILINE)
"""Where a configuration begins in a VTest case, the format of HAProxy's own regression tests."""


@dataclass(frozen=True, eq=False)
class Section:
    """A section: its header line, the lines in it, and the `defaults` section that it inherits from. `variables` maps
    what `http-request set-var` sets in this configuration to the expression that it is set from."""

    header: Line
    lines: tuple[Line, ...]
    parent: Section | None = None
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def kind(self) -> str:
        """The section's keyword."""
        return self.header.keyword

    @property
    def name(self) -> str:
        """The section's name, as written; empty for an anonymous one."""
        words = self.header.arguments
        return words[0].text if words and words[0].text != "from" else ""

    @property
    def lineage(self) -> Iterator[Section]:
        """The section, and those that it inherits from, nearest first."""
        section: Section | None = self
        while section:
            yield section
            section = section.parent

    @cached_property
    def _by_keyword(self) -> dict[str, tuple[Line, ...]]:
        found: dict[str, list[Line]] = {}
        for line in self.lines:
            found.setdefault(line.keyword, []).append(line)
        return {keyword: tuple(lines) for keyword, lines in found.items()}

    @cached_property
    def _options(self) -> dict[str, Line]:
        """The last line of the section itself that sets an option or takes it away."""
        found = {}
        for line in self.lines:
            offset = 1 if line.keyword in ("no", "default") else 0
            if line.argument(offset - 1) == "option" or (not offset and line.keyword == "option"):
                found[line.argument(offset)] = line
        return found

    @cached_property
    def _acls(self) -> dict[str, tuple[Line, ...]]:
        found: dict[str, list[Line]] = {}
        for line in self.own("acl"):
            found.setdefault(line.argument(0), []).append(line)
        return {name: tuple(lines) for name, lines in found.items()}

    def own(self, *start: str) -> tuple[Line, ...]:
        """The section's own lines that begin with these words."""
        found = self._by_keyword.get(start[0], ())
        return found if len(start) == 1 else tuple(line for line in found if line.starts(*start))

    def all(self, *start: str) -> tuple[Line, ...]:
        """The lines that begin with these words, inherited ones first."""
        return tuple(line for section in reversed(tuple(self.lineage)) for line in section.own(*start))

    def last(self, *start: str) -> Line | None:
        """The line that decides where the last one wins: the section's own before an inherited one."""
        return next((own[-1] for section in self.lineage if (own := section.own(*start))), None)

    def option(self, name: str) -> Line | None:
        """The line that sets `option NAME`, None where nothing does or a later `no option NAME` takes it away."""
        line = self.about_option(name)
        return line if line and line.keyword == "option" else None

    def about_option(self, name: str) -> Line | None:
        """The line that decides about `option NAME`, be it that it takes it away."""
        return next((s._options[name] for s in self.lineage if name in s._options), None)

    def acl(self, name: str) -> tuple[Line, ...]:
        """The definitions of an ACL, its own and inherited ones."""
        return tuple(line for section in self.lineage for line in section._acls.get(name, ()))

    def under(self, chosen: Mapping[Choice, int]) -> Section:
        """The section with those lines alone that stand if these branches hold (-1: none of the choice's)."""
        parent: Section | None = None
        for section in reversed(tuple(self.lineage)):
            lines = tuple(line for line in section.lines if all(chosen.get(c, i) == i for c, i in line.when))
            parent = replace(section, lines=lines, parent=parent)
        assert parent is not None
        return parent

    @property
    def doubtful(self) -> tuple[Line, ...]:
        """The lines, inherited ones included, of which nobody knows whether they stand."""
        return tuple(line for section in self.lineage for line in section.lines if not line.sure)


@dataclass(frozen=True, eq=False)
class Configuration:
    """What one process is given: the sections of its files in order."""

    sections: tuple[Section, ...]
    sources: tuple[Source, ...]

    def of(self, *kinds: str) -> tuple[Section, ...]:
        """The sections of these kinds, in order."""
        found = [self._by_kind.get(kind, ()) for kind in kinds]
        if sum(map(bool, found)) == 1:
            return next(filter(None, found))
        return tuple(s for s in self.sections if s.kind in kinds) if any(found) else ()

    @cached_property
    def _by_kind(self) -> dict[str, tuple[Section, ...]]:
        found: dict[str, list[Section]] = {}
        for section in self.sections:
            found.setdefault(section.kind, []).append(section)
        return {kind: tuple(sections) for kind, sections in found.items()}

    @cached_property
    def named(self) -> dict[str, tuple[Section, ...]]:
        """All sections by name."""
        found: dict[str, list[Section]] = {}
        for section in self.sections:
            found.setdefault(section.name, []).append(section)
        return {name: tuple(sections) for name, sections in found.items()}

    def backends(self, name: str) -> tuple[Section, ...]:
        """The backends (or listens) of that name."""
        return tuple(s for s in self.named.get(name, ()) if s.kind in ("backend", "listen"))

    @cached_property
    def proxies(self) -> frozenset[tuple[str, str]]:
        """Kind and name of its proxies."""
        return frozenset((s.kind, s.name) for s in self.of(*PROXIES))

    @cached_property
    def owned(self) -> frozenset[str]:
        """The names that a frontend can choose."""
        return frozenset(name for kind, name in self.proxies if kind != "frontend")

    @cached_property
    def used(self) -> frozenset[str]:
        """The names that its frontends choose."""
        rules = (line for s in self.of(*PROXIES) for key in ("use_backend", "default_backend") for line in s.own(key))
        return frozenset(line.argument(0) for line in rules) - {""}

    @property
    def complete(self) -> bool:
        """Whether it says its defaults itself, and is not a piece that is given to a process together with others."""
        return bool(self.of("global", "defaults"))


def configurations(sources: Sequence[Source]) -> tuple[Configuration, ...]:
    """The processes' configurations in these sources.

    Files of one folder (and of a folder below it, `conf.d`) are taken for those of one process where one of them names
    a backend, or lacks the defaults, that another one has, and no name stands twice. The one with `global` is read
    first, as a process is given it first, so that its defaults hold for the others.
    """
    single: list[Configuration] = []
    for source in sources:
        single.extend(Configuration(_sections(part), (source,)) for part in _parts(source))
    groups: list[_Group] = []
    inside: dict[PurePosixPath, list[_Group]] = {}
    below: dict[PurePosixPath, list[_Group]] = {}
    for one in sorted(single, key=_main_first):
        folder = PurePosixPath(one.sources[0].path).parent
        near = (*inside.get(folder, ()), *inside.get(folder.parent, ()), *below.get(folder, ()))
        group = next((g for g in near if g.takes(one)), None) if not one.of("global") else None
        if group is None:
            group = _Group()
            groups.append(group)
        group.add(one)
        for index, place in ((inside, folder), (below, folder.parent)):
            if group not in index.setdefault(place, []):
                index[place].append(group)
    return tuple(_joined(group.members) for group in groups)


def _main_first(configuration: Configuration) -> tuple[bool, bool]:
    return not configuration.of("global"), not configuration.of("defaults")


def _parts(source: Source) -> Iterator[tuple[Line, ...]]:
    """The lines of each configuration in a source: one, or those embedded in a VTest case."""
    if not _TEST_CASE.search(source.text[:4096]):
        yield tuple(_decided(lines(source)))
        return
    found = TEST_CONFIGURATION.search(source.text)
    while found:
        end = _closing_brace(source.text, found.end())
        yield tuple(_decided(lines(source, found.end(), end)))
        found = TEST_CONFIGURATION.search(source.text, end)


def _closing_brace(text: str, start: int) -> int:
    depth = 1
    for found in re.compile(r"[{}]").finditer(text, start):
        depth += 1 if found.group() == "{" else -1
        if depth == 0:
            return found.start()
    return len(text)


def _decided(all_lines: Iterable[Line]) -> Iterator[Line]:
    """The lines without those that a `.if` excludes; those under one that cannot be decided say so."""
    open_ifs: list[_If] = []
    for line in all_lines:
        word = line.keyword
        if word == ".if":
            open_ifs.append(_If(_truth(line)))
        elif word in (".elif", ".else") and open_ifs:
            open_ifs[-1].branch(_truth(line) if word == ".elif" else True)
        elif word == ".endif" and open_ifs:
            open_ifs.pop()
        elif not word.startswith(".") and all(block.state is not False for block in open_ifs):
            undecided = tuple((block.choice, block.index) for block in open_ifs if block.state is None)
            yield replace(line, when=line.when + undecided) if undecided else line


class _If:
    """An open `.if`: whether the lines of its current branch stand (None: not decided here)."""

    def __init__(self, truth: bool | None) -> None:
        self.state = truth
        self.choice = Choice(complete=truth is True)
        self.index = 0
        self._taken = truth

    def branch(self, truth: bool | None) -> None:
        """Goes on to `.elif` (or `.else`, which is true if nothing before it was)."""
        self.state = False if self._taken else None if self._taken is None and truth is not False else truth
        self._taken = True if self._taken or truth else None if None in (self._taken, truth) else False
        self.index = self.choice.branches
        self.choice.branches += 1
        self.choice.complete = self.choice.complete or truth is True


def _truth(line: Line) -> bool | None:
    """What a `.if` says: a number or nothing can be decided here; predicates depend on the build and the host."""
    if not line.arguments:
        return False
    if len(line.arguments) == 1 and line.arguments[0].known and re.fullmatch(r"\d+", line.arguments[0].text):
        return int(line.arguments[0].text) != 0
    return None


def _sections(part: Sequence[Line]) -> tuple[Section, ...]:
    """The sections of one file; what stands before the first is dropped. `parent` is not set yet."""
    found: list[tuple[Line, list[Line]]] = []
    for line in part:
        if line.keyword in SECTIONS:
            found.append((line, []))
        elif found:
            found[-1][1].append(line)
    return tuple(Section(header, tuple(body)) for header, body in found)


class _Group:
    """Configurations that one process is given."""

    def __init__(self) -> None:
        self.members: list[Configuration] = []
        self._proxies: set[tuple[str, str]] = set()
        self._used: set[str] = set()
        self._owned: set[str] = set()
        self._sources: set[int] = set()
        self._defaults = False

    def add(self, one: Configuration) -> None:
        """Takes a configuration in."""
        self.members.append(one)
        self._proxies |= one.proxies
        self._used |= one.used
        self._owned |= one.owned
        self._sources.add(id(one.sources[0]))
        self._defaults = self._defaults or bool(one.of("defaults"))

    def takes(self, one: Configuration) -> bool:
        """Whether a configuration from a folder nearby is given to the same process: it names what is here, or the
        other way round, or one lacks the defaults that the other has, and no name stands twice."""
        if id(one.sources[0]) in self._sources or self._proxies & one.proxies:
            return False
        lacks_defaults = self._defaults != bool(one.of("defaults"))
        return lacks_defaults or bool(self._used & one.owned) or bool(one.used & self._owned)


def _joined(group: Sequence[Configuration]) -> Configuration:
    flat = [s for c in group for s in c.sections]
    return Configuration(tuple(_with_parents(flat)), tuple(source for c in group for source in c.sources))


def _with_parents(flat: Sequence[Section]) -> Iterator[Section]:
    """Gives each proxy the `defaults` it inherits from: the one it names, else the last one above it."""
    named: dict[str, Section] = {}
    latest: Section | None = None
    variables = _variables(flat)
    for section in flat:
        wanted = section.header.after("from")
        if section.kind == "defaults":
            base = named.get(wanted.text) if wanted else None
            latest = replace(section, parent=base)
            if latest.name:
                named[latest.name] = latest
            yield latest
        elif section.kind in PROXIES:
            parent = named.get(wanted.text, latest) if wanted else latest
            yield replace(section, parent=parent, variables=variables)
        else:
            yield section


_SET_VARIABLE = re.compile(r"set-var\((?P<name>[^,)]+)[^)]*\)")


def _variables(flat: Sequence[Section]) -> dict[str, str]:
    """The variables that requests carry and what each is set from, those left out that are set in different ways."""
    found: dict[str, set[str]] = {}
    for section in flat:
        for line in section.own("http-request"):
            setting = _SET_VARIABLE.fullmatch(line.argument(0))
            if setting:
                found.setdefault(setting["name"], set()).add(line.argument(1))
    return {name: next(iter(values)) for name, values in found.items() if len(values) == 1}
