"""Find: which files under the root matter, and what each is.

A file is what it contains, not what it is called: every reader has a cheap look (`looks_like`), and what none of them
recognises is left alone. Never entered: version control, virtual environments, package folders, build output, and what
`.gitignore` names. Symbolic links are followed to files inside the root only.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import TYPE_CHECKING

from sselint.facts import FileOutcome, FileReport
from sselint.source import Source, Tree, decode

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

    IgnoreRules = tuple[str, GitIgnoreSpec]

CONFIG_READERS = (
    "haproxy",
    "nginx",
    "kubernetes",
    "compose",
    "envoy",
    "dockerfile",
    "procfile",
    "supervisord",
    "systemd",
    "gunicorn",
    "terraform",
)
"""The readers under `sselint/read/` beside Python, in the order in which they are asked about a file."""

PYTHON_READERS = ("gunicorn",)
"""Those whose files are Python."""

NEVER_ENTERED = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".tox",
        ".nox",
        ".venv",
        "venv",
        "node_modules",
        "site-packages",
        "dist-packages",
        "__pycache__",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".terraform",
        ".eggs",
    }
)

OUTPUT_FOLDERS = frozenset({"build", "dist"})
"""Names that build tools and people give to folders: the first for what comes out, the others for what goes in."""

_OUTPUT = re.compile(
    r"lib|lib\..+|bdist\..+|.+\.(?:whl|egg|tar\.gz|min\.js|js|css|map|jar|class|o|a)|index\.html|assets|static|_next|CMake.+"
)
"""What build tools leave in such a folder."""

NEVER_CONFIGURATION = re.compile(
    r"""\.(?:
        js|mjs|cjs|tsx?|jsx|vue|svelte|css|scss|less|html?|go|rs|java|kt|cc?|hh?|[ch]pp|cs|rb|php|swift|lua|sql|ps1|bat|pyi
        |mdx?|rst|adoc|ipynb|csv|tsv|lock|map|proto|graphql|po|mo|patch|diff|pem|crt|key
        |png|jpe?g|gif|ico|svg|webp|pdf|mp[34]|wav|woff2?|ttf|otf|eot
        |zip|t?gz|xz|bz2|tar|whl|pyc|so|dll|exe|bin|parquet|db|sqlite3?
    )$""",
    re.VERBOSE | re.IGNORECASE,
)
"""Endings of other languages, of documents and of data: the cheap looks are not bothered with them."""

_TEMPLATE_ENDING = re.compile(r"\.(?:go)?te?mpl(?:ate)?$|\.(?:tpl|j2|jinja2?|erb|in)$", re.IGNORECASE)

UNIT_MARKERS = frozenset(
    {
        "pyproject.toml",
        "setup.py",
        "setup.cfg",
        "requirements.txt",
        "Pipfile",
        "Dockerfile",
        "Procfile",
        "Chart.yaml",
        "compose.yaml",
        "compose.yml",
        "docker-compose.yaml",
        "docker-compose.yml",
    }
)
"""Files that make their folder a unit: a thing that is built and deployed by itself."""

MAX_BYTES = 8 * 1024 * 1024
"""Larger text is not read: the largest configuration dumps seen are below 2 MB."""


@dataclass(frozen=True)
class Found:
    """What was found: the tree, the sources by kind, what became of files that could not be read, and how many files
    none of the readers recognised."""

    tree: Tree
    sources: tuple[Source, ...]
    files: tuple[FileReport, ...]
    irrelevant: int

    def of(self, kind: str) -> tuple[Source, ...]:
        """The sources of one kind."""
        return tuple(s for s in self.sources if s.kind == kind)


@cache
def reader(kind: str) -> ModuleType:
    """The module that reads sources of a kind."""
    return import_module(f"sselint.read.{kind}")


def find(
    root: Path, folders: Sequence[Path], exclude: Sequence[str] = (), own_rules: Sequence[Path] = ()
) -> Found:
    """Everything under `folders` (inside `root`) that a reader recognises.

    `exclude` are gitignore-style patterns from the settings, relative to the root; `own_rules` the rule files of the
    user, which may name more libraries that stream. A file that cannot be read is in `files` with the reason. Raises
    CatalogueError for a rule file that cannot be used, and nothing else.
    """
    root = root.resolve()
    paths = tuple(sorted({p for folder in folders for p in _walk(root, folder.resolve(), exclude)}))
    tree = Tree(str(root), paths, _loader(root))
    units = _Units(paths)
    sources: list[Source] = []
    files: list[FileReport] = []
    irrelevant = 0
    for path in paths:
        found = _look(tree, path, units.of(path), files)
        sources.extend(found)
        irrelevant += not found
    if not any(s.kind == "python" and _python_matters(s, own_rules) for s in sources):
        irrelevant += sum(s.kind == "python" for s in sources)
        sources = [s for s in sources if s.kind != "python"]
    return Found(tree, tuple(sources), tuple(files), irrelevant - len(files))


def _look(tree: Tree, path: str, unit: str, files: list[FileReport]) -> tuple[Source, ...]:
    """The sources in one file; a trouble with it is added to `files`."""
    suffix = PurePosixPath(path).suffix.lower()
    if NEVER_CONFIGURATION.search(_TEMPLATE_ENDING.sub("", path)):
        return ()
    try:
        data = tree.load(path)
    except TooLargeError as error:
        files.append(FileReport(path, FileOutcome.TOO_LARGE, str(error.strerror)))
        return ()
    except OSError as error:
        files.append(FileReport(path, FileOutcome.UNREADABLE, error.strerror or str(error), needed=suffix == ".py"))
        return ()
    text = decode(data)
    if "\0" in text[:4096]:
        return ()
    if suffix == ".py" and not kind_of(path, text):
        return (Source(path, text, "python", unit),)
    from sselint import unwrap

    return unwrap.sources(path, text, unit, kind_of)


def kind_of(path: str, text: str) -> str | None:
    """The first reader that recognises the text, or None. Of Python only gunicorn's settings are configuration: other
    programs hold manifests, queries and Dockerfiles as text."""
    kinds = PYTHON_READERS if path.endswith(".py") else CONFIG_READERS
    return next((kind for kind in kinds if reader(kind).looks_like(path, text)), None)


def _python_matters(source: Source, own_rules: Sequence[Path]) -> bool:
    looks_like: Callable[[str, str, Sequence[Path]], bool] = reader("python").looks_like
    return looks_like(source.path, source.text, own_rules)


class TooLargeError(OSError):
    """A file that is over the budget of bytes."""


def _loader(root: Path) -> Callable[[str], bytes]:
    """Reads files by their paths below the root. Whoever asks may have the path from a text that is read (an include),
    so that links out of the root, pipes, devices and files over budget are refused here, each as an OSError."""
    real_folder = cache(os.path.realpath)

    def load(path: str) -> bytes:
        folder, name = os.path.split(os.path.join(root, path))  # noqa: PTH118 - many files, str paths
        file = os.path.join(real_folder(folder), name)  # noqa: PTH118
        if name in ("", ".", "..") or os.path.islink(file):  # noqa: PTH114
            file = os.path.realpath(file)
        if not file.startswith(os.path.join(root, "")):  # noqa: PTH118
            raise PermissionError(errno.EPERM, "leads outside the root", path)
        status = os.stat(file)  # noqa: PTH116
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, "is a folder", path)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "is a pipe, socket or device", path)
        if status.st_size > MAX_BYTES:
            raise TooLargeError(errno.EFBIG, f"larger than {MAX_BYTES // 2**20} MB", path)
        return Path(file).read_bytes()

    return load


class _Units:
    """The unit of each path: the nearest folder with a marker, else the root."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._folders = {
            str(PurePosixPath(p).parent)
            for p in paths
            if PurePosixPath(p).name in UNIT_MARKERS or PurePosixPath(p).name.startswith("Dockerfile")
        }

    def of(self, path: str) -> str:
        return next((str(p) for p in PurePosixPath(path).parents if str(p) in self._folders), ".")


def _walk(root: Path, folder: Path, exclude: Sequence[str]) -> Iterator[str]:
    """The files under a folder, as POSIX paths relative to the root, ignored ones left out."""
    from pathspec import GitIgnoreSpec

    rules: list[IgnoreRules] = []
    if exclude:
        rules.append(("", GitIgnoreSpec.from_lines(exclude)))
    for parent in [*reversed(folder.relative_to(root).parents), None]:
        above = root / parent if parent is not None else None
        if above is not None and above != folder:
            rules.extend(_ignore_rules(root, above))
    yield from _walk_folder(root, folder, rules)


def _walk_folder(root: Path, folder: Path, rules: list[IgnoreRules]) -> Iterator[str]:
    """Iterative: a path may hold more folders than Python has stack."""
    waiting = [(str(folder), rules)]
    while waiting:
        place, above = waiting.pop()
        here = [*above, *_ignore_rules(root, Path(place))]
        for entry in _entries(place):
            relative = entry.path[len(str(root)) :].lstrip("/")
            if entry.is_dir(follow_symlinks=False):
                virtual = entry.name in NEVER_ENTERED or _is_environment(entry.path) or _is_output(entry)
                if not virtual and not _ignored(relative + "/", here):
                    waiting.append((entry.path, here))
            elif _is_file(entry) and not _ignored(relative, here) and _inside(root, entry):
                yield relative


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """What stands in a folder; nothing in one that is gone or may not be entered."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _is_file(entry: os.DirEntry[str]) -> bool:
    """Whether this is a file, or a link to one. Links may go round in circles, and files go while we look."""
    try:
        return entry.is_file()
    except OSError:
        return False


def _is_environment(folder: str) -> bool:
    return os.path.exists(folder + "/pyvenv.cfg")  # noqa: PTH110 - many folders, str paths


def _is_output(folder: os.DirEntry[str]) -> bool:
    """Whether a folder called like build output holds some."""
    if folder.name not in OUTPUT_FOLDERS:
        return False
    try:
        return any(_OUTPUT.fullmatch(name) for name in os.listdir(folder))  # noqa: PTH208 - names are all it takes
    except OSError:
        return True


def _inside(root: Path, entry: os.DirEntry[str]) -> bool:
    return not entry.is_symlink() or Path(os.path.realpath(entry.path)).is_relative_to(root)


def _ignore_rules(root: Path, folder: Path) -> list[IgnoreRules]:
    """The folder's `.gitignore` as (prefix, spec), the prefix being the folder relative to the root."""
    file = folder / ".gitignore"
    if not file.is_file():
        return []
    from pathspec import GitIgnoreSpec

    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    try:
        spec = GitIgnoreSpec.from_lines(lines)
    except ValueError:  # git passes over a line that is no pattern, and keeps the others
        spec = GitIgnoreSpec.from_lines(line for line in lines if _is_pattern(line))
    relative = folder.relative_to(root).as_posix()
    return [("" if relative == "." else relative + "/", spec)]


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def _ignored(path: str, rules: Sequence[IgnoreRules]) -> bool:
    """Whether the deepest `.gitignore` that speaks of the path ignores it."""
    for prefix, spec in reversed(rules):
        verdict = spec.check_file(path[len(prefix) :]).include if path.startswith(prefix) else None
        if verdict is not None:
            return bool(verdict)
    return False
