"""The command line: one function a command. All that is slow to import is imported where it is used."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from sselint import __version__, terminal
from sselint.findings import Policy, Severity
from sselint.settings import Settings, SettingsError, load_settings, parse_assumptions

if TYPE_CHECKING:
    from sselint.deployment import Audit

CHECK_FORMATS = ("text", "json")
FACTS_FORMATS = ("text", "json")
USAGE, UNANALYSED = 2, 3


class Commands(click.Group):
    """The group of commands; what is no command is answered with the one to use."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with a hint where the first word is a path, or nearly a command."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            word = args[0] if args else ""
            if word.startswith("-"):
                raise
            if Path(word).exists():
                raise click.UsageError(f"`{word}` is not a command; write `sselint check {word}`", ctx) from error
            from sselint.toml_table import did_you_mean

            hint = did_you_mean(word, self.list_commands(ctx))
            raise click.UsageError(f"there is no command `{word}`; {hint}", ctx) from error


def main() -> NoReturn:
    """Runs the command line and exits: 0 clean, 1 findings, 2 usage or settings, 3 something was not analysed."""
    from sselint.catalogue import CatalogueError

    terminal.accept_any_text()
    try:
        code = commands.main(standalone_mode=False, prog_name="sselint")
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except click.Abort:
        _complain("stopped")
        code = 130
    except SettingsError as error:
        _complain(error.what, error.where, error.instead)
        code = USAGE
    except CatalogueError as error:
        _complain(str(error), instead="correct the rules file, or leave it out of `rules` in the settings")
        code = USAGE
    except BrokenPipeError:
        code = 0
    except OSError as error:
        _complain(error.strerror or str(error), str(error.filename or ""), "make it accessible, or exclude it")
        code = USAGE
    except Exception as error:
        if os.environ.get("SSELINT_TRACEBACK"):
            raise
        _complain(
            f"a fault of sselint: {type(error).__name__}: {error}",
            instead="run it again with SSELINT_TRACEBACK=1 and report what it prints",
        )
        code = UNANALYSED
    sys.exit(code if isinstance(code, int) else 0)


def _complain(what: str, where: str = "", instead: str = "") -> None:
    """What happened, where, and what to do, on standard error."""
    tell = terminal.progress()
    if tell:
        tell("")
    click.echo(f"sselint: {what}", err=True)
    if where:
        click.echo(f"  in {where}", err=True)
    if instead:
        click.echo(f"  {instead}", err=True)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with `sselint check` in the folder that holds the server and the balancer's configuration. Exit: "
    "0 clean, 1 findings, 2 usage or settings, 3 something that a deployment needs could not be analysed.",
)
@click.version_option(__version__, "--version", prog_name="sselint", message="%(prog)s %(version)s")
def commands() -> None:
    """Finds deployments in which a resumed Server-Sent Events stream silently continues as another one.

    Reads the server's Python, the balancer's configuration and the files that say how many processes run, joins them,
    and shows either the shortest sequence of events that corrupts the stream or the policy that keeps it correct.
    Nothing in the tree is executed, and nothing leaves the machine.
    """


def _paths_argument(function: Any) -> Any:
    return click.argument("paths", nargs=-1, type=click.Path(path_type=Path))(function)


def _format_option(known: Sequence[str]) -> Callable[[Any], Any]:
    return click.option(
        "--format",
        "formats",
        multiple=True,
        default=("text",),
        metavar="NAME[=FILE]",
        help=f"How to report: {', '.join(known)}. Repeatable; with =FILE into a file.",
    )


def _shared_options(function: Any) -> Any:
    """Options of the commands that read a tree."""
    options = (
        click.option("--assume", "assume", multiple=True, metavar="KEY=VALUE,...", help=_ASSUME_HELP),
        click.option(
            "--facts",
            "facts_files",
            multiple=True,
            metavar="FILE",
            type=click.Path(path_type=Path),
            help="Facts of a server in another repository, as `sselint facts --format json` wrote them there.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


_ASSUME_HELP = (
    "Take something for granted in this run: replicas=3 where the tree leaves the number open, "
    "ids=counter,unknown=tolerant for the server behind routes that have none."
)


@commands.command(short_help="Judge every deployment under PATHS.")
@_paths_argument
@_format_option(CHECK_FORMATS)
@click.option("--policy", type=click.Choice([p.value for p in Policy]), help="The policy that deployments must keep.")
@click.option(
    "--fail-on", type=click.Choice([s.value for s in Severity]), help="Exit 1 from this severity on (default: error)."
)
@click.option("--fail-on-unknown", is_flag=True, help="Exit 1 for a verdict of unknown (SSE004) too.")
@_shared_options
@click.option("--exit-zero", is_flag=True, help="Exit 0 whatever is found.")
@click.option("--show-suppressed", is_flag=True, help="List the findings that are suppressed, with their reasons.")
@click.option("--statistics", is_flag=True, help="Count verdicts, codes and files.")
def check(
    paths: tuple[Path, ...],
    formats: tuple[str, ...],
    policy: str | None,
    fail_on: str | None,
    fail_on_unknown: bool,
    assume: tuple[str, ...],
    facts_files: tuple[Path, ...],
    exit_zero: bool,
    show_suppressed: bool,
    statistics: bool,
) -> int:
    """Judge every deployment under PATHS (default: the current folder).

    A folder is read and reported. A file narrows what is reported; what is read is its root, the nearest folder above
    with settings or .git.
    """
    targets = _targets(formats, CHECK_FORMATS)
    settings = _settings(paths, assume, facts_files)
    settings = replace(
        settings,
        policy=Policy(policy) if policy else settings.policy,
        fail_on=Severity(fail_on) if fail_on else settings.fail_on,
        fail_on_unknown=fail_on_unknown or settings.fail_on_unknown,
        exit_zero=exit_zero,
    )
    from sselint.judge import judge

    report = judge(_audit(paths, settings), settings)
    from sselint.report import Options, render_check

    for name, target in targets:
        options = Options(
            root=settings.root,
            width=terminal.width() if target is None else 100,
            colour=target is None and terminal.shows_colour(sys.stdout),
            show_suppressed=show_suppressed,
            statistics=statistics,
        )
        terminal.write(render_check(name, report, options), target)
    return report.exit


@commands.command(short_help="Show what was understood under PATHS, and why.")
@_paths_argument
@_format_option(FACTS_FORMATS)
@_shared_options
def facts(
    paths: tuple[Path, ...], formats: tuple[str, ...], assume: tuple[str, ...], facts_files: tuple[Path, ...]
) -> int:
    """Show what was understood under PATHS, and why: streams, routes, pools, and what was linked to what.

    Nothing is judged: the exit code is 0, or 3 where something that a deployment needs could not be analysed.
    """
    targets = _targets(formats, FACTS_FORMATS)
    settings = _settings(paths, assume, facts_files)
    audit = _audit(paths, settings)
    from sselint.report import Options, render_facts

    for name, target in targets:
        colour = target is None and terminal.shows_colour(sys.stdout)
        options = Options(settings.root, terminal.width() if target is None else 100, colour)
        terminal.write(render_facts(name, audit, options), target)
    from sselint.judge import is_incomplete

    return UNANALYSED if is_incomplete(audit.files, settings) else 0


@commands.command(short_help="List all codes.")
def rules() -> int:
    """List all codes, with their severity at its worst and what they say."""
    from sselint.report.explain import render_rules

    terminal.write(render_rules(terminal.width(), terminal.shows_colour(sys.stdout)), None)
    return 0


@commands.command(short_help="Say what a code means and how to mend it.")
@click.argument("code")
def explain(code: str) -> int:
    """Say what CODE (SSE101, or its name) means, why it matters, and how to mend it under each policy."""
    from sselint.report.explain import render_explanation

    terminal.write(render_explanation(code, terminal.width(), terminal.shows_colour(sys.stdout)), None)
    return 0


def _settings(paths: Sequence[Path], assume: Sequence[str], facts_files: Sequence[Path]) -> Settings:
    """The settings of the root, with what the options of every reading command add."""
    settings = load_settings(paths)
    if assume:
        settings = replace(settings, assume=parse_assumptions(assume))
    if facts_files:
        settings = replace(settings, facts_files=tuple(facts_files))
    return settings


def _audit(paths: Sequence[Path], settings: Settings) -> Audit:
    from sselint.pipeline import audit

    tell = terminal.progress()
    try:
        return audit(paths, settings, tell)
    finally:
        if tell:
            tell("")


def _targets(formats: Sequence[str], known: Sequence[str]) -> list[tuple[str, str | None]]:
    """Format names with the file that each goes to; None is standard output, which only one may have."""
    targets = []
    for text in formats:
        name, equals, file = text.partition("=")
        if name not in known:
            from sselint.toml_table import did_you_mean

            raise SettingsError(f"there is no format `{name}`", "--format", did_you_mean(name, known))
        if equals and not file:
            raise SettingsError(f"`{text}` names no file", "--format", f"write {name}=FILE, or {name} alone")
        targets.append((name, file or None))
    if sum(file is None for _, file in targets) > 1:
        raise SettingsError(
            "two formats would go to standard output", "--format", f"give one a file: --format {targets[-1][0]}=FILE"
        )
    return targets
