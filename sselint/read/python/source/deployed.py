"""Which files are not deployed: tests, examples, documentation."""

from __future__ import annotations

import re

NOT_DEPLOYED = re.compile(
    r"(^|/)(tests?|testing|examples?|docs?(_src)?|samples?|demos?|benchmarks?|tutorials?|conftest\.py|test_[^/]*\.py|[^/]*_test\.py)(/|$)"
)
