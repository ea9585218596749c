"""The kinds of work of a worker. A new kind is a module here and a line below.

The order matters for idle work: if jobs of several kinds wait, the kind listed first goes first.
"""

from __future__ import annotations

from league.domain.jobs.handlers import registry
from league.domain.jobs.handlers.analysis import AnalysisHandler
from league.domain.jobs.handlers.audits import AuditHandler
from league.domain.jobs.handlers.builds import BuildHandler
from league.domain.jobs.handlers.consultations import ConsultationHandler
from league.domain.jobs.handlers.fetches import FetchHandler
from league.domain.jobs.handlers.matches import MatchHandler
from league.domain.jobs.handlers.mistakes import MistakeHandler
from league.domain.jobs.handlers.puzzles import PuzzleHandler
from league.domain.jobs.handlers.remote import RemoteHandler
from league.domain.jobs.handlers.studies import StudyHandler
from league.domain.jobs.handlers.tries import TryHandler
from league.domain.jobs.handlers.tunings import TuningHandler
from league.domain.jobs.handlers.validation import ValidationHandler

registry.register(MatchHandler())
registry.register(RemoteHandler())
registry.register(ValidationHandler())
registry.register(TryHandler())
registry.register(AuditHandler())
registry.register(BuildHandler())
registry.register(FetchHandler())
registry.register(ConsultationHandler())
registry.register(AnalysisHandler())
registry.register(TuningHandler())
registry.register(StudyHandler())
registry.register(MistakeHandler())
registry.register(PuzzleHandler())
