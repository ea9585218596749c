"""Jobs that wait: the status page says since when, why no worker takes them, and what an operator does."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client

from league.domain.core import queue
from league.domain.judgements import summing
from league.domain.matches import workers
from league.domain.upkeep import waiting
from league.enums import MatchStatus
from league.models import Build, Job, Judgement, Match, Player, Worker
from tests.league.domain.studies.test_studies import begin, house_bots  # noqa: F401 - a fixture
from tests.support.league import NOW, accepted, started, uploaded

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("house_bots")]


def why(after: timedelta = timedelta(0), kind: str = "study") -> str:
    """Return why the jobs of a kind wait; all workers are alive then."""
    Worker.objects.update(seen=NOW + after)
    (row,) = (row for row in waiting.waiting_jobs(now=NOW + after) if row.kind == kind)
    return row.why


def test_jobs_that_no_worker_takes_have_a_reason(ana: Player, berto: Player) -> None:
    assert waiting.waiting_jobs(now=NOW) == []
    begin(ana)
    assert why() == "worker"
    workers.register("h:1", tier="", refusal="no Landlock here", now=NOW)
    assert why() == "sandbox"
    workers.register("h:2", tier="landlock", builds=["c"], now=NOW)
    assert [why(timedelta(minutes=minutes)) for minutes in (0, 14, 16)] == ["", "", "stale"]
    (job,) = waiting.waiting_jobs(now=NOW)
    assert (job.kind, job.count, job.since, job.language) == ("study", 2, NOW, "")
    Job.objects.filter(pk=Job.objects.latest("pk").pk).update(kind="puzzles")
    assert why(timedelta(days=3), kind="puzzles") == "", "a day may have enough puzzles"
    version = uploaded(berto, "lola")
    assert why(timedelta(days=3)) == "", "other work may go first"
    Match.objects.update(held_back=True)
    assert why(timedelta(days=3)) == "stale", "a paused match goes before nothing"
    Match.objects.update(kind="ladder", held_back=False)
    assert [why(timedelta(hours=hours)) for hours in (11, 13)] == ["", "stale"], "ladders leave a share"
    for language, reason in (("c", ""), ("rust", "language")):
        Build.objects.filter(version=version).delete()
        build = Build.objects.create(version=version, language=language, created=NOW)
        Job.objects.create(kind="build", build=build, created=NOW)
        assert why(kind="build") == reason


def test_what_waits_by_design_is_not_stuck(ana: Player) -> None:
    match = started(ana, [accepted(ana, "lola"), accepted(ana, "rufo")]).matches.get()
    row = Judgement.objects.create(match=match, kind="fair", judge="1", created=NOW)
    queue.add(summing.SEARCH, judgement=row, now=NOW)
    Match.objects.update(status=MatchStatus.FINISHED)
    assert why(kind="puzzles") == "worker"
    workers.register("h:1", tier="landlock", now=NOW)
    assert why(timedelta(days=3), kind="puzzles") == "", "a day may have enough puzzles"
    queue.add("analysis", judgement=row, now=NOW)
    assert why(timedelta(days=3), kind="analysis") == "stale"
    Match.objects.update(embargo=NOW + timedelta(days=4))
    assert waiting.waiting_jobs(now=NOW + timedelta(days=3)) == [], "they wait until everybody sees the cards"


@pytest.mark.parametrize("language", ["en", "es"])
def test_the_status_page_does_not_say_that_all_is_well(language: str, ana: Player) -> None:
    words = {
        "en": ("All is well", "No worker is running", "Studies of rules", "No worker takes it."),
        "es": (
            "Todo va bien",
            "No hay ningún proceso de juego en marcha",
            "Estudios de reglas",
            "Ningún proceso de juego lo recoge.",
        ),
    }[language]

    def shown() -> list[bool]:
        page = Client(headers={"accept-language": language}).get("/status/").content.decode()
        return [text in page for text in words]

    begin(ana)
    assert shown() == [False, True, True, False]
    workers.register("h:1", tier="landlock")
    assert shown() == [True, False, True, False], "the worker has just started"
    Worker.objects.update(started=NOW)
    assert shown() == [False, False, True, True]
    Job.objects.all().delete()
    assert shown() == [True, False, False, False]
