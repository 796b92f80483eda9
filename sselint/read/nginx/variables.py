"""What a value with variables can become: `map`, `geo`, `split_clients` and `set` followed to what a request brings.

nginx evaluates these per request. For routing two things matter: the values an expression can take (which upstream),
and the request properties it rests on (the key). Both come from walking the definitions; what nobody defines (a module,
Lua, a shell template) stays unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sselint.read.nginx.parser import Directive, Word
from sselint.read.nginx.scopes import Scope

ANY = "\uffff"
"""Stands in a choice's text for a part that only a request decides."""

CHOICE_BUDGET = 2_000
DEPTH_BUDGET = 12

_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_NUMBERED = re.compile(r"(?<!\\)\((?!\?[^P<]|\?<[=!])")
_CAPTURE = re.compile(r"\(\?P?<(\w+)>")
_DEFINED_ELSEWHERE = (
    "set_by_lua",
    "set_by_lua_block",
    "set_by_lua_file",
    "auth_request_set",
    "js_set",
    "perl_set",
    "js_var",
)
_PATHS = frozenset({"uri", "document_uri", "request_uri"})
"""Variables whose value begins with a slash: what stands before one in a pass is the whole authority."""

_GEO_OPTIONS = frozenset({"delete", "proxy", "proxy_recursive", "ranges", "include", "volatile", "hostnames"})


@dataclass(frozen=True)
class Choice:
    """One value that an expression can take. `default` is True where it is taken without a key, or with one that no
    entry names; `via` is the entry that gives it, None for a value that always holds."""

    text: str
    default: bool = False
    via: Directive | None = None
    masked: bool = False


@dataclass(frozen=True)
class Value:
    """All that an expression can become. `leaves` are the request variables it rests on, `chosen_by` those among them
    that select one of several choices, `how` the directives (map, geo, split_clients, if) that select."""

    choices: tuple[Choice, ...]
    leaves: frozenset[str] = frozenset()
    chosen_by: frozenset[str] = frozenset()
    how: tuple[Directive, ...] = ()


@dataclass
class Variables:
    """The variable definitions of a configuration. `tables` are map, geo and split_clients blocks by variable."""

    tables: dict[str, list[Directive]] = field(default_factory=dict)
    _known: dict[tuple[str, int], tuple[Scope, Value]] = field(default_factory=dict, repr=False)
    """Values by variable and scope; the scope is kept, so that its id stays its own."""

    def learn(self, directives: Iterable[Directive]) -> None:
        """Takes up the tables among these directives."""
        for directive in directives:
            if directive.name in ("map", "geo", "split_clients") and directive.block is not None and directive.args:
                self.tables.setdefault(directive.args[-1].lstrip("$"), []).append(directive)

    def value(self, text: str, scope: Scope, within: frozenset[str] = frozenset()) -> Value:
        """What `text` can become in a scope. Never raises; what is over budget is unknown.

        `within` are the variables that are being followed: one that needs itself is unknown, as nginx refuses it too.
        """
        if "$" not in text:
            return Value((Choice(text),))
        result = Value((Choice(""),))
        position = 0
        for match in _VARIABLE.finditer(text):
            result = _joined(result, Value((Choice(text[position : match.start()]),)))
            result = _joined(result, self.variable(match[1] or match[2], scope, within))
            position = match.end()
        return _joined(result, Value((Choice(text[position:]),)))

    def variable(self, name: str, scope: Scope, within: frozenset[str] = frozenset()) -> Value:
        """What `$name` can become in a scope."""
        if name in within or len(within) > DEPTH_BUDGET:
            return Value((Choice(ANY),))
        known = self._known.get((name, id(scope)))
        if known is None:
            known = (scope, self._follow(name, scope, within | {name}))
            self._known[name, id(scope)] = known
        return known[1]

    def leaves(self, text: str, scope: Scope) -> frozenset[str]:
        """The request variables that an expression rests on, those that select between its values included."""
        value = self.value(text, scope)
        return value.leaves | value.chosen_by

    def _follow(self, name: str, scope: Scope, within: frozenset[str]) -> Value:
        if sets := _sets_of(name, scope):
            return self._of_sets(sets, scope, within)
        if tables := self.tables.get(name):
            return self._of_table(tables[-1], scope, within)
        if captured := _captured_from(name, scope):
            return Value((Choice(ANY),), captured)
        begins = "/" if name.lower() in _PATHS else ""
        return Value((Choice(begins + ANY),), frozenset({name}))

    def _of_sets(self, sets: list[tuple[Directive, Directive | None]], scope: Scope, within: frozenset[str]) -> Value:
        """The union of all `set`s; one under an `if` is chosen by what the condition reads."""
        choices: list[Choice] = []
        leaves: set[str] = set()
        chosen: set[str] = set()
        how: list[Directive] = []
        conditional = any(condition is not None for _, condition in sets)
        for directive, condition in sets:
            if directive.name != "set":
                choices.append(Choice(ANY, via=directive))
                leaves.add(directive.name)
                continue
            value = self.value(directive.args[1], scope, within)
            default = conditional and condition is None
            masked = directive.word_masked(directive.words[2])
            choices += [
                Choice(c.text, c.default or default, c.via or directive, c.masked or masked) for c in value.choices
            ]
            leaves |= value.leaves
            chosen |= value.chosen_by
            how += value.how
            if condition is not None:
                chosen |= {m[1] or m[2] for arg in condition.args for m in _VARIABLE.finditer(arg)}
                how.append(condition)
        return Value(_unique(choices), frozenset(leaves), frozenset(chosen), tuple(dict.fromkeys(how)))

    def _of_table(self, table: Directive, scope: Scope, within: frozenset[str]) -> Value:
        key = self._key(table, scope, within)
        captures = _captures(table)
        choices: list[Choice] = []
        leaves: set[str] = set()
        chosen = set(key.leaves | key.chosen_by)
        has_default = False
        for entry in table.block or ():
            if entry.name in _GEO_OPTIONS and table.name != "split_clients" and entry.name != "default":
                if entry.name == "include":
                    choices.append(Choice(ANY, via=entry))
                continue
            has_default |= entry.name == ("*" if table.name == "split_clients" else "default")
            value = self._entry_value(entry, table, scope, within)
            choices += _choices_of(entry, value)
            leaves |= value.leaves - captures
            chosen |= value.chosen_by
        if not has_default:
            choices.append(Choice("", default=True, via=table))
        return Value(_unique(choices), frozenset(leaves), frozenset(chosen), (table,))

    def _entry_value(self, entry: Directive, table: Directive, scope: Scope, within: frozenset[str]) -> Value:
        if not entry.args:
            return Value((Choice(""),))
        if table.name == "map":
            return self.value(entry.args[0], scope, within)
        return Value((Choice(entry.args[0]),))

    def _key(self, table: Directive, scope: Scope, within: frozenset[str]) -> Value:
        if table.name == "geo" and len(table.args) < 2:
            return Value((Choice(ANY),), frozenset({"remote_addr"}))
        return self.value(table.args[0], scope, within)


def _choices_of(entry: Directive, value: Value) -> Iterator[Choice]:
    """What an entry of a table gives, with the entry as the place."""
    default = entry.name in ("default", "*", "")
    masked = entry.is_masked or entry.in_loop
    for choice in value.choices:
        yield Choice(choice.text, default or choice.default, entry, masked or choice.masked)


def fits(name: str, text: str) -> bool:
    """Whether a choice's text with unknown parts can stand for a name. Each part is one character or more.

    By looking for one written piece after the other: a regular expression could try every way to share out the name.
    """
    first, *others = text.split(ANY)
    if not others:
        return name == text
    if not name.startswith(first):
        return False
    position = len(first)
    for piece in others[:-1]:
        position = name.find(piece, position + 1)
        if position < 0:
            return False
        position += len(piece)
    return len(name) - len(others[-1]) > position and name.endswith(others[-1])


def words_variables(words: Iterable[Word]) -> frozenset[str]:
    """The variables that words mention."""
    return frozenset(m[1] or m[2] for word in words for m in _VARIABLE.finditer(word.text))


def _captures(table: Directive) -> frozenset[str]:
    """The names that regular expressions of a map capture from its source, by number and by name."""
    names = {str(n) for n in range(1, 10)}
    for entry in table.block or ():
        names.update(_CAPTURE.findall(entry.name))
    return frozenset(names)


def _captured_from(name: str, scope: Scope) -> frozenset[str]:
    """The request variables whose value a regular expression around a place takes `$name` (or `$1`) from."""
    for around in scope.chain():
        for directive in (around.directive, *around.own("rewrite", "if")):
            if directive is None or not _captures_name(directive, name, is_sibling=directive is not around.directive):
                continue
            return words_variables(directive.words[1:]) if directive.name == "if" else frozenset({"uri"})
        if any(a.startswith("~") and _has_group(a, name) for d in around.own("server_name") for a in d.args):
            return frozenset({"host"})
    return frozenset()


def _captures_name(directive: Directive, name: str, *, is_sibling: bool) -> bool:
    """Whether a location, rewrite or `if` has a regular expression with that group. A number counts where the directive
    is the block around, or a rewrite, not for an `if` that stands beside."""
    if name.isdigit() and is_sibling and directive.name == "if":
        return False
    is_regex = directive.name != "location" or (bool(directive.args) and directive.args[0].startswith("~"))
    return directive.name in ("location", "rewrite", "if") and is_regex and _has_group(" ".join(directive.args), name)


def _has_group(text: str, name: str) -> bool:
    if name.isdigit():
        return len(_NUMBERED.findall(text)) >= int(name)
    return f"(?<{name}>" in text or f"(?P<{name}>" in text


def _sets_of(name: str, scope: Scope) -> list[tuple[Directive, Directive | None]]:
    """The directives that set a variable here or in a block around, with the `if` they stand in; nearest block only."""
    for around in scope.chain():
        found: list[tuple[Directive, Directive | None]] = []
        for directive in around.own("set", "if", *_DEFINED_ELSEWHERE):
            if _sets(directive, name):
                found.append((directive, None))
            elif directive.name == "if" and directive.block is not None:
                found += [(inner, directive) for inner in directive.block if _sets(inner, name)]
        if found and any(condition is None for _, condition in found):
            return found
        if found:
            outer = _sets_of(name, around.parent) if around.parent else []
            return outer + found
    return []


def _sets(directive: Directive, name: str) -> bool:
    if not directive.args or directive.args[0].lstrip("$") != name:
        return False
    return (directive.name == "set" and len(directive.args) == 2) or directive.name in _DEFINED_ELSEWHERE


def _joined(left: Value, right: Value) -> Value:
    """The concatenation of two expressions."""
    if len(left.choices) * len(right.choices) > CHOICE_BUDGET:
        choices: tuple[Choice, ...] = (Choice(ANY),)
    else:
        choices = _unique(
            Choice(a.text + b.text, a.default or b.default, a.via or b.via, a.masked or b.masked)
            for a in left.choices
            for b in right.choices
        )
    how = tuple(dict.fromkeys(left.how + right.how))
    return Value(choices, left.leaves | right.leaves, left.chosen_by | right.chosen_by, how)


def _unique(choices: Iterable[Choice]) -> tuple[Choice, ...]:
    kept: dict[tuple[str, bool], Choice] = {}
    for choice in choices:
        kept.setdefault((choice.text, choice.default), choice)
    return tuple(kept.values())
