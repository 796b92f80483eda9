"""Which files of the tree a pool's command starts: its module or script, what a console script names, and the servers
that such a script starts in turn (`uvicorn.run("app:app")`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from sselint.facts import Pool
from sselint.link.units import Units, join
from sselint.read import command
from sselint.source import Tree

IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^#\n]*)|import[ \t]+([^#\n]+))", re.MULTILINE
)
_SCRIPTS = re.compile(
    r"^\[(?:project|tool\.poetry)\.scripts\][ \t]*(?:#[^\n]*)?\r?\n((?:(?!\[)[^\n]*(?:\n|\Z))*)", re.MULTILINE
)
_SCRIPT = re.compile(r"^[ \t]*[\"']?([\w.-]+)[\"']?[ \t]*=[ \t]*[\"']([\w.]+:[\w.]+)[\"']", re.MULTILINE)
MAX_IMPORTS = 3
"""How many modules stand between a script and the one that starts its server, at most."""


class Starts:
    """Answers which files a pool's command starts, for one tree."""

    def __init__(self, tree: Tree, units: Units, pools: Sequence[Pool]) -> None:
        self._tree = tree
        self._units = units
        self._launches = [p for p in pools if p.format == "python"]
        self._files: dict[int, frozenset[str]] = {}
        self._through: dict[int, tuple[Pool, ...]] = {}
        self._said: dict[str, tuple[tuple[int, str], ...]] = {}
        """What each file imports, as its text says it."""
        self._meant: dict[tuple[str, tuple[str, ...]], frozenset[str]] = {}
        """The files that a file imports where it is looked for in these folders."""

    def files(self, pool: Pool) -> frozenset[str]:
        """The files that the command's module or script may be: those of the nearest folder that has any."""
        if id(pool) not in self._files:
            self._files[id(pool)] = self._found(pool, self._named(pool))
        return self._files[id(pool)]

    def through(self, pool: Pool) -> tuple[Pool, ...]:
        """The starts of a server in the script that the command runs, or in what that script imports."""
        if id(pool) not in self._through:
            named = self.files(pool) if pool.format != "python" else frozenset()
            reached = self._imported(pool, named)
            found = (p for p in self._launches if p.path in named or (p.path in reached and not p.only_as_script))
            self._through[id(pool)] = tuple(found)
        return self._through[id(pool)]

    def may_run(self, pool: Pool, launch: Pool) -> bool:
        """False where the pool certainly runs another script than the one that `launch` stands in."""
        files = self.files(pool)
        return launch.format != "python" or not files or launch in self.through(pool)

    def text(self, path: str) -> str:
        """The text of a file; empty where the tree has none, or none that can be read."""
        try:
            return self._tree.text(path) if path in self._tree.known else ""
        except OSError:
            return ""

    def _named(self, pool: Pool) -> str:
        """The module or script on the command line, or the one behind the console script of a project."""
        if pool.starts or not pool.command:
            return pool.starts or ""
        names = [PurePosixPath(word).name for word in command.read(pool.command).words]
        for folder in self._folders(pool):
            scripts = self._console_scripts(folder)
            for name in names:  # `uv run serve`: the script may stand behind a wrapper
                if name in scripts:
                    return scripts[name]
        return ""

    def _console_scripts(self, folder: str) -> dict[str, str]:
        """`[project.scripts]` of the pyproject.toml in a folder: the name -> `module:function`."""
        table = _SCRIPTS.search(self.text(join(folder, "pyproject.toml")))
        return dict(_SCRIPT.findall(table[1])) if table else {}

    def _found(self, pool: Pool, starts: str) -> frozenset[str]:
        module = starts.partition(":")[0]
        if not module:
            return frozenset()
        stem = module[:-3] if module.endswith(".py") else module.replace(".", "/")
        names = (f"{stem}.py", f"{stem}/__init__.py", f"{stem}/__main__.py")
        for folder in self._folders(pool):
            found = frozenset(join(folder, n) for n in names) & self._tree.known
            if found:
                return found
        return frozenset()

    def _folders(self, pool: Pool) -> list[str]:
        here = str(PurePosixPath(pool.path).parent)
        bases = [pool.build_context, here, self._units.of(pool.path), "."]
        if pool.dockerfile:
            bases.insert(1, str(PurePosixPath(pool.dockerfile).parent))
        folders: list[str] = []
        for base in (b for b in bases if b is not None):
            if pool.app_directory and not pool.app_directory.startswith("/"):
                folders.append(join(base, pool.app_directory))
            folders += [base, join(base, "src")]
        return list(dict.fromkeys(folders))

    def _imported(self, pool: Pool, files: frozenset[str]) -> frozenset[str]:
        """The files, and those that they import, directly or through others."""
        reached, newest, folders = set(files), files, tuple(self._folders(pool))
        for _ in range(MAX_IMPORTS):
            newest = frozenset(p for file in newest for p in self._imports(file, folders)) - reached
            reached |= newest
        return frozenset(reached)

    def _imports(self, path: str, folders: tuple[str, ...]) -> frozenset[str]:
        """The files of the tree that a file imports. Many pools start the same files: each is looked at once."""
        key = (path, folders)
        if key not in self._meant:
            self._meant[key] = frozenset(self._resolved(path, folders))
        return self._meant[key]

    def _resolved(self, path: str, folders: tuple[str, ...]) -> Iterator[str]:
        own = str(PurePosixPath(path).parent)
        if path not in self._said:
            self._said[path] = tuple(_imported_names(self.text(path)))
        for level, stem in self._said[path]:
            for folder in [join(own, "../" * (level - 1))] if level else [own, *folders]:
                yield from {join(folder, f"{stem}.py"), join(folder, f"{stem}/__init__.py")} & self._tree.known


def _imported_names(text: str) -> Iterator[tuple[int, str]]:
    """What a text imports: how many dots stand in front, and the path of the module without its ending."""
    for source, names, modules in IMPORT.findall(text):
        level = len(source) - len(source.lstrip("."))
        dotted = [source.lstrip("."), *(f"{source.lstrip('.')}.{n}".strip(".") for n in re.findall(r"\w+", names))]
        for name in filter(None, (*dotted, *re.findall(r"[\w.]+", modules))):
            yield level, name.replace(".", "/")
