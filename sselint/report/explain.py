"""`sselint rules` and `sselint explain CODE`: the pages of `rules/findings/`, for a terminal."""

from __future__ import annotations

import re

from sselint.catalogue import FindingRule, finding_rules
from sselint.report.layout import Page
from sselint.report.words import verdict_words
from sselint.toml_table import SettingsError, did_you_mean

_NUMBERED = re.compile(r"sse\d+", re.IGNORECASE)
GROUPS = {
    "SSE0": "The deployment",
    "SSE1": "Ids",
    "SSE2": "The cursor",
    "SSE3": "Routes",
    "SSE4": "Processes",
    "SSE5": "Seeing it",
    "SSE6": "What makes reconnects frequent or events late",
    "SSE9": "Inputs",
}


def render_rules(width: int, colour: bool) -> str:
    """All codes, by group."""
    page = Page(width, colour)
    for prefix, title in GROUPS.items():
        page.blank()
        page.line((title, "bold"))
        for rule in finding_rules().values():
            if rule.code.startswith(prefix):
                style = rule.worst.value
                page.paragraph(rule.title, indent=2, first=f"{rule.code}  {style:<8}", first_style=style)
    page.blank()
    page.paragraph(
        "The severity is the worst: each deployment gives its parts their own. `sselint explain CODE` says more."
    )
    return page.text()


def render_explanation(code: str, width: int, colour: bool) -> str:
    """The page of a code, found by the code in any case or by its name. Raises SettingsError for another word."""
    rules = finding_rules()
    names = {rule.name: rule for rule in rules.values()}
    rule = rules.get(code.upper()) or names.get(code.lower())
    if rule is None:
        near = did_you_mean(code, [*rules, *names])
        # A number that no code has is near to every other number, and means none of them.
        guessed = near.count("`") == 2 and not _NUMBERED.fullmatch(code)
        raise SettingsError(f"there is no code `{code}`", "", near if guessed else "`sselint rules` lists the codes")
    page = Page(width, colour)
    _write_rule(page, rule)
    return page.text()


def _write_rule(page: Page, rule: FindingRule) -> None:
    page.line((rule.code, rule.worst.value), " ", (rule.title, "bold"), f" ({rule.name})")
    page.blank()
    page.paragraph(rule.what)
    page.blank()
    page.line(("Why it matters", "bold"))
    page.paragraph(rule.why, indent=2)
    page.blank()
    page.line(("How severe", "bold"))
    for where, severity in rule.severity.items():
        page.line(f"{where:<20}", (severity.value, severity.value), indent=2)
    page.blank()
    page.line(("What to do", "bold"))
    if len(set(rule.fix.values())) == 1 and "contradicts" not in rule.policies.values():
        page.paragraph(next(iter(rule.fix.values())), indent=2)
    else:
        _write_fixes(page, rule)
    for title, example in (("Bad", rule.bad), ("Good", rule.good)):
        page.blank()
        page.line((title, "bold"), f" ({example.language})")
        for line in example.text.splitlines():
            page.line(line, indent=4)
    page.blank()
    page.line(("Shown by", "bold"))
    for proof in (rule.premise, *rule.claims):
        page.line((proof, "dim"), indent=2)


def _write_fixes(page: Page, rule: FindingRule) -> None:
    for policy, fix in rule.fix.items():
        contradicts = rule.policies[policy] == "contradicts"
        page.line((verdict_words(policy), "bold"), ": the finding contradicts it" if contradicts else "", indent=2)
        page.paragraph(fix, indent=4)
