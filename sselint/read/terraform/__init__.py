"""Terraform: ECS and Cloud Run services and instance groups as pools, what balances over them as hops."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sselint.facts import Reading
from sselint.source import Source, Tree

_RESOURCE = re.compile(
    r'^[ \t]*resource[ \t]+"?(?:aws_(?:ecs_service|a?lb_|appautoscaling_|autoscaling_)\w*'
    r'|google_cloud_run_(?:v2_)?service)"?[ \t]+\S+[ \t\r\n]*\{',
    re.MULTILINE,
)


def looks_like(path: str, text: str) -> bool:
    """Whether this is Terraform that says something of processes or balancers: by its ending and a resource."""
    return path.endswith((".tf", ".tofu")) and _RESOURCE.search(text) is not None


def read(sources: Sequence[Source], tree: Tree) -> Reading:
    """The pools and routes of every module that has such a resource. Raises nothing: problems are file reports."""
    from sselint.read.terraform.reader import read_modules

    return read_modules(sources, tree)
