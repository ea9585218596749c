"""Reports: known answers for made-up boards, intervals that cover, and a digest that says what it covers."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

import engine
from engine.lab.facts import EVENTS, WITHOUT
from engine.lab.picture import chart, compare
from engine.lab.report import COUNTS, MEASURES, build, digest, quotient
from engine.lab.words import WORDS

STUDIES = Path(__file__).resolve().parents[3] / "docs" / "studies"
META = {"bots": [{"name": "a", "sha256": ""}, {"name": "b", "sha256": ""}], "seed": "s", "engine": "1"}
NAMES = ("lead", "deals", "tricks", "decisions", "choices", "half", "runaway", "forty", *EVENTS)
NO_FACTS = dict.fromkeys([*NAMES, *(f"{name}_decides" for name in (*WITHOUT, "tute", "capote"))], 0)


def boards_of(scores: list[tuple[tuple[int, int], tuple[int, int]]], **facts: int) -> list[dict[str, Any]]:
    """Return boards for two seats: the scores of each sitting by seat. In the second sitting the parties have changed places."""
    return [
        {
            "scores": [first[0] + second[1], first[1] + second[0]],
            "sittings": [{"scores": list(s), "facts": NO_FACTS | facts} for s in (first, second)],
        }
        for first, second in scores
    ]


def report_of(scores: list[tuple[tuple[int, int], tuple[int, int]]], **facts: int) -> dict[str, Any]:
    return build(engine.load("brisca"), boards_of(scores, **facts), META)


@pytest.mark.parametrize(
    ("cards", "play", "expected"),
    [(10, 0, 1.0), (0, 10, 0.0), (10, 10, 0.5), (20, 10, 0.8)],
)
def test_luck_is_the_part_of_the_variance_that_the_cards_explain(cards: int, play: int, expected: float) -> None:
    """The cards give the same to a seat in both sittings, play gives something new; who is better and where one sits is no luck."""
    rng, skill, seat = random.Random(1), 7.0, 5.0
    scores = []
    for _ in range(4000):
        deal = rng.gauss(0, cards)
        leads = [seat + deal + rng.gauss(0, play) + sign * skill for sign in (1, -1)]
        scores.append(tuple((round(60000 + 1000 * lead), round(60000 - 1000 * lead)) for lead in leads))
    measure = report_of(scores)["measures"]["luck"]  # type: ignore[arg-type]

    assert measure[0] == pytest.approx(expected, abs=0.05)
    assert measure[1] - 0.01 <= expected <= measure[2] + 0.01


def test_the_advantage_of_a_place_is_what_its_seat_gets_over_the_mean_wherever_the_lead_is() -> None:
    scores = [((70, 50), (70, 50))] * 3 + [((66, 54), (66, 54))] * 3
    leads_first, second = report_of(scores)["seats"]
    turned = build(engine.load("brisca"), boards_of([((b, a), (d, c)) for (a, b), (c, d) in scores], lead=1), META)

    assert leads_first[0] == 8.0
    assert second[0] == -8.0
    assert leads_first[1] < 8 < leads_first[2]
    assert turned["seats"] == [leads_first, second]


def test_shares_strength_and_counts() -> None:
    won, lost = ((70, 50), (50, 70)), ((50, 70), (70, 50))
    drawn = ((60, 60), (60, 60))
    report = report_of([won] * 60 + [lost] * 20 + [drawn] * 20, deals=1, tricks=20, decisions=10, choices=25, song=1)
    measures = report["measures"]

    assert measures["share"][0] == 0.7
    assert measures["share"][1] > 0.5
    assert measures["drawn"][0] == 0.2
    assert measures["boards_needed"][0] == pytest.approx((2 * 0.4020 / 0.2) ** 2, rel=0.02)
    assert (measures["tricks"], measures["choices"]) == ([20.0] * 3, [2.5] * 3)
    assert measures["song"] is None or measures["song"][0] == 1.0
    assert measures["runaway"] is None, "no side was ahead"
    assert report_of([won, lost, drawn] * 4)["measures"]["boards_needed"][2] is None, "nothing tells equal bots apart"


def test_a_share_that_never_varies_still_has_an_interval() -> None:
    game, scores = engine.load("partnership"), [((70, 50), (50, 70))] * 50
    rows = boards_of(scores, deals=1)
    for board in rows:
        for sitting in board["sittings"]:
            sitting["scores"] = sitting["scores"] * 2
    measures = build(game, rows, META)["measures"]

    assert measures["tute_decides"][:2] == [0.0, 0.0]
    assert 0.02 < measures["tute_decides"][2] < 0.1
    assert measures["exchange"] is None, "ordinary Tute in pairs has no exchange"


def test_intervals_cover_the_truth_in_nineteen_of_twenty_samples() -> None:
    rng, covered = random.Random(3), 0
    for _ in range(600):
        below = [float(rng.randint(1, 3)) for _ in range(40)]
        above = [float(sum(rng.random() < 0.3 for _ in range(int(count)))) for count in below]
        _, low, high = quotient(above, below)
        covered += low <= 0.3 <= high

    assert 0.91 < covered / 600 < 0.975


def test_the_digest_covers_everything_but_its_cost() -> None:
    report = report_of([((70, 50), (50, 70)), ((61, 59), (50, 70))])

    assert digest(report | {"cpu_s": 9.9}) == report["digest"]
    assert digest(report | {"seed": "t"}) != report["digest"]
    with pytest.raises(ValueError, match="at least two boards"):
        report_of([((70, 50), (50, 70))])


def test_every_measure_has_words_and_a_form() -> None:
    assert set(WORDS) == set(MEASURES) >= set(COUNTS)
    assert all(words.es and words.es_note and words.en_note for words in WORDS.values())


def test_pictures_are_xml_without_scripts_or_styles_even_for_hostile_names() -> None:
    from xml.etree import ElementTree

    report = report_of([((70, 50), (50, 70)), ((61, 59), (50, 70))], deals=1)
    for text in (
        compare([report, report], ["<script>", "b & c"]),
        chart("x", [("one", [None, (0.5, -0.1, None)])]),
        chart("empty", []),
    ):
        names = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(text).iter()}
        assert names <= {"svg", "title", "rect", "text", "path", "circle"}


@pytest.mark.parametrize("path", sorted((STUDIES / "lab").glob("*.json")), ids=lambda path: path.stem)
def test_stored_reports_are_whole_and_of_the_present_rules(path: Path) -> None:
    reports = json.loads(path.read_text(encoding="utf-8"))

    assert reports[0]["options"] == {}
    assert reports[0]["players"] == engine.load(path.stem).players
    for report in reports:
        game = engine.load(report["game"], players=report["players"], **report["options"])
        assert (report["game"], report["revision"]) == (path.stem, game.revision), "play the lab again: make studies"
        assert report["digest"] == digest(report)
        assert len(report["seats"]) == len(game.sides)
        assert set(report["measures"]) == set(MEASURES)
