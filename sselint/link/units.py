"""Folders of the tree: which unit a path is in, what stands in it, and how paths are put together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath


class Units:
    """Folders: which unit a path is in, and what stands in a unit."""

    def __init__(self, folders: Iterable[str]) -> None:
        self._folders = frozenset(folders) | {"."}

    def of(self, path: str) -> str:
        """The unit of a file."""
        return next((str(p) for p in PurePosixPath(path).parents if str(p) in self._folders), ".")


def inside(path: str, folder: str) -> bool:
    """Whether a path stands in a folder or below it; both relative to the root."""
    return folder == "." or path == folder or path.startswith(folder + "/")


def folders_above(folder: str) -> list[str]:
    """The folder and those above it, the root last."""
    return list(dict.fromkeys([folder, *(str(p) for p in PurePosixPath(folder).parents), "."]))


def _parts(folder: str, name: str) -> Sequence[str]:
    """The parts of two paths, one behind the other. Taken apart by hand where neither begins at a root: of a large
    tree a million are put together."""
    if folder.startswith("/") or name.startswith("/"):
        return PurePosixPath(folder, name).parts
    return [part for part in f"{folder}/{name}".split("/") if part]


def join(folder: str, name: str) -> str:
    """A path relative to the root; `..` is worked out, and never leads above the root."""
    parts: list[str] = []
    for part in _parts(folder, name):
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    return "/".join(parts) or "."
