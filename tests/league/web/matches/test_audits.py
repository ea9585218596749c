"""Audits on pages and in the API: the mark of a bot, the counts of a version, the first difference in a match."""

from __future__ import annotations

import pytest

from engine.runner import audit as runner
from league.domain.audits import sampling
from league.domain.jobs.handlers import audits
from league.domain.matches import leases
from league.domain.matches.reports import Receipt
from league.models import Audit, BotVersion, Match
from tests.league.web.page import Page, faults
from tests.support.league import NOW

FIRST = runner.Difference(1, 4, 2, ["play 1o", "play 2o"], "play 2o", ["play 1o", "play 3b"])


def report_all(match: Match, audit: runner.AuditResult) -> None:
    """Draw every conversation of `match` for an audit and report this result."""
    Match.work.filter(status="queued").exclude(kind="audit").update(status="cancelled")
    sampling.draw(now=NOW)
    while (work := leases.claim("w", now=NOW)) is not None:
        leases.start(work, now=NOW)
        assert audits.report(work, audit, now=NOW) == Receipt.STORED
    assert match.audits.count() == 8


def test_a_difference_is_shown_with_its_first_decision(league, reader, settings) -> None:
    settings.AUDIT_PERCENT = 100
    report_all(league.clean, runner.AuditResult(runner.DIFFERS, 30, 20, 1, 2, 1e-8, FIRST))
    row = Audit.objects.filter(match=league.clean).select_related("version__bot").first()

    page = reader.get(f"/m/{league.clean.public_id}/")
    text = " ".join(Page(page.content.decode()).text.replace(" ,", ",").split())
    version = Page(reader.get(f"/bots/{row.version.bot.slug}/v{row.version.number}/").content.decode())
    api = reader.get(f"/api/v1/matches/{league.clean.public_id}").json()["audits"]

    assert faults(Page(page.content.decode())) == []
    assert "difiere: reparto 1, tras 4 acciones, play 2o en la partida; play 1o y play 3b a solas" in text
    assert "Si las respuestas difieren, una persona revisa el caso" in text
    assert faults(version) == []
    assert "reproducible" not in version.text
    assert len(api) == 8
    assert (api[0]["verdict"], api[0]["first"], api[0]["seat"]) == ("differs", runner.asdict(FIRST), 0)


@pytest.mark.slow
def test_a_bot_that_bears_its_declaration_out_has_the_mark(league, reader, settings) -> None:
    settings.AUDIT_PERCENT = 100
    BotVersion.objects.filter(bot__slug="luna").update(deterministic=True)
    report_all(league.clean, runner.AuditResult(runner.SAME, 30))
    pk = BotVersion.objects.get(bot__slug="luna").pk

    marked = {
        slug: "reproducible" in reader.get(f"/bots/{slug}/?tab=versions").content.decode() for slug in ("luna", "sol")
    }
    summary = reader.get(f"/api/v1/versions/{pk}/audits").json()

    assert marked == {"luna": True, "sol": False}
    assert "reproducible" in Page(reader.get("/bots/luna/v1/").content.decode()).text
    assert summary["same"] == Audit.objects.filter(version=pk).count() > 0
    assert {name: summary[name] for name in summary if name != "same"} == {
        "deterministic": True,
        "reproducible": True,
        "alike": 0,
        "differs": 0,
        "failed": 0,
    }
    assert reader.get(f"/api/v1/versions/{pk}").json()["deterministic"] is True
