"""Loads the knowledge in `rules/`: data, shipped inside the wheel, extended by the user's own files.

Nothing is loaded before it is asked for, and yaml is imported only then: start-up is part of the design.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sselint.affinity import AffinityRow
from sselint.facts import KeyCarrier, KeyIssuer, Meets, RoutingEvent, Truth
from sselint.findings import Policy, Severity


class CatalogueError(Exception):
    """A rules file that cannot be used: says which file, where in it, and what is expected instead."""


def rules_directory() -> Path:
    """The folder with the shipped rules: inside the installed package, or at the top of a checkout.

    Raises CatalogueError if neither is there (a broken installation).
    """
    package = Path(__file__).resolve().parent
    for candidate in (package / "rules", package.parent / "rules"):
        if (candidate / "findings").is_dir():
            return candidate
    raise CatalogueError(f"the rules that ship with sselint are missing beside {package}: install sselint again")


def load_yaml(path: Path) -> Any:
    """The content of a YAML file of ours or the user's. Raises CatalogueError with the place of a syntax error."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=loader)  # noqa: S506 - a safe loader
    except OSError as error:
        raise CatalogueError(f"{path}: cannot be read: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise CatalogueError(f"{path}: not YAML: {error}") from error


@cache
def affinity_rows(proxy: str) -> tuple[AffinityRow, ...]:
    """The measured rows of a proxy, in the order in which they are tried. Raises CatalogueError."""
    path = rules_directory() / "affinity" / f"{proxy}.yaml"
    document = load_yaml(path)
    measured = document["measured"]
    return tuple(_affinity_row(path, proxy, measured, row) for row in document["rows"])


def _affinity_row(path: Path, proxy: str, measured: dict[str, str], row: dict[str, Any]) -> AffinityRow:
    try:
        return AffinityRow(
            proxy=proxy,
            id=row["id"],
            mechanism=row["mechanism"],
            when=row["when"],
            events=tuple((RoutingEvent(e), Meets(m)) for e, m in row["events"].items()),
            issued_by=KeyIssuer(row["key"]["issued_by"]),
            carrier=KeyCarrier(row["key"]["carrier"]),
            why=row["why"],
            premise=row["premise"],
            version=str(row.get("version", measured["version"])),
            date=str(row.get("date", measured["date"])),
        )
    except (KeyError, ValueError) as error:
        raise CatalogueError(f"{path}: row {row.get('id', '?')}: {error}") from error


@cache
def infrastructure_images() -> tuple[str, ...]:
    """Patterns over the names of images that never are the server that streams. Raises CatalogueError."""
    return tuple(load_yaml(rules_directory() / "images.yaml")["infrastructure"])


CLIENT_FACTS = ("sends_last_event_id", "keeps_cookies", "keeps_session_header")


@dataclass(frozen=True)
class ClientRule:
    """What `rules/clients/NAME.yaml` says of a client. `names` are what settings may call it, the first the report's;
    `default_for` is the protocol whose default client it is. `source` says where the facts were read or measured.

    `modules` are what Python code imports to use it; `refusals` the exceptions (without their modules) that it raises
    for a status that refuses: with none of them it raises nothing, and what it parses is empty.
    """

    names: tuple[str, ...]
    default_for: str | None
    facts: Mapping[str, Truth]
    reasons: Mapping[str, str]
    source: str
    modules: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()


@cache
def client_rules() -> tuple[ClientRule, ...]:
    """The clients that are described, in the order of their file names. Raises CatalogueError."""
    return tuple(_client_rule(path) for path in sorted((rules_directory() / "clients").glob("*.yaml")))


def _client_rule(path: Path) -> ClientRule:
    document = load_yaml(path)
    try:
        return ClientRule(
            names=tuple(map(str, document["names"])),
            default_for=document.get("default_for"),
            facts={fact: Truth(document[fact]["value"]) for fact in CLIENT_FACTS},
            reasons={fact: document[fact]["why"] for fact in CLIENT_FACTS},
            source=document["source"],
            modules=tuple(document.get("modules", ())),
            refusals=tuple(document.get("refusals", ())),
        )
    except (KeyError, ValueError, TypeError) as error:
        raise CatalogueError(f"{path}: {error}") from error


@dataclass(frozen=True)
class Example:
    """A piece of code or configuration in `language`."""

    language: str
    text: str


@dataclass(frozen=True)
class FindingRule:
    """What `rules/findings/CODE.yaml` says of a code.

    `severity` maps a verdict (for SSE9xx: "needed" or "other") to the severity there; a verdict that is missing is
    silent. `policies` says contradicts | allows of each policy. `fix` says what to do under each. `premise` is the test
    in which the code fires. `claims` prove what the texts say of proxies, servers and clients: rows of the affinity
    tables (`FILE#ROW`, each with a premise of its own), tests, deployments that were executed, or a page where nothing
    can be measured. `harms_alone` is True where the harm does not depend on the verdict.
    """

    code: str
    name: str
    title: str
    severity: Mapping[str, Severity]
    policies: Mapping[Policy, str]
    what: str
    why: str
    fix: Mapping[Policy, str]
    bad: Example
    good: Example
    premise: str
    claims: tuple[str, ...] = ()
    harms_alone: bool = False

    @property
    def worst(self) -> Severity:
        """The severity at its worst."""
        return max(self.severity.values(), key=list(Severity).index)


@cache
def finding_rules() -> Mapping[str, FindingRule]:
    """The rules of all codes, in the order of the codes. Raises CatalogueError."""
    paths = sorted((rules_directory() / "findings").glob("SSE*.yaml"))
    rules = [_finding_rule(path) for path in paths]
    return {rule.code: rule for rule in rules}


def _finding_rule(path: Path) -> FindingRule:
    document = load_yaml(path)
    try:
        rule = FindingRule(
            code=document["code"],
            name=document["name"],
            title=document["title"],
            severity={verdict: Severity(word) for verdict, word in document["severity"].items()},
            policies={policy: document["policies"][policy.value] for policy in Policy},
            what=document["what"].strip(),
            why=document["why"].strip(),
            fix={policy: document["fix"][policy.value].strip() for policy in Policy},
            bad=_example(document["bad"]),
            good=_example(document["good"]),
            premise=document["premise"],
            claims=tuple(document.get("claims", ())),
            harms_alone=document.get("harms_alone", False),
        )
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise CatalogueError(f"{path}: {error}") from error
    if rule.code != path.stem:
        raise CatalogueError(f"{path}: the code inside is {rule.code}; name the file after it")
    return rule


def _example(document: Mapping[str, str]) -> Example:
    return Example(document["language"], document["text"].rstrip())
