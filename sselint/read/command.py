"""Command lines: which server they start, for which application, in how many worker processes.

One reader for every place that holds a command: Kubernetes, compose, Dockerfile, Procfile, supervisord, systemd,
Terraform. What is known of the servers is in `rules/commands/servers.yaml`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from sselint.catalogue import load_yaml, rules_directory
from sselint.facts import Count
from sselint.read import shell, worker_number
from sselint.source import Tree

MAX_DEPTH = 6
"""Shells in shells and scripts that call scripts."""

TEMPLATED = "$(template)"
"""Stands for a word that a template makes: like a command substitution, it is one word of unknown content."""

_COMPOUND = frozenset({"then", "else", "do", "{", "}", "!", "fi", "done", "exec", "time"})
_HEADS = frozenset({"if", "for", "case", "function"})
_MODULE = re.compile(r"[A-Za-z_][\w.]*(:[A-Za-z_][\w.]*(\(.*\))?)?")
_ARITHMETIC = re.compile(r"\$\(\((.*)\)\)", re.DOTALL)


@dataclass(frozen=True)
class Command:
    """What a command line starts.

    `words` are the server and its arguments, wrappers and shells taken off. `program` is the server's name in the
    rules, None where it is none of them. `starts` is `module:attribute`, the path of a script (`app.py`) or the module
    after `python -m`. `workers` is None where the command does not decide it (a script of one's own). `config_file` is
    the file that decided the workers, as a path of the tree.
    """

    words: tuple[str, ...] = ()
    program: str | None = None
    starts: str | None = None
    app_directory: str | None = None
    workers: Count | None = None
    config_file: str | None = None
    environment: tuple[tuple[str, str | None], ...] = ()

    @property
    def serves(self) -> bool:
        """Whether a server of the rules is started."""
        return self.program is not None


Environment = worker_number.Environment
FindFile = Callable[[str], "tuple[str, str] | None"]
"""From a name as a command line writes it to (path in the tree, text)."""


def no_files(name: str) -> None:
    """For commands without a tree: no file is found."""


def files_near(tree: Tree, folders: Sequence[str], working_directory: str | None = None) -> FindFile:
    """Finds files that a command names: relative to the folders in turn; an absolute path also without the image's
    working directory in front, since that is where the sources are copied to."""

    def find(name: str) -> tuple[str, str] | None:
        names = [name]
        if name.startswith("/"):
            base = (working_directory or "").rstrip("/")
            names = [name[len(base) + 1 :]] if base and name.startswith(base + "/") else []
            names += ["/".join(PurePosixPath(name).parts[n:]) for n in (2, 1, 3)]
        for folder in folders:
            for candidate in filter(None, names):
                path = join(folder, candidate)
                if path in tree.known:
                    try:
                        return path, tree.text(path)[: shell.MAX_CHARACTERS]
                    except OSError:
                        return None
        return None

    return find


def read(
    words: Sequence[str] | str,
    environment: Environment | None = None,
    find_file: FindFile = no_files,
) -> Command:
    """What a command starts. Text is shell text; a sequence of words is a command that no shell reads.

    `environment` are the variables that are known to be set for it (None: to something unknown).
    """
    reader = _Reader(find_file)
    known = dict(environment or {})
    if isinstance(words, str):
        return reader.script(words, known, 0)
    return reader.words(list(words), known, 0)


@cache
def rules() -> Mapping[str, Any]:
    """What is known of servers and their command lines. Raises CatalogueError."""
    document: Mapping[str, Any] = load_yaml(rules_directory() / "commands" / "servers.yaml")
    return document


@dataclass(frozen=True)
class _Reader:
    find_file: FindFile

    # -- down to the server's own words --------------------------------------------------------------------------------

    def script(self, text: str, environment: dict[str, str | None], depth: int) -> Command:
        """The command of a shell text that serves; else the last that starts an application of any kind.

        Where several serve (the branches of an `if`), it is the last, with the workers of any.
        """
        best, folder = Command(), ""
        environment = dict(environment)
        for words in shell.commands(text):
            words = _without_prefix_keywords(words)
            if not words:
                continue
            if words[0] in ("export", "set", "declare") or all(shell.ASSIGNMENT.fullmatch(w) for w in words):
                _assign(words, environment)
            elif words[0] == "cd" and len(words) > 1:
                folder = _cd(folder, words[1])
            else:
                found = _in_folder(self.words(words, environment, depth), folder)
                if found.serves and best.serves:
                    best = replace(found, workers=_either(best.workers, found.workers))
                elif found.serves or (found.starts and not best.serves) or not best.words:
                    best = found
        return best

    def words(self, words: list[str], environment: dict[str, str | None], depth: int) -> Command:
        """The command of a list of words: assignments, wrappers and shells in front of a server are passed over."""
        set_here: dict[str, str | None] = {}
        for position, word in enumerate(words):
            assigned = shell.ASSIGNMENT.fullmatch(word)
            if assigned:
                set_here[assigned.group(1)] = shell.expand(assigned.group(2), environment)[0]
                continue
            found = self._at(words[position:], {**environment, **set_here}, depth)
            if found is not None:
                return replace(found, environment=(*set_here.items(), *found.environment))
            if PurePosixPath(word).name in rules()["never_start"]:
                break
        return Command(words=tuple(words))

    def _at(self, words: list[str], environment: dict[str, str | None], depth: int) -> Command | None:
        """What the first word starts, None if it is a wrapper or an argument of one."""
        program = PurePosixPath(words[0]).name
        if program in rules()["servers"]:
            return self._server(program, words, environment)
        if program in rules()["shells"]:
            return self._shell(words, environment, depth)
        if _is_python(program):
            return self._python(words, environment, depth)
        if words[0].endswith((".sh", ".bash")) or words[0].startswith("./"):
            return self._shell_script(words[0], words[1:], environment, depth)
        return None

    def _shell(self, words: list[str], environment: dict[str, str | None], depth: int) -> Command | None:
        for position, word in enumerate(words[1:], 1):
            if word.startswith("-") and not word.startswith("--") and "c" in word:
                if position + 1 < len(words) and depth < MAX_DEPTH:
                    return self.script(words[position + 1], environment, depth + 1)
                return Command(words=tuple(words))
            if not word.startswith("-"):
                return self._shell_script(word, words[position + 1 :], environment, depth)
        return None

    def _shell_script(
        self, name: str, arguments: list[str], environment: dict[str, str | None], depth: int
    ) -> Command | None:
        """What a script of the tree starts. `exec "$@"` starts its arguments."""
        found = self.find_file(name)
        if found is None or depth >= MAX_DEPTH:
            return None
        command = self.script(found[1], environment, depth + 1)
        if not command.serves and arguments and re.search(r'exec\s+[^\n]*"?\$[@*]', found[1]):
            return None
        return replace(command, config_file=command.config_file or found[0]) if command.words else None

    def _python(self, words: list[str], environment: dict[str, str | None], depth: int) -> Command | None:
        arguments = words[1:]
        while arguments and arguments[0].startswith("-") and arguments[0] not in ("-m", "-c", "-"):
            arguments = arguments[2:] if arguments[0] in ("-W", "-X") else arguments[1:]
        if not arguments or arguments[0] in ("-c", "-"):
            return Command(words=tuple(words))
        if arguments[0].startswith("-m"):
            module = arguments[1] if arguments[0] == "-m" and len(arguments) > 1 else arguments[0][2:]
            rest = arguments[2:] if arguments[0] == "-m" else arguments[1:]
            inner = self._at([module, *rest], environment, depth) if module else None
            if inner is None and rest and PurePosixPath(module).name not in rules()["never_start"]:
                inner = next((c for n in range(len(rest)) if (c := self._at(rest[n:], environment, depth))), None)
            return inner or Command(words=tuple(words), starts=module or None)
        single = rules()["single_process_scripts"].get(PurePosixPath(arguments[0]).name)
        if single is not None:
            serves = len(arguments) > 1 and arguments[1] in single
            workers = Count.exactly(1, f"{arguments[1]} is one process") if serves else None
            return Command(tuple(words), starts=arguments[0], workers=workers)
        server = PurePosixPath(arguments[0]).name in rules()["servers"]
        inner = self._at(arguments, environment, depth) if server else None
        return inner or Command(words=tuple(words), starts=arguments[0])

    # -- a server's arguments ------------------------------------------------------------------------------------------

    def _server(self, program: str, words: list[str], environment: dict[str, str | None]) -> Command | None:
        server = rules()["servers"][program]
        arguments = _Arguments.parse(words[1:], server, environment)
        positional = list(arguments.positional)
        if "subcommands" in server:
            if not positional or positional[0] not in server["subcommands"]:
                return None
            positional.pop(0)
        directory = arguments.value(server.get("app_directory", ()))
        config = self._config(server, arguments, environment, directory)
        starts = _application(server, arguments, positional, environment) or (config.starts if config else None)
        workers = _workers(program, server, arguments, config, environment)
        return Command(
            words=tuple(words),
            program=program,
            starts=starts,
            app_directory=directory or (config.app_directory if config else None),
            workers=workers,
            config_file=config.path if config else None,
        )

    def _config(
        self, server: Mapping[str, Any], arguments: _Arguments, environment: Environment, directory: str | None
    ) -> _Config | None:
        """The configuration file that the command reads, with what it says; one that is not in the tree says so."""
        rule = server.get("config")
        if not rule:
            return None
        named = arguments.value(rule["options"])
        name = named or rule.get("automatic")
        if not name:
            return None
        name = name.removeprefix("file:")
        if name.startswith("python:"):
            name = name.removeprefix("python:").replace(".", "/") + ".py"
        found = self.find_file(join(directory, name) if directory and not named else name)
        if found is None:
            return _Config(None, missing=named) if named else None
        if not found[0].endswith(".py"):
            return _Config(found[0], missing=named)
        from sselint.read import gunicorn

        settings = gunicorn.settings(found[1], environment)
        if settings is None:
            return _Config(found[0], missing=named)
        return _Config(found[0], settings.workers, settings.application, settings.folder)


@dataclass(frozen=True)
class _Config:
    """What a server's configuration file says; `missing` is its name where it could not be read."""

    path: str | None
    workers: Count | None = None
    starts: str | None = None
    app_directory: str | None = None
    missing: str | None = None


@dataclass(frozen=True)
class _Arguments:
    """Options with their values (None for flags) and the positional words. `weak` come from an environment variable."""

    options: tuple[tuple[str, str | None], ...]
    positional: tuple[str, ...]
    weak: tuple[tuple[str, str | None], ...] = ()

    @classmethod
    def parse(cls, words: Sequence[str], server: Mapping[str, Any], environment: Environment) -> _Arguments:
        flags = frozenset(server.get("flags", ()))
        options, positional = _parsed(words, flags)
        extra = server.get("extra_arguments")
        more = environment.get(extra) if extra else None
        weak = _parsed(shell.split(more), flags)[0] if more else []
        return cls(tuple(options), tuple(positional), tuple(weak))

    def value(self, names: Sequence[str], weak: bool = True) -> str | None:
        """The value of the last of these options: the command line's before the environment's."""
        for options in (self.options, self.weak if weak else ()):
            found = [v for o, v in options if o in names]
            if found:
                return found[-1]
        return None

    def has(self, names: Sequence[str]) -> bool:
        """Whether one of these flags is given."""
        return any(o in names for o, _ in (*self.options, *self.weak))


def _parsed(words: Sequence[str], flags: frozenset[str]) -> tuple[list[tuple[str, str | None]], list[str]]:
    options: list[tuple[str, str | None]] = []
    positional: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            positional.extend(rest)
        elif re.match(r"\d*[<>]", word):
            break
        elif word in flags:
            options.append((word, None))
        elif word.startswith("--") and "=" in word:
            name, _, value = word.partition("=")
            options.append((name, value))
        elif word.startswith("--") or (len(word) == 2 and word[0] == "-"):
            options.append((word, next(rest, None)))
        elif word.startswith("-") and len(word) > 2:
            options.append((word[:2], word[2:].removeprefix("=")))
        else:
            positional.append(word)
    return options, positional


def _application(
    server: Mapping[str, Any], arguments: _Arguments, positional: Sequence[str], environment: Environment
) -> str | None:
    how = server["application"]
    named = arguments.value(server.get("options", ()))
    if how == "positional":
        named = next((w for w in positional if _MODULE.fullmatch(_expanded(w, environment))), None)
    elif how == "script":
        named = named or next(iter(positional), None)
    variable = server.get("application_environment")
    if named is None and variable:
        named = environment.get(variable)
    if named is None:
        return None
    named = _expanded(named, environment).strip("\"'")
    attribute = server.get("attribute")
    return named if ":" in named or not attribute or named.endswith(".py") else f"{named}:{attribute}"


def _expanded(word: str, environment: Environment) -> str:
    return shell.expand(word, environment)[0] or word


def _workers(
    program: str,
    server: Mapping[str, Any],
    arguments: _Arguments,
    config: _Config | None,
    environment: Environment,
) -> Count:
    """The number of worker processes, in the server's own order of precedence."""
    rule = server["workers"]
    if arguments.has(server.get("single", ())):
        flag = next(o for o, _ in arguments.options if o in server["single"])
        return Count.exactly(1, f"{program} {flag} is one process")
    option = arguments.value(rule["options"])
    if option is not None:
        return number(option, f"{program} {rule['options'][-1]}", environment)
    if arguments.has(rule.get("once_per_cpu", ())):
        return worker_number.CPUS.count(program)
    if config is not None and config.workers is not None:
        return config.workers
    if config is not None and config.missing:
        return Count.unknown(f"{program} reads {config.missing}, which is not in the tree or not readable")
    for variable in rule.get("environment", ()):
        if variable in environment:
            value = environment[variable]
            if value is None:
                return Count.unknown(f"{variable} is set, to what is not known")
            return number(value, variable, environment)
    return Count.exactly(int(rule["default"]), f"{program} starts one worker by default")


def number(text: str, what: str, environment: Environment) -> Count:
    """How many processes the text of an option or variable stands for: a number, `$(nproc)`, `${WORKERS:-4}`."""
    plain = worker_number.of_text(text)
    if plain is not None:
        why = f"{what} is {text}"
        return Count.exactly(int(plain.low), why) if plain.low > 0 else Count.unknown(why)
    cpus = _cpus_replaced(text)
    arithmetic = _ARITHMETIC.fullmatch(cpus.strip())
    expanded, why = shell.expand(arithmetic.group(1) if arithmetic else cpus, environment)
    if expanded is None:
        return Count.unknown(f"{what}: {why or text}")
    try:
        tree = ast.parse(expanded.strip() or "0", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Count.unknown(f"{what} {text}")
    interval = worker_number.evaluate(tree, {}, environment)
    return Count(interval.count("").low, interval.count("").high, f"{what}: {why or interval.why or text}")


def _cpus_replaced(text: str) -> str:
    for command in rules()["cpus"]:
        text = text.replace(f"$({command})", " cpu_count() ").replace(f"`{command}`", " cpu_count() ")
    return text


# -- small things ------------------------------------------------------------------------------------------------------


def _is_python(program: str) -> bool:
    return program in rules()["python"] or re.fullmatch(r"python3\.\d+", program) is not None


def _without_prefix_keywords(words: list[str]) -> list[str]:
    """Without the words of compound commands that may stand in front of a simple one."""
    position = 0
    while position < len(words) and words[position] in _COMPOUND:
        position += 1
    return [] if position < len(words) and words[position] in _HEADS else words[position:]


def _assign(words: Sequence[str], environment: dict[str, str | None]) -> None:
    for word in words:
        assigned = shell.ASSIGNMENT.fullmatch(word)
        if assigned:
            environment[assigned.group(1)] = shell.expand(assigned.group(2), environment)[0]


def _either(one: Count | None, other: Count | None) -> Count | None:
    if one is None or other is None or (one.low, one.high) == (other.low, other.high):
        return other
    high = None if one.high is None or other.high is None else max(one.high, other.high)
    return Count(min(one.low, other.low), high, f"{one.why} or {other.why}")


def _cd(folder: str, name: str) -> str:
    return name if name.startswith("/") else join(folder or ".", name)


def _in_folder(command: Command, folder: str) -> Command:
    if not folder or command.app_directory:
        return command
    return replace(command, app_directory=folder)


def join(folder: str | None, name: str) -> str:
    """A path in a folder, both relative to the root; `..` never leads outside."""
    parts: list[str] = []
    for part in PurePosixPath(folder or ".", name).parts:
        if part == "..":
            parts = parts[:-1]
        elif part not in (".", "/"):
            parts.append(part)
    return "/".join(parts)
