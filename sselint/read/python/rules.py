"""Loads `rules/python/`: what the names of libraries mean, as data. The format is described in docs/python-rules.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from sselint.catalogue import CatalogueError, load_yaml, rules_directory

ROLES = frozenset({
    "application", "router", "route", "mount", "middleware", "request", "response", "response_builder", "event",
    "http_error", "exception", "endpoint", "handler_class", "dependency", "parameter", "settings", "model", "client",
    "queue", "channel", "namespace", "counter", "event_store", "session_manager", "transport", "mcp_server", "headers",
    "column", "container", "dataclass_field", "value", "value_call", "annotation", "background", "object",
    "asgi_middleware", "event_message", "generator_wrapper", "middleware_base", "numbering", "unique_key",
})  # fmt: skip
VERBS = frozenset({
    "gives", "makes", "mints", "reads", "writes", "registers", "sends", "refuses", "runs", "decorates", "converts",
    "begins",
})  # fmt: skip
ENTRY_KEYS = frozenset({
    "also", "role", "is", "parameters", "uses", "with", "methods", "attributes", "call", "since", "until", "note",
})  # fmt: skip
EFFECT_KEYS = VERBS | frozenset({
    "of", "parameters", "status", "live", "tail", "where", "value", "fields", "id", "key", "path", "handler", "target",
    "exception", "as", "text", "data", "event", "type", "default", "path_argument", "orders", "bounded", "name",
    "keyword", "note", "methods", "lookup", "sql", "explicit_id", "prefix", "when_false", "then", "returns", "retried",
    "prefix_argument", "also_reads", "code", "selects", "default_selection", "fails", "missing", "pattern", "passes",
    "args", "pair", "retry", "comment", "only", "raw", "otherwise", "streaming", "by", "into", "assigns", "rows",
    "head_at", "head_by", "tells", "anew", "listener", "hears", "sign", "of_row", "end", "backwards", "replaces",
})  # fmt: skip
OBJECTS: Mapping[str, frozenset[str]] = {
    "mints": frozenset({"clock", "counter", "host", "ordered", "process", "random", "replica"}),
    "reads": frozenset({"queue", "sql", "store"}),
    "writes": frozenset({"entry", "queue", "store"}),
    "runs": frozenset({"apart", "here"}),
    "decorates": frozenset({"cached", "command", "option", "same", "wraps"}),
    "converts": frozenset({"condition", "from_json", "hash", "json", "match", "number", "split"}),
    "refuses": frozenset({"status"}),
    "begins": frozenset({"response", "stream"}),
    "registers": frozenset({
        "exception_handler", "lifespan", "middleware", "mount", "route", "routes", "routes_item", "server", "task",
    }),
}  # fmt: skip
"""The objects that a verb can have, for the verbs that have few. `makes` names a container or a described name."""
CONTAINERS = frozenset({"dict", "list", "set"})
TOP_KEYS = frozenset({"library", "about", "versions", "prefixes", "names", "words", "evidence", "hierarchy"})


@dataclass(frozen=True)
class Effect:
    """What a call, or reading an attribute, yields: a verb with its object, and options."""

    verb: str
    what: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def get(self, name: str, default: Any = None) -> Any:
        """An option."""
        return self.options.get(name, default)


@dataclass(frozen=True)
class Entry:
    """What one name of a library means. `uses` maps what the reader asks for ("body", "status") to parameter names."""

    name: str
    library: str
    role: str
    parameters: tuple[str, ...] = ()
    uses: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    methods: Mapping[str, Effect] = field(default_factory=dict)
    attributes: Mapping[str, Effect] = field(default_factory=dict)
    call: Effect | None = None

    def method(self, name: str) -> Effect | None:
        """What calling a method does; an entry "*" speaks for all that are not named."""
        return self.methods.get(name) or self.methods.get("*")


def _gives_ids(entry: Entry) -> bool:
    sends = any(way.verb == "sends" and way.get("id") for way in entry.methods.values())
    return sends or entry.options.get("stream") == "events" or (entry.role == "event" and "id" in entry.uses)


class Rules:
    """All that is known of libraries, the shipped files and the user's own."""

    def __init__(self, files: Iterable[Path]) -> None:
        self.entries: dict[str, Entry] = {}
        self.prefixes: dict[str, str] = {}
        self.words: dict[str, tuple[str, ...]] = {}
        self.evidence: list[str] = []
        self.libraries: set[str] = set()
        self._makers: list[tuple[str, Effect]] = []
        self._found: dict[str, Entry | None] = {}
        for path in files:
            self._read(path)
            self._found.clear()  # reading asks for parents too, before all of them are there
        for where, effect in self._makers:
            if effect.what not in CONTAINERS and self.entry(effect.what) is None:
                raise CatalogueError(f"{where}: `makes: {effect.what}` names nothing that is described")

    @cached_property
    def heads(self) -> frozenset[str]:
        """The first parts of all names that some file describes: the packages that are known to be libraries."""
        return frozenset(name.partition(".")[0] for name in (*self.entries, *self.prefixes))

    @cached_property
    def known_handlers(self) -> Mapping[str, str]:
        """What only the objects of a class of handlers have (`known_by`), with the name of the class."""
        marks = ((e.options.get("known_by"), e.name) for e in self.entries.values() if e.role == "handler_class")
        return {str(mark): name for mark, name in marks if mark}

    @cached_property
    def known_stores(self) -> tuple[Mapping[str, int], ...]:
        """The methods by which an event store is known that names no interface (`known_by`), with how many arguments
        each is given."""
        marks = (e.options.get("known_by") for e in self.entries.values() if e.role == "event_store")
        return tuple(mark for mark in marks if isinstance(mark, dict))

    @cached_property
    def naming(self) -> frozenset[tuple[str, str]]:
        """What gives events ids: events with that field, responses that frame what is yielded, methods that send with
        an id. Of each of its names the package and the last part."""
        names = (name for name, entry in self.entries.items() if _gives_ids(entry))
        return frozenset((name.partition(".")[0], name.rpartition(".")[2]) for name in names)

    @cached_property
    def asked_like_tables(self) -> Mapping[str, Entry]:
        """By library, what asks for the rows that belong to a row (`of_row` marks the methods that only it has)."""
        return {e.library: e for e in self.entries.values() if any(way.get("of_row") for way in e.methods.values())}

    def canonical(self, name: str) -> str:
        """The name under which a library's name is described."""
        if name in self.entries:
            return name
        prefix = name
        while prefix:
            if prefix in self.prefixes:
                return self.prefixes[prefix] + name[len(prefix) :]
            prefix = prefix.rpartition(".")[0]
        return name

    def entry(self, name: str) -> Entry | None:
        """What a dotted import name means, or None where no file describes it."""
        if name not in self._found:  # it is asked for every name that a run comes to, again and again
            self._found[name] = self.entries.get(name) or self.entries.get(self.canonical(name))
        return self._found[name]

    def word_list(self, name: str) -> tuple[str, ...]:
        """A list of words that some file declares."""
        return self.words.get(name, ())

    def _read(self, path: Path) -> None:
        document = load_yaml(path)
        if not isinstance(document, dict) or "library" not in document:
            raise CatalogueError(f"{path}: expected a mapping with the key `library` (see docs/python-rules.md)")
        _check_keys(path, "the file", document, TOP_KEYS)
        library = str(document["library"])
        self.prefixes.update(document.get("prefixes") or {})
        self.evidence.extend(document.get("evidence") or [])
        for name, words in (document.get("words") or {}).items():
            self.words[name] = (*self.words.get(name, ()), *map(str, words))
        for name, body in (document.get("names") or {}).items():
            self._add(path, library, str(name), body or {})

    def _add(self, path: Path, library: str, name: str, body: Any) -> None:
        if not isinstance(body, dict):
            raise CatalogueError(f"{path}: {name}: expected a mapping, not {type(body).__name__}")
        _check_keys(path, name, body, ENTRY_KEYS)
        parent = self._parent(path, name, body.get("is"))
        role = str(body.get("role") or (parent.role if parent else "object"))
        if role not in ROLES:
            raise CatalogueError(f"{path}: {name}: role {role!r} is not one of {', '.join(sorted(ROLES))}")
        for key in ("parameters", "also"):
            if not isinstance(body.get(key, []), list):
                raise CatalogueError(f"{path}: {name}: `{key}` is a list of names, such as [{body[key]}]")
        call = _effect(path, f"{name}.call", body["call"]) if body.get("call") else None
        entry = Entry(
            name,
            library,
            role,
            tuple(body.get("parameters") or (parent.parameters if parent else ())),
            {**(parent.uses if parent else {}), **(body.get("uses") or {})},
            {**(parent.options if parent else {}), **(body.get("with") or {})},
            {**(parent.methods if parent else {}), **_effects(path, name, body.get("methods"))},
            {**(parent.attributes if parent else {}), **_effects(path, name, body.get("attributes"))},
            call or (parent.call if parent else None),
        )
        made = ((call,) if call else (), entry.methods.values(), entry.attributes.values())
        self._makers += [(f"{path}: {name}", e) for several in made for e in several if e.verb == "makes"]
        for alias in (name, *(body.get("also") or ())):
            self.entries[str(alias)] = entry
        self.libraries.add(name.partition(".")[0])

    def _parent(self, path: Path, name: str, parent: str | None) -> Entry | None:
        if parent is None:
            return None
        found = self.entry(parent)
        if found is None:
            raise CatalogueError(f"{path}: {name}: `is: {parent}` names nothing that was described before it")
        return found


def _effects(path: Path, name: str, body: Any) -> dict[str, Effect]:
    if body is None:
        return {}
    if not isinstance(body, dict):
        raise CatalogueError(f"{path}: {name}: methods and attributes are mappings from a name to what it does")
    found: dict[str, Effect] = {}
    for names, effect in body.items():
        for one in str(names).replace(",", " ").split():
            if one.strip("\"'") != one:
                raise CatalogueError(
                    f"{path}: {name}: the quotes of {one} would be part of the name; quote all or none"
                )
            found[one] = _effect(path, f"{name}.{one}", effect)
    return found


def _effect(path: Path, where: str, body: Any) -> Effect:
    if not isinstance(body, dict):
        raise CatalogueError(f"{path}: {where}: expected a mapping such as {{gives: input}}")
    _check_keys(path, where, body, EFFECT_KEYS)
    verbs = [verb for verb in body if verb in VERBS]
    if len(verbs) != 1:
        raise CatalogueError(
            f"{path}: {where}: needs exactly one of {', '.join(sorted(VERBS))}; found {verbs or 'none'}"
        )
    verb, what = verbs[0], str(body[verbs[0]])
    if what not in OBJECTS.get(verb, (what,)):
        raise CatalogueError(f"{path}: {where}: `{verb}: {what}`: expected one of {', '.join(sorted(OBJECTS[verb]))}")
    return Effect(verb, what, {k: v for k, v in body.items() if k != verb})


def _check_keys(path: Path, where: str, body: Mapping[str, Any], allowed: frozenset[str]) -> None:
    for key in body:
        if key not in allowed:
            raise CatalogueError(f"{path}: {where}: unknown key {key!r}; allowed are {', '.join(sorted(allowed))}")


@cache
def load_rules(own: tuple[str, ...] = ()) -> Rules:
    """The shipped rules and the user's own files (paths). Raises CatalogueError, which names the file and the key.

    The shipped files are read in the order of their names, those that others build on first: `is:` names what is known.
    """
    shipped = (rules_directory() / "python").glob("*.yaml")
    first = [f"{name}.yaml" for name in ("stdlib", "starlette")]
    ordered = sorted(shipped, key=lambda p: (first.index(p.name) if p.name in first else len(first), p.name))
    return Rules([*ordered, *map(Path, own)])
