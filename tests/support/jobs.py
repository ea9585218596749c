"""Jobs done in a test as a worker would do them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from engine.sandbox import Sandbox
from league.domain.jobs.handlers import registry
from league.domain.jobs.handlers.analysis import AnalysisHandler
from league.domain.jobs.handlers.base import Lease, Signals, execute
from league.domain.jobs.handlers.consultations import ConsultationHandler
from league.domain.jobs.handlers.puzzles import PuzzleHandler

ANALYSIS, CONSULTATION, PUZZLES = AnalysisHandler(), ConsultationHandler(), PuzzleHandler()


@dataclass
class WorkerSite:
    """The part of a worker that a handler uses."""

    name: str
    folder: Path
    box: Sandbox | None

    def proven_sandbox(self) -> Sandbox:
        """Return the sandbox of the test."""
        assert self.box is not None
        return self.box

    def why_disk_fails(self) -> str:
        """Return "": the disk of the test works."""
        return ""


def run(
    job: Lease,
    *,
    stop: Callable[[], bool] = lambda: False,
    now: datetime | None = None,
    folder: Path = Path("/nonexistent"),
    box: Sandbox | None = None,
) -> bool:
    """Run a leased job, and return True if it was reported."""
    site, handler = WorkerSite("host:1", folder, box), registry.handler_of(job.kind)
    return execute(handler, job, site, Signals(stop), now=now) is not None
