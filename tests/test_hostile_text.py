"""The cheap looks stay cheap, whatever they look at: the time is linear in the size of a text."""

from __future__ import annotations

import time

import pytest

from sselint.find import CONFIG_READERS, kind_of, reader
from sselint.unwrap import sources

SIZE = 200_000
SECONDS = 3.0
"""Of CPU. Linear looks take a tenth of it, those that read on from every place took minutes."""


def repeated(part: str) -> str:
    return part * (SIZE // len(part))


TEXTS = {
    "blanks": repeated(" "),
    "blank lines": repeated("\n"),
    "one word": repeated("a"),
    "braces": repeated("{"),
    "openings of Go": repeated("{{ "),
    "openings of Jinja": repeated("{% "),
    "openings of Jinja, and an end": repeated("{% { ") + "%}",
    "openings of ERB": repeated("<% "),
    "comments without an end": repeated("{# "),
    "dashes": repeated("- "),
    "quotes": repeated("\"'"),
    "deeper and deeper": "services:\n" + "".join(" " * n + "a:\n" for n in range(600)),
    "texts in texts": "".join(" " * n + "a: |\n" for n in range(600)),
    "servers of nginx without an end": repeated("server {\nlisten "),
    "locations without an end": repeated("location "),
    "a heredoc without an end": repeated("<<EOF\n"),
    "continued lines": repeated("FROM x \\\n"),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_every_look_is_linear(text: str) -> None:
    for kind in CONFIG_READERS:
        reader(kind)  # imports do not count
    begin = time.process_time()
    kind_of("deploy/x.yaml", text)
    sources("deploy/x.yaml", "a: |\n upstream x {\n" + text, ".", kind_of)
    assert time.process_time() - begin < SECONDS


def test_a_template_with_a_few_openings_that_nothing_closes_is_a_template() -> None:
    """Lua tables and shell expansions open like tags, between tags."""
    text = "upstream u { {{ server }} }\n" + "x = {{ 1, {2} }, 3\n" * 100 + "{% if a %}\nb\n{% endif %}\n"
    from sselint.unwrap.tags import Role, tags

    roles = [tag.role for tag in tags(text)]
    assert roles[0] is Role.OUTPUT
    assert roles[-2:] == [Role.CONDITION, Role.CLOSE]
