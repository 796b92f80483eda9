"""Writes `docs/rules.md` from `rules/findings/`: `python docs/rules_page.py`. A test holds that it is up to date."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sselint.catalogue import FindingRule, finding_rules
from sselint.report.explain import GROUPS
from sselint.report.words import verdict_words

PAGE = Path(__file__).parent / "rules.md"


def page() -> str:
    """The page: a table of all codes, then a section for each."""
    rules = finding_rules().values()
    lines = [
        "# Rules",
        "",
        "Generated from `rules/findings/`; `sselint explain CODE` shows the same in a terminal. The severity in",
        "a table is the worst: a part (SSE1xx to SSE6xx) is reported at the severity that its deployment gives it,",
        "and in a deployment that is safe it is silent or a note.",
    ]
    for prefix, title in GROUPS.items():
        lines += ["", f"## {title}", "", "| code | name | at worst | what it says |", "|---|---|---|---|"]
        for rule in rules:
            if rule.code.startswith(prefix):
                link = f"[{rule.code}](#{rule.code.lower()})"
                lines.append(f"| {link} | `{rule.name}` | {rule.worst.value} | {rule.title} |")
    for rule in rules:
        lines += ["", *_section(rule)]
    return "\n".join(lines) + "\n"


def _section(rule: FindingRule) -> Iterator[str]:
    yield f'<a id="{rule.code.lower()}"></a>'
    yield ""
    yield f"## {rule.code} {rule.title}"
    yield ""
    yield _unwrapped(rule.what)
    yield ""
    yield f"**Why it matters.** {_unwrapped(rule.why)}"
    yield ""
    grades = ", ".join(f"{severity.value} ({where})" for where, severity in rule.severity.items())
    yield f"**How severe.** {grades}."
    yield ""
    yield "**What to do.**"
    yield ""
    for policy, fix in rule.fix.items():
        stands = "; the finding contradicts it" if rule.policies[policy] == "contradicts" else ""
        yield f"- {verdict_words(policy)}{stands}: {_unwrapped(fix)}"
    for title, example in (("Bad", rule.bad), ("Good", rule.good)):
        yield ""
        yield f"{title}:"
        yield ""
        yield f"```{example.language}"
        yield example.text
        yield "```"
    yield ""
    yield "Shown by " + ", ".join(_proof(reference) for reference in (rule.premise, *rule.claims)) + "."


def _unwrapped(text: str) -> str:
    return " ".join(text.split())


def _proof(reference: str) -> str:
    return f"<{reference}>" if reference.startswith("https://") else f"`{reference}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
