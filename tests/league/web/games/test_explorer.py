"""The explorer of a game, and its figures beside the steps of a match."""

from __future__ import annotations

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext

from engine.choices import read
from league.domain.bots import choices
from league.domain.matches import replays
from league.models import ChoiceSum, Pool, Sitting
from tests.league.web.page import Page, faults

OWN, OTHER = "t3-h2-p0", "t1-h0-p0"


@pytest.fixture(autouse=True)
def _nothing_counted(league) -> None:
    """Remove what the league of the test has counted itself."""
    ChoiceSum.objects.all().delete()


def fill(pool: Pool, kind: str = "lead", hand: str = OWN, choice: str = "t1", bots: int = 3) -> None:
    """Count 24 matches with nine leads: three of `choice` by bots of two bands, which brought 10 points each; and one lead of one bot."""
    added: dict = {}
    for number in range(24):
        rows = [[kind, hand, choice, 3, 30], [kind, hand, "ox", 6, -30]]
        choices._collect([(2 + number % 2, rows)], [number % bots], added)
    choices._collect([(1, [[kind, OTHER, "o3", 1, 7]])], [0], added)
    choices._store(pool.pk, added, 1)


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        ("en", ("First lead (217)", "3 trumps with the ace, no pair to sing", "Trump: ace", "33.3%", "+10.0", "± 0.0", "1000–1149")),
        ("es", ("Primera salida (217)", "3 triunfos con el as, sin cante en mano", "Triunfo: as", "33,3", "+10,0", "menos de 1000")),
    ],
)  # fmt: skip
def test_the_choices_of_a_type_of_hand(league, reader, language, texts) -> None:
    fill(league.pool)
    where = f"/g/partnership/?tab=explorer&pool={league.pool.pk}&hand={OWN}&choice=t1"
    page = Page(reader.get(where, headers={"accept-language": language}).content.decode())
    assert faults(page) == []
    for part in texts:
        assert part in page.text
    with CaptureQueriesContext(connection) as queries:
        reader.get(where)
    fill(league.pool, hand="t2-h1-p0")
    with CaptureQueriesContext(connection) as again:
        reader.get(where)
    assert len(again) == len(queries)


def test_what_few_matches_or_bots_did_is_not_shown(league, reader) -> None:
    where = "/g/partnership/?tab=explorer"
    assert "Todavía hay muy pocas partidas" in Page(reader.get(where).content.decode()).text
    fill(league.pool, bots=2)
    cache.clear()
    assert "Todavía hay muy pocas partidas" in Page(reader.get(where).content.decode()).text
    fill(league.pool)
    cache.clear()
    text = Page(reader.get(where).content.decode()).text
    assert "Triunfo: as" in text
    assert "Otro palo: tres" not in text
    assert "No se muestra otra elección" in text
    assert "1 triunfo," not in text


@pytest.mark.parametrize(
    "query", ["kind=lead&hand=../&band=9", f"kind=nothing&hand={'x' * 9000}", "band=-1&hand=t9", "band=5&pool=0"]
)
def test_a_strange_filter_shows_every_hand(league, reader, query) -> None:
    fill(league.pool)
    answer = reader.get(f"/g/partnership/?tab=explorer&{query}")
    assert answer.status_code == 200
    assert "Todas las manos ·" in Page(answer.content.decode()).text


def test_a_step_links_to_the_choices_of_such_hands(league, reader) -> None:
    sitting = (
        Sitting.objects.filter(board__match=league.clean).select_related("board__match").order_by("board", "number")[0]
    )
    lead = next(choice for choice in read(replays.unpack(sitting)) if choice.kind == "lead")
    where = f"/m/{league.clean.public_id}/?b={sitting.board.number}&s={sitting.number}"
    assert 'class="usual"' not in reader.get(where).content.decode()
    fill(league.pool, hand=lead.hand, choice=lead.choice)
    cache.clear()
    html = reader.get(where).content.decode()
    rows = ChoiceSum.objects.filter(pool=league.pool, kind="lead", hand=lead.hand, band=0)
    number, of_all = (rows.get(choice=choice).number for choice in (lead.choice, ""))
    assert html.count('class="usual"') == 1
    step = html[html.index(f'id="d{lead.deal}p{lead.step}"') :]
    share = f"{100 * number / of_all:.1f}".replace(".", ",")
    assert share in step[: step.index("</li>")]
    assert f"hand={lead.hand}&amp;choice={lead.choice}#marked" in step[: step.index("</li>")]
