"""One renderer a format. A renderer is imported when its format is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sselint.deployment import Audit
    from sselint.findings import Report


@dataclass(frozen=True)
class Options:
    """How to write. `root` is where code frames are read from; `width` is in cells of a terminal."""

    root: Path
    width: int = 80
    colour: bool = False
    show_suppressed: bool = False
    statistics: bool = False


def render_check(name: str, report: Report, options: Options) -> str:
    """The report in the format `name`. Raises KeyError for a format that is not known."""
    if name == "json":
        from sselint.report.check_json import render_check_json

        return render_check_json(report)
    if name == "text":
        from sselint.report.text import render_text

        return render_text(report, options)
    raise KeyError(name)


def render_facts(name: str, audit: Audit, options: Options) -> str:
    """The facts in the format `name`. Raises KeyError for a format that is not known."""
    if name == "json":
        from sselint.report.facts_json import render_facts_json

        return render_facts_json(audit)
    if name == "text":
        from sselint.report.facts_text import render_facts_text

        return render_facts_text(audit, options)
    raise KeyError(name)
