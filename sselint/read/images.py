"""What a container runs: the command of a manifest and that of its image put together.

A manifest's `command` replaces the image's ENTRYPOINT and CMD, its `args` only CMD (Kubernetes, "Define a Command and
Arguments for a Container"); compose's `entrypoint` and `command` likewise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import PurePosixPath

from sselint.catalogue import load_yaml, rules_directory
from sselint.facts import Count, Evidence, Pool, Setting, Span
from sselint.read import command, command_options
from sselint.read.worker_number import of_text
from sselint.source import Tree


def base_command(image: str) -> tuple[str, ...]:
    """What a container of this image runs where nothing says otherwise; empty for images that are not known for it."""
    name = image.split("@")[0].split(":")[0].lower()
    for pattern, text in _serving_images():
        if pattern.fullmatch(name.removeprefix("docker.io/")):
            return ("/bin/sh", "-c", text)
    return ()


@cache
def _serving_images() -> tuple[tuple[re.Pattern[str], str], ...]:
    rules = load_yaml(rules_directory() / "images.yaml")["servers"]
    return tuple((re.compile(rule["image"]), rule["command"]) for rule in rules)


def started(pool: Pool, tree: Tree | None, working_directory: str | None = None) -> Pool:
    """The pool with what its command starts: `starts`, `app_directory`, `workers`, and variables set on the line."""
    if not pool.command:
        return pool
    environment = {s.name: s.value for s in pool.environment}
    folders = _folders(pool)
    find = command.files_near(tree, folders, working_directory) if tree is not None else command.no_files
    found = command.read(pool.command, environment, find)
    here = [Setting(name, value, pool.evidence[:1]) for name, value in found.environment]
    here += command_options.settings_of(found, pool.evidence[:1])
    return replace(
        pool,
        starts=_script_in_tree(found.starts, folders, tree),
        app_directory=found.app_directory,
        environment=_united(here, pool.environment),
        workers=worker_pool(found, pool),
    )


def worker_pool(found: command.Command, pool: Pool) -> Pool | None:
    """The worker processes behind a command's socket; None for exactly one, and where the command does not say."""
    if found.workers is None or found.workers.high == 1:
        return None
    evidence: Evidence = pool.evidence[:1]
    if found.config_file:
        evidence = (Span(found.config_file, 1, 1, 1, 1, "read for the number of workers"), *evidence)
    return Pool(
        path=pool.path,
        line=pool.line,
        format=pool.format,
        kind="workers",
        name=f"{found.program or 'server'} workers of {pool.name}",
        processes=found.workers,
        command=found.words,
        starts=found.starts,
        variant=pool.variant,
        evidence=evidence,
    )


def merge_image(pool: Pool, image: Pool, tree: Tree | None = None) -> Pool:
    """A platform's pool with what its image brings: the command where it has none (or only arguments), environment.

    `image` is the pool of a Dockerfile, or of another file that says how one container starts. The workers follow from
    the command that results, in the environment that results.
    """
    environment = _united(pool.environment, image.environment)
    if image.format != "dockerfile":
        return _merge_start(replace(pool, environment=environment), image)
    merged = replace(pool, environment=environment, dockerfile=pool.dockerfile or image.dockerfile)
    if pool.entrypoint:
        return started(merged, tree)
    words = (*image.entrypoint, *pool.command) if pool.command else image.command
    context = pool.build_context if pool.build_context is not None else image.build_context
    merged = replace(merged, command=words, entrypoint=image.entrypoint, build_context=context)
    return started(merged, tree, image.app_directory)


def _merge_start(pool: Pool, start: Pool) -> Pool:
    """The pool with what a file of the server's own says of its start (`uvicorn.run`, gunicorn.conf.py). A server on
    the command line decides by itself: it never runs the script, and its settings were read with it. A script on the
    command line is not a server whose settings file would count."""
    found = command.read(pool.command, {s.name: s.value for s in pool.environment}, command.no_files)
    is_script = bool(found.starts) and not found.serves
    if found.serves or pool.workers is not None or (is_script and start.format != "python"):
        return replace(pool, starts=pool.starts or start.starts)
    workers = _numbered(start, pool) if start.kind == "workers" else start.workers
    return replace(pool, starts=pool.starts or start.starts, workers=workers)


def _numbered(start: Pool, pool: Pool) -> Pool | None:
    """The workers that a script starts, as many as the pool's environment says; None for one, which is the replica."""
    variable = start.number_from
    if variable is not None:
        setting = next((s for s in pool.environment if s.name == variable.name), None)
        if setting is None and _says_all(pool, variable.name):
            setting = variable
        if setting is not None:
            number = of_text(setting.value or "", f"{variable.name} is {setting.value}")
            unknown = Count.unknown(f"{variable.name} is set, to what is not known")
            evidence = (*start.evidence, *setting.evidence)
            start = replace(start, processes=number.count("workers") if number else unknown, evidence=evidence)
    return None if start.processes.high == 1 else start


def _says_all(pool: Pool, name: str) -> bool:
    """Whether a variable, or an option of the command line, that the pool does not set is not set at all."""
    if name.startswith("-"):
        return any(s.name == command_options.ALL for s in pool.environment)
    return pool.settles_environment


def _united(strong: Sequence[Setting], weak: Sequence[Setting]) -> tuple[Setting, ...]:
    names = {s.name for s in strong}
    return (*strong, *(s for s in weak if s.name not in names))


def _folders(pool: Pool) -> list[str]:
    """Where the files stand that a command names: the build context, the Dockerfile's folder, the pool's own."""
    folders = [pool.build_context, str(PurePosixPath(pool.path).parent)]
    if pool.dockerfile:
        folders.insert(1, str(PurePosixPath(pool.dockerfile).parent))
    return [f for f in dict.fromkeys(folders) if f is not None]


def _script_in_tree(starts: str | None, folders: Sequence[str], tree: Tree | None) -> str | None:
    """A script that is named by a path of the machine it runs on, as the longest end of that path which is a file."""
    if tree is None or not starts or not starts.endswith(".py") or "/" not in starts:
        return starts
    parts = [part for part in PurePosixPath(starts).parts if part != "/"]
    for count in range(len(parts), 0, -1):
        tail = "/".join(parts[-count:])
        if any(command.join(folder, tail) in tree.known for folder in (*folders, ".")):
            return tail
    return starts
