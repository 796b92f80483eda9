"""Runs the command line in this process, as `main` would run it, with the rooms before the judge replaced where a test
wants to state what they found."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from sselint import cli, pipeline
from sselint.deployment import Audit, Deployment
from sselint.facts import FileReport, Route
from sselint.findings import Judgement


@dataclass(frozen=True)
class Run:
    """What a run left behind."""

    code: int
    out: str
    err: str


@dataclass
class CommandLine:
    """The command line in the folder `root`."""

    root: Path
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def run(self, *arguments: str) -> Run:
        """Runs `sselint` with these arguments."""
        self.monkeypatch.setattr(sys, "argv", ["sselint", *arguments])
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            cli.main()
        captured = self.capsys.readouterr()
        assert isinstance(end.value.code, int)
        return Run(end.value.code, captured.out, captured.err)

    def found(
        self, *judgements: Judgement, files: Sequence[FileReport] = (), loose_routes: Sequence[Route] = ()
    ) -> None:
        """From now on the tree holds these deployments, which the model judges so."""
        by_name = {judgement.deployment.name: judgement for judgement in judgements}
        audit = Audit(
            root=str(self.root),
            deployments=tuple(judgement.deployment for judgement in judgements),
            streams=tuple(judgement.deployment.stream for judgement in judgements),
            files=tuple(files),
            loose_routes=tuple(loose_routes),
        )

        def judge_deployment(deployment: Deployment) -> Judgement:
            from dataclasses import replace

            return replace(by_name[deployment.name], deployment=deployment)

        policies = ModuleType("sselint.policies")
        policies.judge_deployment = judge_deployment  # type: ignore[attr-defined]
        self.monkeypatch.setitem(sys.modules, "sselint.policies", policies)
        self.monkeypatch.setattr(pipeline, "audit", lambda *_: audit)
