"""Pictures for link previews: drawn from signed content, each shows what its page is about, and none more than a stranger may see."""

from __future__ import annotations

import re
import struct
import zlib
from html import unescape

import pytest
from django.test import Client

import engine
from league.domain.core import clock
from league.domain.matches import embargoes, replays
from league.domain.puzzles import shelf
from league.domain.ratings import pools
from league.domain.tournaments import circuits, events, progress, releases
from league.enums import Audience
from league.models import Match, Sitting, Table
from league.web.matches import pictures
from league.web.previews import drawing, links
from league.web.previews.drawing import DrawnCard, Hand, Picture, Row
from tests.league.web.conftest import record
from tests.support import league as made
from tests.support.parts import mostly_slow

CARDS = [rank + suit for suit in "oceb" for rank in "137"]
KINDS = {
    "fan": Picture("ñandú ½ – 王", cards=CARDS),
    "rows": Picture("A wins", "Tute", rows=[Row("1", "a" * 90, "12½", 0, True), Row("", "b", "", 1)], foot="2 boards"),
    "curve": Picture("rufo", rows=[Row("1–2", "Tute", "1043")], curve=[1000, 990, 1043]),
    "flat curve": Picture("rufo", rows=[Row("1", "Tute", "1000")], curve=[1000, 1000]),
    "hands": Picture("Board 1", suit="c", hands=[Hand(f"seat {seat}", CARDS, seat) for seat in range(7)]),
    "two hands": Picture("Board 1", suit="♥", hands=[Hand("a", ["7♥", "T♣"]), Hand("b", ["1o"])]),
    "trick": Picture(
        "a plays", laid=[DrawnCard("1o", "a", 0, True), DrawnCard("7♥", "b" * 60, 1), DrawnCard("9z", "c")]
    ),
    "puzzle": Picture("What would you do?", laid=[DrawnCard("1o", "a")], cards=["Ro", "Co"]),
    "long": Picture("W" * 500),
    "long words": Picture("word " * 100, head="x" * 400, foot="y" * 400),
}


def size(data: bytes) -> tuple[int, int]:
    """Return the size of a PNG after reading all of it."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    start = data.index(b"IDAT") + 4
    (length,) = struct.unpack(">I", data[start - 8 : start - 4])
    assert len(zlib.decompress(data[start : start + length])) == height * (3 * width + 1)
    return width, height


def picture_on(client: Client, path: str) -> Picture:
    """Return the only picture that a page names, read from its signed address; check that the page has the words of a preview."""
    page = client.get(path, headers={"accept-language": "en"}).content.decode()
    (address,) = re.findall(r'property="og:image" content="http://testserver([^"]+)"', page)
    for name in ("og:title", "og:description", "og:url", "og:image:alt"):
        assert re.search(rf'property="{name}" content="[^"]+"', page), name
    assert len(re.findall('rel="canonical"', page)) == 1
    assert len(address) < links.LONGEST
    return links.read(address.removeprefix("/preview/").removesuffix(".png"))


def body_of(picture: Picture) -> list[str]:
    """Return the kinds of parts below the title."""
    return [name for name in ("cards", "laid", "hands", "rows", "curve") if getattr(picture, name)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_the_size_that_previews_want_and_is_small(kind: str) -> None:
    data = drawing.draw(KINDS[kind])

    assert size(data) == (1200, 630)
    assert len(data) < 200_000
    assert drawing.draw(KINDS[kind]._replace(title="Other")) != data


def test_too_much_of_anything_is_left_out() -> None:
    hands = [Hand("n" * 90, CARDS * 4, 0) for _ in range(20)]
    token = links.address(Picture("W" * 500, "h" * 500, hands=hands, foot="f" * 500)).split("/")[2][:-4]

    assert len(token) < links.LONGEST
    assert len(links.read(token).hands) == links.MOST_SEATS
    assert len(links.read(token).title) == links.LINE


def test_only_signed_content_is_drawn_and_once(client: Client) -> None:
    picture = Picture("champion – greedy", rows=[Row("", "champion", "12")])
    address = links.address(picture)
    assert drawing.draw(picture) == drawing.draw(picture)
    drawn = links._png.cache_info().misses
    answer, again = client.get(address), client.get(address)

    assert links._png.cache_info().misses == drawn + 1, "drawn once for its content"
    assert again.content == answer.content
    assert answer.headers["Content-Type"] == "image/png"
    assert "immutable" in answer.headers["Cache-Control"]
    assert links.address(picture) == address, "kept by content"
    assert client.get(address.replace(".png", "x.png")).status_code == 404
    assert client.get("/preview/anything.png").status_code == 404
    assert client.get(f"/preview/{'a' * 2000}.png").status_code == 404
    assert client.post(address).status_code == 405


@pytest.mark.parametrize("path", ["/", "/learn/", "/docs/first-bot/"])
def test_a_page_without_a_picture_of_its_own_has_a_fan_of_cards(client: Client, db: None, path: str) -> None:
    assert body_of(picture_on(client, path)) == ["cards"]


def test_the_picture_of_a_match_names_its_bots_and_the_result(league) -> None:
    won = made.play(made.started(league.ana, [league.rufo, league.luna], name="Won").matches.get(), winner=0)
    for match, title in ((league.clean, "A draw"), (won, f"{won.parties.get(number=0).version.bot.slug} wins")):
        points = {party.version.bot.slug: str(party.points) for party in match.parties.all()}
        picture = picture_on(Client(), f"/m/{match.public_id}/")

        assert body_of(picture) == ["rows"]
        assert {row.name: row.value for row in picture.rows} == points
        assert [f"{row.name} wins" for row in picture.rows if row.wins] == ([title] if match is won else [])
        assert picture.title == title
        assert picture.head == engine.load(match.pool.game).title
        assert picture.foot == f"2 boards · {match.tournament.name}"


def test_a_match_without_a_result_shows_its_state(league) -> None:
    match = made.started(league.ana, [league.rufo, league.luna], name="Later").matches.get()
    picture = picture_on(Client(), f"/m/{match.public_id}/")

    assert picture.title == "Queued"
    assert [row.value for row in picture.rows] == ["", ""]


def test_the_picture_of_a_board_shows_the_hands_as_dealt(league) -> None:
    where = f"/m/{league.clean.public_id}/"
    sitting = Sitting.objects.select_related("board__match").get(board__match=league.clean, board__number=2, number=1)
    deal = next(event for event in replays.replay(sitting)["events"] if event["e"] == "deal")
    chosen, beside = picture_on(Client(), f"{where}?b=2&s=1"), picture_on(Client(), f"{where}b/2/")

    assert (body_of(chosen), body_of(beside)) == (["hands"], ["hands"])
    assert [sorted(hand.cards) for hand in chosen.hands] == [sorted(hand) for hand in deal["hands"]]
    assert [hand.name for hand in beside.hands] == [f"Seat {number}" for number in range(1, 5)]
    assert len({hand.name for hand in chosen.hands}) == 4, "the bots, numbered"
    assert chosen.suit == deal["trump"]
    assert chosen.title.startswith("Board 2 · ")


def test_the_picture_of_a_step_shows_its_trick(league) -> None:
    where = f"/m/{league.clean.public_id}/?b=1&s=0"
    page = Client(headers={"accept-language": "en"}).get(where).content.decode()
    steps = re.findall(r'<li id="(d1p\d+)" class="(play|trick)', page)
    second, end = steps[1][0], next(anchor for anchor, kind in steps if kind == "trick")
    picture, whole = picture_on(Client(), f"{where}&step={second}"), picture_on(Client(), f"{where}&step={end}")

    assert body_of(picture) == ["laid"]
    assert len(picture.laid) == 2
    assert "plays the" in picture.title
    assert not any(item.wins for item in picture.laid)
    assert len(whole.laid) == 4
    assert [item.wins for item in whole.laid].count(True) == 1
    shared = Client().get(f"{where}&step={second}").content.decode()
    assert f'og:url" content="http://testserver/m/{league.clean.public_id}/?b=1&amp;s=0&amp;step={second}"' in shared
    assert f'rel="canonical" href="http://testserver/m/{league.clean.public_id}/"' in shared
    for other in ("d1p0", "d9p9", "x"):
        assert body_of(picture_on(Client(), f"{where}&step={other}")) == ["hands"], "no card is on the table"


@pytest.mark.parametrize("key", engine.games())
def test_a_step_of_every_game_has_a_picture(key: str) -> None:
    events_of_game = record(key, "pictures", deals=1)["events"]
    names = [f"seat {seat}" for seat in range(7)]
    longest = 0
    for at in range(1, len(events_of_game)):
        laid, _trump = pictures.laid_cards(events_of_game[:at], names, [0] * 7)
        longest = max(longest, len(laid))
        assert [item.wins for item in laid].count(True) <= 1
    assert 2 <= longest <= 7


def test_the_picture_of_a_puzzle_asks_and_does_not_answer(db: None) -> None:
    for item in list(shelf.shelf().by_id.values())[:2]:
        picture = picture_on(Client(), f"/puzzles/{item.id}/")
        played = {event["card"] for event in item.events if event["e"] == "play"}

        assert sorted(picture.cards) == sorted(item.hand)
        assert {item.card for item in picture.laid} <= played, "what the seat has seen"
        assert not any(item.wins for item in picture.laid)
        assert body_of(picture._replace(laid=[])) == ["cards"]
        assert (picture.title, picture.foot) == ("What would you do?", "")


def test_the_picture_of_a_bot_shows_its_places_and_the_course_of_its_rating(league) -> None:
    picture = picture_on(Client(), "/bots/rufo/")

    assert picture.title == "rufo"
    assert picture.head == "A bot of ana"
    assert [row.name for row in picture.rows] == ["Tute por parejas"]
    assert re.fullmatch(r"\d(–\d)?", picture.rows[0].place)
    assert picture.rows[0].value == str(picture.curve[-1])
    assert body_of(picture_on(Client(), "/bots/rufo/?tab=versions")) == ["cards"]


def test_the_picture_of_a_tournament_shows_its_first_places(league) -> None:
    picture, coming = (picture_on(Client(), f"/t/{cup.slug}/") for cup in (league.cup, league.next_cup))

    assert picture.title == league.cup.name
    assert picture.rows[0].place == "1"
    assert {row.name for row in picture.rows} == {"rufo", "luna", "sol"}
    assert body_of(coming) == ["cards"]
    assert coming.foot.startswith("Open for entries")


def test_the_picture_of_a_recurring_league_names_its_bots(league) -> None:
    circuit = circuits.create(league.ana, "Liga", "partnership", days="fri", at="20:00", time_zone="UTC")
    circuits.join(circuit, league.luna.bot, player=league.berto)
    picture = picture_on(Client(), f"/c/{circuit.slug}/")
    assert (picture.title, [row.name for row in picture.rows], picture.foot) == ("Liga", ["luna"], "1 bot")


def test_the_picture_of_a_table_tells_nothing_until_it_is_over(db: None) -> None:
    game = engine.load("partnership")
    moments = record("partnership", "a table", deals=1)["events"]
    row = Table(pool=pools.pool("partnership"), boards=1, scores=[moments[-1]["scores"]], records=b"")
    names = ["ana", "greedy 1", "greedy 2", "greedy 3"]
    assert pictures.of_table(row, game, moments, names, 0) == links.general()
    row.records = b"x"
    picture = pictures.of_table(row, game, moments, names, 0)

    assert body_of(picture) == ["rows"]
    assert [item.name for item in picture.rows] == ["ana + greedy 2", "greedy 1 + greedy 3"]
    assert sorted(item.value for item in picture.rows) == sorted(str(moments[-1]["scores"][seat]) for seat in (0, 1))


def test_what_is_under_embargo_has_its_result_and_no_cards(league) -> None:
    embargoes.change(league.clean, made.NOW.replace(year=2126), why="a final", actor="eva", now=made.NOW)
    where = f"/m/{league.clean.public_id}/"

    for query in ("", "?b=1&s=0", "?b=1&s=0&step=d1p5"):
        assert body_of(picture_on(Client(), f"{where}{query}")) == ["rows"]
    assert Client().get(f"{where}b/1/").status_code == 404
    assert b"oembed" not in Client().get(where).content


@pytest.mark.parametrize(
    "terms",
    mostly_slow(
        [releases.ReleaseTerms(Audience.HIDDEN), releases.ReleaseTerms(private=True)], lambda terms: terms.private
    ),
)
def test_what_is_hidden_has_the_general_picture_even_on_its_owners_page(league, owner, terms) -> None:
    document = {"name": "Velvet", "game": "partnership", "stages": [{"format": "round_robin", "boards": 2}]}
    versions = [league.rufo, made.accepted(league.ana, "vega")]
    event = events.create(league.ana, document, versions, terms=terms, now=made.NOW)
    if terms.private:
        events.start(event, actor="ana", now=made.NOW)
    match = Match.objects.get(tournament__event=event)
    made.play(match)
    progress.advance(match.tournament, now=clock.present())
    general = links.general().title
    missing = Client().get("/m/00000/").content.decode()
    for path in (f"/m/{match.public_id}/", f"/m/{match.public_id}/?b=1&s=0", f"/t/{match.tournament.slug}/"):
        assert picture_on(owner, path).title == general, path
        assert "oembed" not in owner.get(path).content.decode()
        answer = Client().get(path)
        assert answer.status_code == 404
        assert image_of(answer.content.decode()) == image_of(missing), "the same as of what does not exist"
    page_of_event = picture_on(owner, f"/e/{event.slug}/")
    assert page_of_event.title == (general if terms.private else "Velvet")
    assert not page_of_event.rows


def image_of(page: str) -> str:
    (address,) = re.findall(r'property="og:image" content="([^"]+)"', page)
    return unescape(address)
