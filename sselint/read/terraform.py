"""Terraform."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sselint.facts import Reading
from sselint.source import Source, Tree

_BLOCK = re.compile(r'^[ \t]*resource[ \t]+"?aws_(?:ecs|lb|alb|appautoscaling)\w*"?[ \t]+\S+[ \t]*\{', re.MULTILINE)


def looks_like(path: str, text: str) -> bool:
    """Whether this is Terraform that says something of processes or balancers."""
    return path.endswith((".tf", ".tofu")) and _BLOCK.search(text) is not None


def read(sources: Sequence[Source], tree: Tree) -> Reading:
    """The pools and routes."""
    return Reading()
