"""The table of a person: what a click does and when, the pace of the others, and who won; in a real browser, with bots that answer at once."""

from __future__ import annotations

import random
import re

import pytest
from django.conf import settings
from django.test import Client
from django.utils.translation import override

import engine
from engine.runner.table import Question, SeatView, TableResult, Taken
from league.domain.bots import house
from league.domain.people import players
from league.domain.tables import holding, seating
from league.models import Player, Table
from league.web.matches import banner, felt, offers
from tests.league.web.conftest import PATIENT_MS
from tests.league.web.page import Page, faults
from tests.support import rows
from tests.support.league import accepted
from tests.support.playing import choose
from tests.support.processes import wait_for

DESK, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
UNLOCKED = "document.querySelector('.game:not([data-locked]):has(tute-table.ready) #hand .hand button') !== null"


class Bots:
    """The worker of a table whose bots take the first of their choices."""

    def __init__(self, row: Table) -> None:
        lease = holding.claim("host:1")
        assert lease is not None
        assert lease.row.pk == row.pk
        self.lease, self.row = lease, row
        self.game = engine.load(row.pool.game)
        seed = engine.board_seed(lease.secret, self.game.key, f"table-{row.public_id}", 1)
        self.state = self.game.new_match(seed=seed, deals=self.game.board_deals)
        self.number = 0
        self.play()

    @property
    def legal(self) -> list[str]:
        return [self.game.action_text(action) for action in self.state.legal_actions()]

    def play(self) -> None:
        """Let the bots play until the person is to move, or the board is over."""
        state, decisions = self.state, []
        while not state.is_over and not (state.current_seat == 0 and (len(self.legal) > 1 or "play" in self.legal[0])):
            if len(self.legal) > 1:
                decisions.append(Taken(state.current_seat, self.legal[0]))
            state.apply(state.legal_actions()[0])
        first, self.number = self.number, self.number + len(decisions)
        events = engine.redact(state.events, 0)
        if state.is_over:
            record = {**engine.replay.make(state, {"match": self.row.public_id}), "faults": [], "notes": []}
            holding.finish(
                self.lease, TableResult([state.scores()], [record], [SeatView(0, [], events)], decisions), first
            )
            return
        hand = [self.game.pack.texts[card] for card in state.hand_of(0)]
        holding.ask(self.lease, Question(self.number, 1, self.legal, hand, events, []), decisions)

    @property
    def question(self) -> int:
        """Return the number of the person's decision."""
        return Table.objects.values_list("question", flat=True).get(pk=self.row.pk)

    def answer(self) -> str:
        """Take the answer that the person has given, and play on."""
        wait_for(lambda: holding.answer(self.lease, self.number), "the person answers", PATIENT_MS / 1000, every=0.02)
        action = holding.answer(self.lease, self.number)
        assert action is not None
        self.state.apply(self.game.parse_action(action))
        self.number += 1
        self.play()
        return action

    def until(self, cards: int) -> None:
        """Play the person's first choices until this number of cards is left."""
        while len(self.state.hand_of(0)) > cards:
            seating.act(self.row.player, self.row.public_id, self.question, self.legal[0])
            self.answer()


def make_ana() -> Player:
    accepted(house.player(), "greedy")
    return players.create("ana")


@pytest.fixture
def ana(db) -> Player:
    return rows.once(make_ana)


@pytest.fixture
def visit(site: str, browser):
    """Open a table as its player."""
    contexts = []

    def go(row: Table, size: dict[str, int], **cookies: str):
        touch = size["width"] < 500
        context = browser.new_context(viewport=size, has_touch=touch, is_mobile=touch, locale="en-GB")
        context.set_default_timeout(PATIENT_MS)
        contexts.append(context)
        session = Client()
        session.force_login(row.player.user)
        values = {settings.SESSION_COOKIE_NAME: session.cookies[settings.SESSION_COOKIE_NAME].value, **cookies}
        context.add_cookies([{"name": name, "value": value, "url": site} for name, value in values.items()])
        page = context.new_page()
        page.goto(f"{site}/tables/{row.public_id}/")
        return page

    yield go
    for context in contexts:
        context.close()


def comes(page, fact: str) -> None:
    wait_for(lambda: page.evaluate(f"() => {fact}"), fact, PATIENT_MS / 1000, every=0.02)


def turn(row: Table) -> int | None:
    return Table.objects.values_list("turn", flat=True).get(pk=row.pk)


@pytest.mark.slow
def test_a_click_on_a_card_plays_it_and_choices_wait_until_all_is_shown(ana, visit) -> None:
    bots = Bots(row := seating.sit(ana, "partnership", "greedy"))
    page = visit(row, DESK, rest="3000")
    comes(page, UNLOCKED)
    card = page.locator("#hand .hand .ok").first
    name = card.get_attribute("value").removeprefix("play ")
    assert page.locator(f".game [data-card='{name}']").count() == 1, "one hand, one copy"
    page.evaluate("window.stays = true")
    card.click()
    assert page.locator(f".felt .laid [data-card='{name}']").count() == 1, "the own card moves at once"
    assert bots.answer() == f"play {name}"
    comes(
        page, "document.querySelectorAll('.laid').length === 4 && document.querySelector('.laid.best .gain') !== null"
    )
    assert page.locator(".game[data-locked]").count() == 1
    assert page.locator("#hand .hand button").count() == 0, "no card can be chosen before all is shown"
    answered = turn(row)
    page.locator("#seat .hand li").last.click()  # A tap now is not kept for later
    page.locator(".felt").click(position={"x": 300, "y": 40})  # and one on the felt ends the wait
    comes(page, UNLOCKED)
    assert turn(row) == answered
    assert page.locator(".laid.best").count() == 0, "the trick has gone to its winner"
    assert page.evaluate("window.stays") is True


@pytest.mark.slow
def test_a_finished_trick_rests_before_the_next_choice(ana, visit) -> None:
    bots = Bots(row := seating.sit(ana, "partnership", "greedy"))
    page = visit(row, DESK, rest="750")
    comes(page, UNLOCKED)
    page.evaluate(
        """() => { window.steps = []; addEventListener('step', ({ detail }) => steps.push(
            [detail.event.e, detail.state.winner !== null, document.querySelectorAll('#hand .hand button').length])); }"""
    )
    page.locator("#hand .hand .ok").first.click()
    bots.answer()
    comes(page, UNLOCKED)
    steps = page.evaluate("window.steps")
    assert [kind for kind, _lies, _choices in steps].count("trick") == 2, "once as it lies there, once when it has gone"
    assert [lies for kind, lies, _choices in steps if kind == "trick"] == [True, False]
    assert not any(choices for _kind, _lies, choices in steps), "nothing can be chosen while cards move"


@pytest.mark.slow
def test_a_forced_card_waits_unless_the_person_wants_it_played(ana, visit) -> None:
    bots = Bots(row := seating.sit(ana, "partnership", "greedy"))
    bots.until(1)
    page = visit(row, PHONE)
    comes(page, UNLOCKED)
    assert (page.locator("#hand .hand .ok").count(), turn(row)) == (1, bots.number)
    assert page.locator(".felt .laid").count() == len(bots.state.table)
    eager = visit(row, PHONE, forced="yes")
    assert bots.answer().startswith("play ")
    comes(eager, "document.querySelector('.banner') !== null")


@pytest.mark.slow
@pytest.mark.parametrize("size", [DESK, PHONE, {"width": 320, "height": 640}])
def test_the_whole_table_is_in_the_first_view_and_the_hand_in_one_row(ana, visit, size: dict[str, int]) -> None:
    bots = Bots(row := seating.sit(ana, "partnership", "greedy"))
    page = visit(row, size)
    comes(page, UNLOCKED)
    view = "[document.documentElement.scrollWidth <= innerWidth, document.documentElement.scrollHeight <= innerHeight]"
    assert page.evaluate(view) == [True, True]
    boxes = [page.locator("#seat .hand li .card").nth(at).bounding_box() for at in range(10)]
    for box in [*boxes, page.locator(".felt").bounding_box(), page.locator(".scores").bounding_box()]:
        assert box["x"] >= -1
        assert box["x"] + box["width"] <= size["width"] + 1
        assert box["y"] + box["height"] <= size["height"] + 1
    assert max(box["y"] for box in boxes) - min(box["y"] for box in boxes) < boxes[0]["height"] / 3, "one row"
    lefts = [box["x"] for box in boxes]
    assert lefts == sorted(lefts)
    assert not page.locator(".top").is_visible(), "the header of the site makes room"
    if size == PHONE:
        first = page.locator("#hand .hand .ok").first
        where = {"x": 10, "y": 40}
        flat = first.bounding_box()["y"]
        first.tap(position=where)
        assert page.locator(".lifted").count() == 1, "the first tap lifts"
        assert page.locator(".now", has_text="Tap it again to play it").count() == 1
        page.evaluate(
            "Promise.all(document.querySelector('.lifted .ok').getAnimations().map((one) => one.finished)).then(() => 0)"
        )
        assert first.bounding_box()["y"] < flat - 10, "and it is seen to be lifted"
        assert turn(row) == bots.number
        page.locator(".felt").tap(position={"x": 20, "y": 20})
        assert page.locator(".now", has_text="Tap it again").count() == 0, "the prompt is back"
        first.tap(position=where)
        first.tap()  # The fan has opened, so nothing covers the middle of the card.
        assert bots.answer().startswith("play ")


@pytest.mark.slow
def test_the_end_says_who_won_in_the_first_view_without_a_new_page(ana, visit) -> None:
    bots = Bots(row := seating.sit(ana, "partnership", "greedy"))
    bots.until(1)
    page = visit(row, PHONE, rest="0")
    comes(page, UNLOCKED)
    page.evaluate("window.stays = true")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    bots.answer()
    comes(page, "document.querySelector('.banner') !== null")
    ours, theirs = bots.state.scores()[:2]
    word = "won" if ours > theirs else "lost"
    for again in (False, True):
        if again:
            page.reload()
        else:
            assert page.evaluate("window.stays") is True
        text = re.sub(r"\s+", " ", page.inner_text(".banner"))
        assert f"You {word} the hand {ours} to {theirs}" in text
        comes(page, "document.querySelector('.banner')?.getBoundingClientRect().y > 0")
        box = page.evaluate("document.querySelector('.banner').getBoundingClientRect().toJSON()")
        assert box["y"] + box["height"] < PHONE["height"]
        assert page.evaluate("scrollY") == 0
        assert page.locator(".after .button").all_inner_texts() == ["Rematch", "Review the hand", "Share"]
    page.get_by_text("Review the hand").click()
    page.locator("tute-replay.ready").wait_for(state="attached")
    for size in (PHONE, DESK):
        page.set_viewport_size(size)
        box = page.locator("[data-do=play]").bounding_box()
        assert box["y"] + box["height"] < size["height"], "the table and its controls stand in the first view"


# ---- without a browser


@pytest.mark.django_db
def test_cards_that_cannot_be_played_are_no_buttons(ana) -> None:
    bots = Bots(row := seating.sit(ana, "partnership", "greedy"))
    while len(bots.legal) == len(bots.state.hand_of(0)):
        seating.act(ana, row.public_id, bots.question, bots.legal[0])
        bots.answer()
    client = Client(headers={"accept-language": "en"})
    client.force_login(ana.user)
    page = client.get(f"/tables/{row.public_id}/").content.decode()
    assert faults(Page(page)) == []
    hand = page.partition('<ul class="hand"')[2].partition("</ul>")[0]
    assert set(re.findall(r'value="(play [^"]+)"', hand)) == {text for text in bots.legal if text.startswith("play ")}
    assert "disabled" not in hand
    assert "not playable now" in hand
    assert "<strong>Your turn.</strong>" in page
    assert re.search(r'<option value="1500"\s+selected', page)
    client.post("/prefs/", {"rest": "3000", "forced": "yes", "next": "/"})
    page = client.get(f"/tables/{row.public_id}/").content.decode()
    assert 'data-rest="3000" data-forced' in page
    client.post("/prefs/", {"rest": "7", "forced": "perhaps", "next": "/"})
    assert 'data-rest="3000" data-forced' in client.get(f"/tables/{row.public_id}/").content.decode()


@override("en")
def test_the_turn_is_said_in_words() -> None:
    lead = [{"e": "deal", "trump": "o"}, {"e": "play", "seat": 3, "card": "7c"}]
    for legal, hand, events, sentence in (
        (["play Rc", "play Cc", "play 2c"], ["Rc", "Cc", "2c", "1e"], lead, "Follow cups: king, horse or two."),
        (["play 1o"], ["1o", "2e"], lead, "Play a trump: ace."),
        (["play 1e", "play 2e"], ["1e", "2e"], lead, "Play any card."),
        (["play 1e", "play 2e"], ["1e", "2e"], lead[:1], "You lead."),
        (["pass", "bid 60", "bid 65"], ["1e"], [], "Bid 60 or more, or pass."),
        (["play Ro", "sing o"], ["Ro"], lead[:1], "You may sing, then you lead."),
        (["play 1e", "accuse 1"], ["1e"], lead[:1], "You lead."),
        (["pass", "accuse 1"], [], [], "The cards are played. Accuse a player of a revoke, or nobody."),
    ):
        offer = offers.offer(legal, hand)
        assert felt.prompt(offer, legal, events) == sentence


def test_accusations_are_folded_up_under_the_names_of_the_players() -> None:
    legal = ["play 1e", "accuse 0", "accuse 2"]
    offer = offers.offer(legal, ["1e"], names=["rufo 1", "you", "rufo 2"])
    assert [(choice.do, choice.text) for choice in offer.accusations] == [
        ("accuse 0", "rufo 1"),
        ("accuse 2", "rufo 2"),
    ]
    assert not offer.words
    with override("es"):
        closing = offers.offer(["pass", *legal[1:]], [])
        assert [choice.text for choice in closing.words] == ["No acusar a nadie"]
        assert closing.filled
        assert closing.accusations[0].text == "Acusar de renuncio al jugador 1"


@pytest.mark.slow
def test_every_game_says_what_to_do_and_who_has_won() -> None:
    for key in engine.games():
        game, row = engine.load(key), Table(seat=0)
        names = [f"p{seat}" for seat in range(game.players)]
        for seed in range(4):
            state = game.new_match(seed=seed, deals=game.board_deals)
            rng = random.Random(seed)
            while not state.is_over:
                legal = [game.action_text(action) for action in state.legal_actions()]
                events = engine.redact(state.events, 0)
                if state.current_seat == 0:
                    hand = [game.pack.texts[card] for card in state.hand_of(0)]
                    offer = offers.offer(legal, hand, felt.song_points(game, events))
                    assert felt.prompt(offer, legal, events) != "Choose.", (key, legal)
                state.apply(choose(state, rng))
            result = banner.banner(row, game, state.events, names, 0, is_own=True)
            assert result is not None
            (over,) = [event for event in state.events if event["e"] == "over"]
            own = next(number for number, side in enumerate(game.sides) if 0 in side)
            everybody = len(over["winners"]) == len(game.sides)
            word = "draw" if everybody else "won" if own in over["winners"] else "lost"
            assert word in result.title
            assert all(len(line.values) == len(game.sides) == len(result.heads) for line in result.rows)
            head = felt.head(game, state.events, 0, names)
            assert head.sides[0].name in ("Us", "You")
