"""Settings classes have hundreds of fields: what all fields have in common is looked for once for each object."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sselint.read.python.interpreter import records
from sselint.read.python.interpreter.choices import Choices
from sselint.read.python.interpreter.oracle import Decision
from sselint.read.python.interpreter.values import Const
from tests.read.python.programs import reading_of

SETTINGS = """
from pydantic_settings import BaseSettings


class Settings(BaseSettings):
    model_config = {"env_prefix": "feed_"}
"""


def decision(name: str, option: int, kind: str = "environment") -> Decision:
    return Decision(("variable", name, "is set"), option, 2, kind, name, None)


class Passed(list[Decision]):
    """The decisions of a run, and how many of them were looked at."""

    seen = 0

    def __iter__(self) -> Iterator[Decision]:
        self.seen += len(self)
        return super().__iter__()

    def __getitem__(self, place):  # type: ignore[no-untyped-def,override]
        found = super().__getitem__(place)
        self.seen += len(found) if isinstance(place, slice) else 1
        return found


def test_a_run_that_writes_much_looks_once_at_what_it_decided() -> None:
    choices, passed = Choices(), Passed(decision(f"V{n}", 0) for n in range(50))
    for number in range(100):
        choices.wrote(("field", number), Const.of(number), passed)
    assert passed.seen == 50
    assert choices.untried(("field", 99)) == sorted(f"V{n}" for n in range(50))


def test_what_a_run_decides_between_two_writes_counts() -> None:
    choices, one, other = Choices(), [decision("A", 0)], [decision("A", 0)]
    for run, option in ((one, 0), (other, 1)):
        choices.wrote("before", Const.of(1), run)
        run += [decision("B", 1, "condition"), decision("C", option)]
        choices.wrote("behind", Const.of(option), run)
    assert choices.variables("behind") == ("C",)
    assert choices.untried("before") == ["A"]


@pytest.mark.parametrize("fields", [2, 40])
def test_the_prefix_of_settings_is_looked_for_once_an_object(fields: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    found = records._prefix
    monkeypatch.setattr(records, "_prefix", lambda m, cls: asked.append(cls.name) or found(m, cls))
    text = SETTINGS + "".join(f"    field_{n}: int = {n}\n" for n in range(fields)) + "\n\nsettings = Settings()\n"
    reading_of({"app.py": "# text/event-stream\n" + text})
    assert asked == ["Settings"]
