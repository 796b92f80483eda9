"""Terraform modules: the files of a folder together, variables as far as defaults and tfvars tell, local modules with
the arguments that they are called with."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sselint.facts import FileOutcome, FileReport
from sselint.read.command import join
from sselint.read.terraform.expressions import Assumed, Reference, Unknown, Value, evaluate, plain, text_of
from sselint.read.terraform.hcl import Attribute, Block, HclError, parse
from sselint.source import Source, Tree

ENDINGS = (".tf", ".tofu")
_DEPTH = 8
"""Modules that call modules."""

_MAX_OPEN = 30
"""Names that are defined through each other, one by one, in a module and in those that it is called by."""


class Library:
    """The blocks of every folder, parsed once; files that no reader recognised (variables, outputs) are loaded here."""

    def __init__(self, sources: Sequence[Source], tree: Tree) -> None:
        self._known = {s.path: s for s in sources}
        self._tree = tree
        self._blocks: dict[str, tuple[Block, ...]] = {}
        self.reports: dict[str, FileReport] = {}

    def blocks(self, folder: str) -> tuple[Block, ...]:
        """The top-level blocks of a folder's files."""
        if folder not in self._blocks:
            paths = [p for p in self._tree.files if p.endswith(ENDINGS) and (posixpath.dirname(p) or ".") == folder]
            self._blocks[folder] = tuple(block for path in paths for block in self._file(path))
        return self._blocks[folder]

    def variables(self, folder: str) -> dict[str, Attribute]:
        """The values that Terraform takes from the folder without being told to."""
        found: dict[str, Attribute] = {}
        for path in self._tree.files:
            name = posixpath.basename(path)
            if (posixpath.dirname(path) or ".") == folder and (
                name == "terraform.tfvars" or name.endswith(".auto.tfvars")
            ):
                for block in self._file(path, wrap=True):
                    found.update(block.attributes)
        return found

    def _file(self, path: str, *, wrap: bool = False) -> tuple[Block, ...]:
        """The blocks of a file; the attributes of a tfvars file as one block."""
        source = self._known.get(path)
        try:
            source = source or Source(path, self._tree.text(path), "terraform")
            if wrap:
                # One line in front would move every place: the closing brace stands alone, the opening one has no line.
                source = Source(path, "values {" + source.text + "\n}", "terraform", origin=_shifted(source.text))
            found = parse(source)
        except HclError as problem:
            needed = path in self._known
            self.reports[path] = FileReport(path, FileOutcome.PARTLY, str(problem), needed=needed, span=problem.span)
            return ()
        except OSError:
            return ()
        if path in self._known:
            self.reports[path] = FileReport(path, FileOutcome.ANALYSED)
        return found


def _shifted(text: str) -> tuple[tuple[int, int], ...]:
    """Places of a text that got `values {` in front of its first line."""
    return ((0, -len("values {")), *((n, 0) for n in range(1, text.count("\n") + 2)))


@dataclass
class Module:
    """A folder with the values that its variables have. `prefix` ("module.api.") keeps the resources of one call apart
    from those of another."""

    folder: str
    library: Library
    arguments: Mapping[str, Value] | None = None
    """What a call passes; None for a folder that Terraform is run in."""
    prefix: str = ""
    depth: int = _DEPTH
    opened: int = 0
    """How many names of the callers are being looked up."""
    _open: list[tuple[str, ...]] = field(default_factory=list)
    _values: dict[tuple[str, ...], Value] = field(default_factory=dict)
    """What names were found to stand for: one that is used in many others is looked up once."""

    def resources(self, *kinds: str) -> Iterator[tuple[str, Block]]:
        """(address, block) of the resources of these kinds."""
        for block in self.library.blocks(self.folder):
            if block.kind == "resource" and len(block.labels) == 2 and block.labels[0] in kinds:
                yield self.address(block), block

    def address(self, block: Block) -> str:
        """`module.api.aws_ecs_service.web`."""
        return self.prefix + ".".join(block.labels)

    def value(self, block: Block, name: str) -> Value:
        """The value of an attribute, None where it is not written."""
        attribute = block.attributes.get(name)
        return evaluate(attribute.expression, self.resolve) if attribute else None

    def resolve(self, name: tuple[str, ...]) -> Value:
        """What a name in an expression stands for."""
        if name in self._open:
            return Unknown(f"{'.'.join(name)} refers to itself")
        if self.opened + len(self._open) > _MAX_OPEN:
            return Unknown(f"{'.'.join(name)} is defined through too many others")
        if name not in self._values:
            self._open.append(name)
            try:
                self._values[name] = self._resolved(name)
            finally:
                self._open.pop()
        return self._values[name]

    def _resolved(self, name: tuple[str, ...]) -> Value:
        head, *rest = name
        if head == "var" and rest:
            return _inside(self._variable(rest[0]), rest[1:])
        if head == "local" and rest:
            return _inside(self._local(rest[0]), rest[1:])
        if head == "module" and len(rest) > 1:
            return _inside(self._output(rest[0], rest[1]), rest[2:])
        if head in ("each", "count", "self", "terraform", "path"):
            return Unknown(".".join(name))
        if head == "data" and len(rest) > 1:
            return Reference(self.prefix + ".".join(name[:3]), ".".join(rest[2:]))
        return Reference(self.prefix + ".".join(name[:2]), ".".join(name[2:]))

    def _variable(self, name: str) -> Value:
        if self.arguments is not None and name in self.arguments:
            return self.arguments[name]
        if self.arguments is None:
            given = self.library.variables(self.folder).get(name)
            if given is not None:
                return evaluate(given.expression, self.resolve)
        for block in self.library.blocks(self.folder):
            if block.kind == "variable" and block.labels == (name,) and "default" in block.attributes:
                default = self.value(block, "default")
                return default if isinstance(default, Unknown) else Assumed(default, f"the default of var.{name}")
        return Unknown(f"var.{name} has no default")

    def _local(self, name: str) -> Value:
        for block in self.library.blocks(self.folder):
            if block.kind == "locals" and name in block.attributes:
                return self.value(block, name)
        return Unknown(f"local.{name} is not in the tree")

    def _output(self, call: str, name: str) -> Value:
        module = next((m for block, m in self.calls() if block.labels == (call,)), None)
        if module is not None:
            for block in self.library.blocks(module.folder):
                if block.kind == "output" and block.labels == (name,):
                    return module.value(block, "value")
        return Unknown(f"module.{call}.{name} is not in the tree")

    def calls(self) -> Iterator[tuple[Block, Module]]:
        """The local modules that this one calls, with the arguments of each call."""
        if self.depth == 0:
            return
        for block in self.library.blocks(self.folder):
            if block.kind != "module" or not block.labels:
                continue
            source = text_of(self.value(block, "source")) or ""
            if source.startswith(("./", "../")):
                folder = join(self.folder, source) or "."
                arguments = {name: self.value(block, name) for name in block.attributes if name != "source"}
                prefix = f"{self.prefix}module.{block.labels[0]}."
                opened = self.opened + len(self._open)
                yield block, Module(folder, self.library, arguments, prefix, self.depth - 1, opened)


def _inside(value: Value, path: Sequence[str]) -> Value:
    """An attribute of an attribute of a value."""
    for part in path:
        content = plain(value)
        if isinstance(content, Reference):
            return Reference(content.address, part)
        if not isinstance(content, dict):
            return value if isinstance(value, Unknown) else Unknown(f"{'.'.join(path)} of what is not known")
        found = content.get(part, Unknown(f"{part} is not written"))
        value = Assumed(found, value.why) if isinstance(value, Assumed) and not isinstance(found, Unknown) else found
    return value
