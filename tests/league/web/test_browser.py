"""The replay table in a real Chromium, on a real server, with records that the engine wrote."""

from __future__ import annotations

from functools import partial

import pytest
from django.utils import translation

from engine.game import declared, games
from engine.judging import Child
from league.domain.consultations import asking as consultations
from league.domain.consultations.reading import answers
from league.domain.core import clock
from league.domain.jobs.handlers import analysis
from league.domain.judgements import asking, bodies, reading
from league.domain.tournaments import circuits
from league.models import Match
from league.web.common.words import action_name
from tests.league.web.conftest import League, put, record
from tests.support import consulting, jobs
from tests.support import league as made
from tests.support.chromium import log_in, until

SIZES = [(360, 740), (1280, 800)]


def whole_game(league: League) -> Match:
    """A corriente match whose first sitting is a whole game of several deals, with songs and exchanges."""
    match = made.play(
        made.started(league.ana, [league.rufo, league.luna], game="corriente", name="Stock").matches.get()
    )
    for seed in range(50):
        replay = record("corriente", f"browser {seed}")
        kinds = [event["e"] for event in replay["events"]]
        if kinds.count("deal") >= 2 and "song" in kinds and kinds.count("play") > 45:
            put(match, replay)
            return match
    raise AssertionError("no such game in fifty: look at the engine")


def say(page) -> str:
    return page.inner_text(".say")


def test_keys_step_through_the_record_and_the_address_follows(live, visit) -> None:
    url, league = live
    match = whole_game(league)
    visited = visit(f"{url}/m/{match.public_id}/")
    page = visited.page
    assert page.evaluate("location.hash") == ""
    page.keyboard.press("ArrowRight")
    assert page.evaluate("location.hash") == "#d1p1"
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert page.evaluate("location.hash") == "#d1p1"
    page.keyboard.press("Shift+ArrowRight")
    assert "hace la baza" in say(page)
    first_trick = page.evaluate("location.hash")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowLeft")
    assert page.evaluate("location.hash") == first_trick
    page.keyboard.press("n")
    assert page.locator("li[aria-current] >> nth=0").get_attribute("class").split()[-1] == "notable"
    page.keyboard.press("End")
    assert "Tantos del reparto" in say(page)
    page.keyboard.press("]")
    assert page.evaluate("location.hash") == "#d2p0"
    page.keyboard.press("[")
    assert page.evaluate("location.hash") == "#d1p0"
    page.keyboard.press("]")
    page.keyboard.press("End")
    page.keyboard.press("Home")
    assert page.evaluate("location.hash") == "#d2p0"
    page.keyboard.press("?")
    assert page.locator("dialog[open]").count() == 1
    page.keyboard.press("Escape")
    page.locator("dialog[open]").wait_for(state="detached")  # the browser closes it in a task of its own
    page.keyboard.press("Space")
    # it goes on by itself, and on a busy machine it may be further on than one step before anybody looks
    until(page, "() => !['#d2p0', '#d2p1'].includes(location.hash)")
    page.keyboard.press("Space")
    assert visited.complaints == []
    assert visited.hosts == {url.split("/")[2]}


@pytest.mark.slow
def test_a_link_opens_its_step(live, visit) -> None:
    url, league = live
    page = visit(f"{url}/m/{league.clean.public_id}/?b=2&s=1#d1p17").page
    assert page.locator("#d1p17").get_attribute("aria-current") == "step"
    assert say(page) == page.inner_text("#d1p17 .unseen").strip()
    assert page.inner_text("#table") == "Reparto 2, asientos B"
    page.click("#d1p20 a")
    until(page, "location.hash === '#d1p20'")
    assert page.evaluate("location.search + location.hash") == "?b=2&s=1#d1p20"


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_table_controls_and_list_stand_in_one_view(live, visit, width: int, height: int) -> None:
    url, league = live
    visited = visit(f"{url}/m/{league.clean.public_id}/#d1p9", width=width, height=height)
    page = visited.page
    boxes = page.evaluate(
        """() => Object.fromEntries([".felt", ".controls", ".list", "tute-replay"].map((name) =>
            [name, document.querySelector(name).getBoundingClientRect().toJSON()]))"""
    )
    assert page.evaluate("scrollY") == 0, "a link to a step leaves the head of the page in view"
    for name in (".felt", ".controls", *([".list"] if width > 1000 else [])):
        assert boxes[name]["top"] >= 0, name
        assert boxes[name]["bottom"] <= height, name
    if width > 1000:
        assert boxes[".list"]["left"] > boxes[".felt"]["right"]
    assert page.evaluate("document.getElementById('main').scrollWidth") <= width
    assert visited.complaints == []


@pytest.mark.slow
def test_the_list_draws_cards_in_a_column_for_each_seat(live, visit) -> None:
    url, league = live
    page = visit(f"{url}/m/{league.clean.public_id}/").page
    columns = page.evaluate(
        """() => [...document.querySelectorAll('li.play')].map((li) =>
            [+li.dataset.seat, Math.round(li.getBoundingClientRect().left), Math.round(li.getBoundingClientRect().top)])"""
    )
    lefts = {seat: {x for at, x, _y in columns if at == seat} for seat in range(4)}
    assert all(len(places) == 1 for places in lefts.values()), "a seat keeps its column"
    assert len({y for _seat, _x, y in columns}) == 10, "a trick has one row"
    cells = page.locator("li.play .cell").all_inner_texts()
    assert {text.strip() for text in cells} <= {str(number) for number in range(1, 13)}, "numbers of cards, no codes"
    assert page.locator("li.play .cell svg use").count() == 40
    assert page.locator("li.play.takes").count() == 10
    assert "caballo de" in " ".join(page.locator("li.play .unseen").all_text_contents())


@pytest.mark.slow
def test_tabs_open_without_a_script(live, visit) -> None:
    url, league = live
    page = visit(f"{url}/m/{league.clean.public_id}/", java_script_enabled=False).page
    assert page.is_visible("#boards")
    page.click("label[for=tab-about]")
    assert page.is_hidden("#boards")
    assert page.is_visible(".noscript")


@pytest.mark.slow
def test_every_card_is_somewhere_at_every_step(live, visit) -> None:
    url, league = live
    page = visit(f"{url}/m/{league.clean.public_id}/").page
    hands, table = ".hand svg", ".baize svg"
    assert page.locator(hands).count() == 40
    for step in range(1, 12):
        page.keyboard.press("ArrowRight")
        gone = page.evaluate("document.querySelectorAll('li.play').length")
        played_cards = page.evaluate(
            "[...document.querySelectorAll('ol.steps li')].findIndex((li) => li.ariaCurrent === 'step')"
        )
        assert played_cards == step
        laid = page.evaluate(
            f"[...document.querySelectorAll('ol.steps li')].slice(0, {step + 1}).filter((li) => li.classList.contains('play')).length"
        )
        assert page.locator(hands).count() == 40 - laid
        assert page.locator(table).count() in (laid % 4, 4)
        assert gone == 40


@pytest.mark.slow
def test_seeing_as_a_seat_hides_the_other_hands(live, visit) -> None:
    url, league = live
    page = visit(f"{url}/m/{whole_game(league).public_id}/").page
    backs = ".hand use[href$='#card-back']"
    assert page.locator(backs).count() == 0
    page.keyboard.press("1")
    assert page.evaluate("location.hash") == "#d1p0&as=0"
    assert page.locator(backs).count() == 6
    page.keyboard.press("n")
    draws = page.evaluate(
        "[...document.querySelectorAll('li.draw[data-seat=\"1\"] .secret')].every((one) => one.hidden)"
    )
    assert draws
    page.keyboard.press("1")
    assert page.locator(backs).count() == 0


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_pages_fit_and_are_quiet(live, visit, width: int, height: int) -> None:
    url, league = live
    circuits.create(
        league.ana, "Liga de los viernes", "cabrero", days="fri", at="20:00", time_zone="UTC", now=clock.present()
    )
    visited = visit(f"{url}/", width=width, height=height)
    for path in (
        "/",
        "/calendar/",
        "/lobby/",
        "/g/partnership/",
        "/g/",
        "/bots/rufo/",
        "/bots/rufo/v1/",
        f"/t/{league.cup.slug}/",
        "/m/",
        f"/m/{league.clean.public_id}/#d1p22",
        f"/m/{league.faulty.public_id}/",
        "/docs/protocol/",
        "/docs/fairness/",
        "/accounts/signup/",
    ):
        visited.go(url + path)
        for scheme in ("light", "dark"):
            visited.page.emulate_media(color_scheme=scheme)
            assert visited.page.evaluate("document.documentElement.scrollWidth") <= width, path
            paper = visited.page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (sum(int(part) for part in paper[4:-1].split(",")) < 200) == (scheme == "dark"), path
        assert visited.complaints == [], path
        assert visited.hosts == {url.split("/")[2]}, path


@pytest.mark.slow
def test_without_javascript_the_record_is_a_list_of_words(live, visit) -> None:
    url, league = live
    page = visit(f"{url}/m/{league.clean.public_id}/#d1p3", java_script_enabled=False).page
    assert page.locator("ol.steps li").count() > 50
    assert page.locator(".felt").is_hidden()
    assert page.locator("ol.steps li >> nth=1").inner_text().count("echa") == 1


@pytest.mark.slow
def test_the_theme_button_changes_without_reloading_and_stays(live, visit) -> None:
    url, _ = live
    page = visit(f"{url}/bots/").page
    page.click("button.theme")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.goto(f"{url}/t/")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


@pytest.mark.slow
def test_a_swipe_and_the_buttons_step(live, visit) -> None:
    url, league = live
    page = visit(f"{url}/m/{league.clean.public_id}/", width=360, height=740, has_touch=True).page
    page.evaluate(
        """() => {
        const felt = document.querySelector(".felt");
        const touch = (x) => new Touch({ identifier: 1, target: felt, clientX: x, clientY: 300 });
        felt.dispatchEvent(new TouchEvent("touchstart", { touches: [touch(250)] }));
        felt.dispatchEvent(new TouchEvent("touchend", { changedTouches: [touch(100)] }));
    }"""
    )
    assert page.evaluate("location.hash") == "#d1p1"
    page.tap("[data-do=next]")
    until(page, "location.hash === '#d1p2'")  # a tap becomes a click in a task of its own
    sizes = page.evaluate(
        "[...document.querySelectorAll('.controls button')].map((b) => Math.min(b.offsetWidth, b.offsetHeight))"
    )
    visible_sizes = [size for size in sizes if size]  # The slider takes the place of some.
    assert len(visible_sizes) >= 6
    assert min(visible_sizes) >= 44


@pytest.mark.slow
def test_the_form_counts_matches(live, visit) -> None:
    url, _ = live
    visited = visit(f"{url}/accounts/login/?next=/t/new/?game=partnership")
    page = visited.page
    log_in(page, "ana")
    page.wait_for_url("**/t/new/**")
    page.fill("#id_boards", "5")
    forecast = page.locator(".prediction")
    forecast.filter(has_text="con 10 partidas y 50 repartos").wait_for()
    page.fill("#id_expected", "2")
    forecast.filter(has_text="con 1 partidas y 5 repartos").wait_for()
    assert page.is_hidden("#id_gauntlet__cycles")
    page.click("text=Otros formatos")
    page.check("input[value=gauntlet]")
    page.click("text=Más opciones")
    page.fill("#id_gauntlet__cycles", "3")
    forecast.filter(has_text="con 3 partidas y 15 repartos").wait_for()
    assert visited.complaints == []


@pytest.mark.slow
def test_bots_are_found_while_somebody_types(live, visit) -> None:
    url, _ = live
    visited = visit(f"{url}/accounts/login/?next=/t/new/?game=partnership%26find=so")
    page = visited.page
    log_in(page, "ana")
    page.wait_for_url("**/t/new/**")
    assert page.input_value("#find") == "so"
    assert page.is_hidden("button[value=find]")
    page.click("text=sol v1")
    page.fill("#find", "lun")
    page.locator("label", has_text="luna v1").wait_for()
    assert page.is_checked("input[value=sol]")
    page.check("input[value=luna]")
    page.fill("#find", "nobody")
    page.locator(".found", has_text="luna").locator("label", has_text="sol v1").wait_for()
    page.press("#find", "Enter")
    page.fill("#id_expected", "2")
    page.locator(".prediction", has_text="2 bots:").wait_for()
    assert page.is_checked("input[value=luna]")
    assert "/t/new/" in page.url
    assert visited.complaints == []


def earned(events: list[dict], seats: int) -> list[list[int]]:
    """Return the points of each seat after each event: tricks and songs as they come, the last trick's bonus with it, at the end the score."""
    totals, points, score = [], [0] * seats, {}
    for number, event in enumerate(events):
        if event["e"] == "deal":
            points = [0] * seats
            score = next((later for later in events[number:] if later["e"] == "score"), {})
        elif event["e"] in ("trick", "song"):
            points[event["seat"]] += event["points"]
            others = [bonus for seat, bonus in enumerate(score.get("bonus", ())) if seat != event["seat"]]
            if event.get("last") and not any(others):
                points[event["seat"]] += score["bonus"][event["seat"]]
        elif event["e"] == "score":
            points = event["points"]
        totals.append(list(points))
    return totals


@pytest.mark.slow
def test_the_points_beside_the_bots_are_those_of_the_table_at_every_step(live, visit) -> None:
    url, _ = live
    page = visit(f"{url}/accounts/login/").page
    scores = last = 0
    for key in games():
        for players in declared(key).players:
            events = record(key, "points", players=players, deals=2)["events"]
            points = page.evaluate(
                """async ({ events, seats }) => {
                const { fold } = await import("/static/league/replay-fold.js");
                return events.map((_, at) => fold(events, at, seats).points);
            }""",
                {"events": events, "seats": players},
            )
            assert points == earned(events, players), key
            for at, event in enumerate(events):
                if event["e"] == "score":
                    assert points[at] == event["points"], "as the table of the deal says"
                    scores += 1
                    ten = events[at - 1].get("last") and max(event["bonus"]) == 10 and key != "podrida"
                    last += bool(ten and points[at - 1] == event["points"])
    assert scores > 60
    assert last > 20, "the ten of the last trick are seen when it is taken"


@pytest.mark.slow
def test_cards_travel_to_the_table_and_a_trick_to_its_winner(live, visit) -> None:
    url, league = live
    page = visit(f"{url}/m/{league.clean.public_id}/").page
    # A flight lasts a quarter of a second and may be over before anybody looks: each is noted as it begins
    page.evaluate(
        """() => { window.flown = []; const animate = Element.prototype.animate;
        Element.prototype.animate = function (...how) {
            window.flown.push(this.closest(".laid, .flying, .hand")?.className.split(" ")[0]);
            return animate.apply(this, how);
        }; }"""
    )
    flights = "() => window.flown.splice(0)"
    page.keyboard.press("ArrowRight")
    assert "laid" in page.evaluate(flights)
    until(page, "() => document.getAnimations().length === 0")
    assert page.locator(".laid").count() == 1
    page.keyboard.press("Shift+ArrowRight")
    assert page.evaluate(flights) == [], "who jumps sees where he has come to"
    assert page.locator(".laid").count() == 4
    page.keyboard.press("ArrowRight")
    assert page.evaluate(flights).count("flying") == 4
    until(page, "() => document.querySelector('.flying').childElementCount === 0")
    assert page.locator(".laid").count() == 1

    page = visit(f"{url}/m/{league.clean.public_id}/", reduced_motion="reduce").page
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.getAnimations().length") == 0
    assert page.locator(".laid").count() == 1


@pytest.mark.slow
def test_on_a_phone_seats_keep_their_places_and_the_controls_are_in_reach(live, visit) -> None:
    url, league = live
    page = visit(f"{url}/m/{league.clean.public_id}/#d1p3", width=360, height=740).page
    page.locator(".felt").scroll_into_view_if_needed()
    page.evaluate("document.querySelector('.felt').scrollIntoView({ block: 'start' })")
    boxes = page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll(".seat"), document.querySelector(".middle"), document.querySelector(".controls")]
            .map((node) => [node.className.match(/at-\\d|middle|controls/)[0], node.getBoundingClientRect().toJSON()]))"""
    )

    assert boxes["at-3"]["right"] <= boxes["at-1"]["left"]
    assert boxes["at-3"]["top"] == boxes["at-1"]["top"]
    assert boxes["at-2"]["bottom"] <= boxes["at-3"]["top"]
    assert boxes["at-3"]["bottom"] <= boxes["middle"]["top"]
    assert boxes["middle"]["bottom"] <= boxes["at-0"]["top"]
    assert boxes["at-0"]["bottom"] <= 740
    assert boxes["controls"]["top"] >= 0
    assert boxes["controls"]["bottom"] <= 740


@pytest.mark.slow
def test_the_drawing_of_a_judgement_and_the_table_go_together(live, visit, monkeypatch) -> None:
    monkeypatch.setattr(analysis, "Child", partial(Child, nodes=300))
    url, league = live
    match = league.clean
    asking.ask(match, "open", league.ana, now=made.NOW)
    Match.objects.filter(status="queued").update(held_back=True)
    job = jobs.ANALYSIS.claim("host:1", now=made.NOW)
    assert job is not None
    assert jobs.run(job, now=made.NOW)
    job.subject.refresh_from_db()
    every = reading.placed(bodies.unpack(bytes(job.subject.body)), reading.seatings(job.subject))
    place = reading.costliest(every, "points", 1)[0]
    worst = place.verdict
    step = f"d{worst.deal}p{worst.ply}"

    visited = visit(f"{url}/m/{match.public_id}/?b={place.board}&s={place.sitting}")
    page = visited.page
    assert page.inner_text(f"#{step} .lost").strip() == f"−{worst.lost:.0f}"
    page.focus(f"tute-judgement a[href='#{step}']")
    page.keyboard.press("Enter")
    until(page, f"document.querySelector('#{step}').getAttribute('aria-current') === 'step'")
    assert page.evaluate("location.hash") == f"#{step}"
    assert "Pierde" in page.inner_text(".verdict")
    assert page.locator("tute-judgement a[aria-current]").get_attribute("href") == f"#{step}"
    page.keyboard.press("Home")
    until(page, "!document.querySelector('tute-judgement a[aria-current]')")
    assert page.inner_text(".verdict") == ""
    assert visited.complaints == []
    for width, height in SIZES:
        for scheme in ("light", "dark"):
            narrow = visit(f"{page.url.partition('#')[0]}#{step}", width=width, height=height, scheme=scheme)
            assert narrow.page.evaluate("document.documentElement.scrollWidth") <= width
            assert narrow.complaints == []


def in_spanish(action: str) -> str:
    """Return the name of an action as the page of these tests says it."""
    with translation.override("es"):
        return action_name(action)


@pytest.mark.slow
def test_the_steps_tell_what_a_bot_of_the_house_would_have_done(live, visit, tmp_path) -> None:
    url, league = live
    consulting.enter("greedy")
    match = consulting.told(league.clean)
    row, _created = consultations.ask(match, 1, 0, 0, "greedy", league.ana, now=made.NOW)
    Match.objects.filter(status="queued").update(held_back=True)
    assert consulting.carry_out(tmp_path)
    row.refresh_from_db()
    decisions = answers(row)
    same, differs = (
        next(decision for decision in decisions if decision.differs is different) for different in (False, True)
    )

    for width, height in SIZES:
        visited = visit(f"{url}/m/{match.public_id}/?b=1&s=0#{differs.anchor}", width=width, height=height)
        page = visited.page
        until(page, f"document.querySelector('#{differs.anchor}').getAttribute('aria-current') === 'step'")
        for decision, words in ((same, "igual"), (differs, in_spanish(differs.would))):
            mark = page.locator(f"#{decision.anchor} .would")
            assert " ".join(mark.inner_text().split()) == f"greedy: {words}"
            assert page.locator(f"#{decision.anchor} .would.unlike").count() == decision.differs
        page.click("label[for=tab-ask] >> nth=-1")
        page.click("#consultation summary")
        last = [decision for decision in decisions if decision.differs][-1]
        page.click(f"#consultation li a[href='#{last.anchor}']")
        until(page, f"document.querySelector('#{last.anchor}').getAttribute('aria-current') === 'step'")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert visited.complaints == []
