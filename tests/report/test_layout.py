"""Lines at a width: how they hang, and that nothing from a tree speaks to the terminal."""

from __future__ import annotations

import re

import pytest

from sselint.report.layout import Page, cells, printable

TEXT = "what can be replayed is kept in the memory of one process"


def lines(text: str, width: int = 40, **options: object) -> list[str]:
    page = Page(width)
    page.paragraph(text, **options)  # type: ignore[arg-type]
    return page.lines


def test_lines_hang_below_the_text() -> None:
    assert lines(TEXT, first="1. ", indent=4) == [
        "    1. what can be replayed is kept in",
        "       the memory of one process",
    ]


def test_behind_a_long_path_they_hang_by_two() -> None:
    path = "src/deep/folder/journal.py:15 "
    assert lines(TEXT, width=60, first=path, indent=2) == [
        "  src/deep/folder/journal.py:15 what can be replayed is kept",
        "    in the memory of one process",
    ]


def test_behind_a_path_that_leaves_no_room_the_text_begins_below_it() -> None:
    path = "src/a/very/deep/folder/journal.py:15 "
    assert lines(TEXT, first=path) == [
        "src/a/very/deep/folder/journal.py:15",
        "  what can be replayed is kept in the",
        "  memory of one process",
    ]


def test_a_first_alone_has_no_blank_behind_it() -> None:
    assert lines("", first="app.py:8 ", indent=2) == ["  app.py:8"]


def test_words_are_never_broken() -> None:
    word = "x" * 50
    assert lines(f"{word} end") == [word, "end"]


@pytest.mark.parametrize("text", ["\x1b[2J", "a\x07b", "\u202eevil", "line\nbreak", "\x9b31m", "\u2028"])
def test_nothing_speaks_to_the_terminal(text: str) -> None:
    shown = "".join(lines(text, first=f"{text} ")) + "".join(lines("x", first=text))
    assert printable(shown) == shown
    assert not set(shown) & set("\x1b\x07\u202e\n\x9b\u2028")


def test_wide_letters_take_two_cells() -> None:
    assert cells("日本") == 4
    assert cells("e\u0301") == 1


def test_colour_counts_for_nothing() -> None:
    page = Page(40, colour=True)
    page.paragraph(TEXT, first="1. ", first_style="bold", style="dim")
    assert [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in page.lines] == lines(TEXT, first="1. ")
