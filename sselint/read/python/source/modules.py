"""Python modules under the root: which file an import means, and what a file says. Parsed when first needed."""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import PurePosixPath
from typing import Any

from sselint.facts import Span
from sselint.read.python.source import ir, scan
from sselint.read.python.source.evidence import LAST_EVENT_ID
from sselint.source import Source

TESTS = re.compile(r"(^|/)(test_[^/]*|[^/]*_test|conftest)\.py$|(^|/)tests?/")
"""Tests of the tree: nobody deploys them."""
IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+([^#\n]*)|import[ \t]+([^#\n]+))", re.MULTILINE)
SCRIPT = re.compile(r"^if[ \t]+__name__[ \t]*==[ \t]*[\"']__main__[\"']", re.MULTILINE)
COUNTS = re.compile(r"\.(\w+)[ \t]*(?:[+-]=|=[ \t]*[\w.]+\.\1[ \t]*[+-])")
"""`x.number += 1`, `x.number = x.number + 1`."""

METHOD = re.compile(r"def (\w+)\(self")


@lru_cache(maxsize=256)
def setting(name: str) -> re.Pattern[str]:
    """What sets a name, at the top of a file or in a branch."""
    return re.compile(rf"^[ \t]*{re.escape(name)}\s*(:[^=\n]+)?=(?!=)", re.MULTILINE)


class Module:
    """One file. `name` is what imports call it, `package` the dotted name that relative imports start from."""

    def __init__(self, source: Source, name: str, is_package: bool) -> None:
        self.source = source
        self.path = source.path
        self.name = name
        self.is_package = is_package
        self._texts: dict[int, str] = {}
        self._sites: dict[int, Site] = {}

    @property
    def package(self) -> str:
        """The package that a relative import of one dot means."""
        return self.name if self.is_package else self.name.rpartition(".")[0]

    @cached_property
    def cst(self) -> Any:
        """The libcst module. Raises SyntaxTrouble."""
        from sselint.read.python.source.lower import parse

        return parse(self.source.text)

    @cached_property
    def body(self) -> tuple[ir.Statement, ...]:
        """The statements in the small form. Raises SyntaxTrouble."""
        from sselint.read.python.source.lower import lower_module

        return lower_module(self.cst)

    @cached_property
    def counted(self) -> frozenset[str]:
        """The attributes that the file counts on: whatever they are at first, they are a count when they are read."""
        return frozenset(match.group(1) for match in COUNTS.finditer(self.source.text))

    @cached_property
    def refusal(self) -> str | None:
        """Why the file must not reach the parser, None where it may."""
        return scan.refusal(self.source.text.encode("utf-8", "surrogatepass"))

    def site(self, node: Any) -> Site:
        """The place of a node of this module: one for all who ask, who are many."""
        known = self._sites.get(id(node))
        if known is None:
            known = self._sites[id(node)] = Site(self, node)
        return known

    def times_set(self, name: str) -> int:
        """At how many places of the file, below an `if` or not, a name is set as a global is."""
        return len(setting(name).findall(self.source.text))

    def code(self, node: Any) -> str:
        """The text of a node of this module. Each is written once: that costs as much as parsing it."""
        known = self._texts.get(id(node))
        if known is None:
            known = self._texts[id(node)] = str(self.cst.code_for_node(node))
        return known

    @cached_property
    def names_cursor(self) -> bool:
        """Whether the name of the cursor on the wire stands anywhere in the module."""
        text = self.source.text.lower()
        return any(word in text for word in LAST_EVENT_ID)

    @cached_property
    def _positions(self) -> Any:
        from libcst.metadata import MetadataWrapper, PositionProvider

        return MetadataWrapper(self.cst, unsafe_skip_copy=True).resolve(PositionProvider)

    def span(self, node: Any, note: str = "") -> Span:
        """Where a libcst node of this module stands in the file."""
        found = self._positions.get(node)
        if found is None:
            return Span(self.path, 1, 1, 1, 1, note)
        line, column = self.source.at(found.start.line - 1, found.start.column)
        end_line, end_column = self.source.at(found.end.line - 1, found.end.column)
        return Span(self.path, line, column, end_line, end_column, note)

    def __repr__(self) -> str:
        return f"<module {self.path}>"


@dataclass(frozen=True)
class Site:
    """A place in the tree, by node; the position is computed when it is cited."""

    module: Module
    node: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Site) and other.node is self.node

    def __hash__(self) -> int:
        return id(self.node)

    def span(self, note: str = "") -> Span:
        """The place as facts cite it."""
        return self.module.span(self.node, note)

    def __repr__(self) -> str:
        return f"<{self.module.path}:{id(self.node)}>"


class ModuleTable:
    """All Python files under the root by the names that imports can use for them.

    Imports resolve by package structure first (a folder without `__init__.py` is an import root), then by path from
    the folders above the importing file, its unit and their `src`. Of several candidates the nearest one wins.
    `described` are the first parts of the names of libraries that the rules know.
    """

    def __init__(self, sources: Iterable[Source], described: Collection[str] = ()) -> None:
        self._described = described
        self.by_path: dict[str, Module] = {}
        self._by_name: dict[str, list[str]] = {}
        self._mentions: dict[tuple[str, ...], bool] = {}
        self._tested: dict[Hashable, bool] = {}
        self._defining: dict[str, list[str]] = {}
        self._with_methods: dict[tuple[str, ...], list[str]] = {}
        self._sources = {s.path: s for s in sources}
        for path in self._sources:
            self._by_name.setdefault(self._name(path), []).append(path)

    def _name(self, path: str) -> str:
        parts = list(PurePosixPath(path).with_suffix("").parts)
        is_package = parts[-1] == "__init__"
        if is_package:
            parts.pop()
        if not parts:
            return "__init__"
        name = [parts.pop()]
        while parts and "/".join([*parts, "__init__.py"]) in self._sources:
            name.insert(0, parts.pop())
        return ".".join(name)

    def at(self, path: str) -> Module:
        """The module of a file. Raises KeyError."""
        module = self.by_path.get(path)
        if module is None:
            source = self._sources[path]
            module = Module(source, self._name(path), path.endswith("__init__.py"))
            self.by_path[path] = module
        return module

    def mentions(self, words: tuple[str, ...]) -> bool:
        """Whether a file of the tree, tests left out, writes one of the words, in any case, as a text of its own:
        `"last_id"`."""
        if words not in self._mentions:
            wanted = re.compile(rf"[\"'](?:{'|'.join(map(re.escape, words))})[\"']", re.IGNORECASE)
            found = (wanted.search(s.text) for p, s in self._sources.items() if not TESTS.search(p))
            self._mentions[words] = any(found)
        return self._mentions[words]

    def holds(self, words: tuple[str, ...]) -> bool:
        """Whether a file of the tree, tests left out, holds one of the words (in lower case) anywhere in any case."""
        key = ("", *words)
        if key not in self._mentions:
            texts = (s.text.lower() for p, s in self._sources.items() if not TESTS.search(p))
            self._mentions[key] = any(word in text for text in texts for word in words)
        return self._mentions[key]

    def any_text(self, test: Callable[..., bool], *given: Hashable) -> bool:
        """Whether a test holds of the text of a file of the tree, tests left out. `given` are its other arguments."""
        key = (test, *given)
        if key not in self._tested:
            self._tested[key] = any(test(s.text, *given) for p, s in self._sources.items() if not TESTS.search(p))
        return self._tested[key]

    def defines_method(self, name: str) -> bool:
        """Whether a class of the tree, tests left out, defines a method of this name, in any case."""
        return name.lower() in self._methods

    @cached_property
    def _methods(self) -> frozenset[str]:
        texts = (s.text.lower() for p, s in self._sources.items() if not TESTS.search(p))
        return frozenset(name for text in texts for name in METHOD.findall(text))

    def defining_methods(self, names: tuple[str, ...]) -> list[str]:
        """The files, tests left out, that define functions of all these names."""
        if names not in self._with_methods:
            texts = ((p, s.text) for p, s in self._sources.items() if not TESTS.search(p))
            self._with_methods[names] = [p for p, text in texts if all(f"def {name}(" in text for name in names)]
        return self._with_methods[names]

    def defining(self, name: str) -> list[str]:
        """The files that set a global of this name, tests left out."""
        if name not in self._defining:
            written = setting(name)
            mentioned = (p for p, s in self._sources.items() if name in s.text and written.search(s.text))
            self._defining[name] = [p for p in mentioned if not TESTS.search(p)]
        return self._defining[name]

    def resolve(self, name: str, importer: Module) -> Module | None:
        """The module that an absolute dotted name means to `importer`, or None where the tree does not define it."""
        candidates = [p for p in self._by_name.get(name, ()) if p != importer.path]
        if candidates and self._importable(name, importer, candidates):
            return self.at(max(candidates, key=lambda p: (_common(p, importer.path), -len(p))))
        for folder in self._folders(importer):
            base = f"{folder}/" if folder else ""
            path = self._file_of(base + name.replace(".", "/"), importer)
            if path is not None:
                return self.at(path)
        return self._beside_the_program(name, importer)

    def _file_of(self, stem: str, importer: Module) -> str | None:
        """The file of a module or package, None where there is none but the importer itself."""
        paths = (f"{stem}.py", f"{stem}/__init__.py")
        return next((p for p in paths if p in self._sources and p != importer.path), None)

    def _beside_the_program(self, name: str, importer: Module) -> Module | None:
        """The module of a name where the program is started in a folder that is a package as well, as many a
        `backend/__init__.py` is that nobody needs. A name of one part means a file of the unit's own folder, or one
        beside a file that is run as a script, and what may be a library stays one."""
        head = name.partition(".")[0]
        if head in sys.stdlib_module_names or head in self._described:
            return None
        folder, unit = importer.path.rpartition("/")[0], importer.source.unit
        while folder:
            path = self._file_of(f"{folder}/{name.replace('.', '/')}", importer)
            if path is not None and ("." in name or folder == unit or folder in self._script_folders):
                return self.at(path)
            folder = folder.rpartition("/")[0]
        return None

    @cached_property
    def _script_folders(self) -> frozenset[str]:
        """The folders in which a file says what it does when it is run as a script."""
        return frozenset(p.rpartition("/")[0] for p, s in self._sources.items() if SCRIPT.search(s.text))

    def _importable(self, name: str, importer: Module, candidates: list[str]) -> bool:
        """A module without a package is found only beside the importer or on its way up: `redis.py` in some far folder
        is not what `import redis` means."""
        if "." in name or any(p.endswith("__init__.py") for p in candidates):
            return True
        folders = set(self._folders(importer))
        candidates[:] = [p for p in candidates if p.rpartition("/")[0] in folders]
        return bool(candidates)

    def _folders(self, importer: Module) -> list[str]:
        folder = importer.path.rpartition("/")[0]
        while folder and f"{folder}/__init__.py" in self._sources:
            folder = folder.rpartition("/")[0]
        found: list[str] = []
        while True:
            found.extend((folder, f"{folder}/src" if folder else "src"))
            if not folder:
                return found
            folder = folder.rpartition("/")[0]

    def relative(self, importer: Module, level: int, name: str) -> str:
        """The absolute dotted name of `from <level dots>name import ...`."""
        package = importer.package
        for _ in range(level - 1):
            package = package.rpartition(".")[0]
        return ".".join(p for p in (package, name) if p)

    def relative_module(self, importer: Module, level: int, name: str) -> Module | None:
        """The module of a relative import, by path: right also where the folder is a package without `__init__.py`."""
        folder = PurePosixPath(importer.path).parent
        for _ in range(level - 1):
            folder = folder.parent
        stem = (folder / name.replace(".", "/")).as_posix() if name else folder.as_posix()
        for path in (f"{stem}.py", f"{stem}/__init__.py", f"{stem}/__init__.py".removeprefix("./")):
            if path in self._sources:
                return self.at(path)
        return None

    def importers(self, wanted: Iterable[str], limit: int) -> list[str]:
        """Files that import one of the files `wanted`, directly or through others: at most `limit`, nearest first."""
        seen = dict.fromkeys(wanted)
        found: list[str] = []
        queue = deque(seen)
        while queue and len(found) < limit:
            for path in self._importers_of(queue.popleft()):
                if path not in seen:
                    seen[path] = None
                    found.append(path)
                    queue.append(path)
        return found[:limit]

    def direct_importers(self, wanted: Iterable[str], limit: int) -> list[str]:
        """Files that import one of the files `wanted` by name, tests left out; of a module whose package takes it up,
        also those that import the package."""
        found: dict[str, None] = {}
        for path in wanted:
            waiting = [path]
            while waiting:
                inner = waiting.pop()
                for importer in self._importers_of(inner):
                    if len(found) >= limit:
                        break
                    if importer not in found and importer.endswith("__init__.py") and _within(inner, importer):
                        waiting.append(importer)
                    found[importer] = None
        return list(found)

    def _importers_of(self, path: str) -> list[str]:
        candidates = self._reverse_imports.get(_last(path), ())
        return [p for p in candidates if not TESTS.search(p) and _imports(self._sources[p].text, path)]

    @cached_property
    def _reverse_imports(self) -> dict[str, list[str]]:
        """Last part of a module's name -> files that mention it in an import. Coarse on purpose: it only decides what
        is parsed, and what is not imported in truth is not reached by the interpreter either."""
        reverse: dict[str, list[str]] = {}
        for path, source in self._sources.items():
            words: set[str] = set()
            for match in IMPORT.finditer(source.text):
                words.update(re.findall(r"\w+", " ".join(g for g in match.groups() if g)))
            for word in words:
                reverse.setdefault(word, []).append(path)
        return reverse


def _imports(text: str, path: str) -> bool:
    """Whether an import in a text can mean a file: the last two parts of its name, as far as both are written."""
    stem, parent = _last(path), _parent(path)
    for match in IMPORT.finditer(text):
        module = (match.group(1) or "").lstrip(".")
        parts = module.split(".")
        if parts[-1] == stem and (len(parts) == 1 or parts[-2] == parent):
            return True
        names = re.findall(r"\w+", match.group(2) or "")
        if stem in names and parts[-1] in ("", parent):
            return True
        for plain in re.findall(r"[\w.]+", match.group(3) or ""):
            whole = plain.split(".")
            if whole[-1] == stem and (len(whole) == 1 or whole[-2] == parent):
                return True
    return False


def _within(path: str, package: str) -> bool:
    """Whether a file stands in a package, which is given by its `__init__.py`."""
    return path != package and path.startswith(package.removesuffix("__init__.py"))


def _parent(path: str) -> str:
    pure = PurePosixPath(path)
    return pure.parent.parent.name if pure.name == "__init__.py" else pure.parent.name


def _last(path: str) -> str:
    pure = PurePosixPath(path)
    return pure.parent.name if pure.name == "__init__.py" else pure.stem


def _common(one: str, other: str) -> int:
    count = 0
    for a, b in zip(one.split("/"), other.split("/"), strict=False):
        if a != b:
            break
        count += 1
    return count
