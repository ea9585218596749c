"""The lessons of Tute in 3 minutes: the engine judges each answer as the text of the page says."""

from __future__ import annotations

from engine.lessons import ME, PARTNER, Lesson, lessons

BY_KEY: dict[str, Lesson] = {lesson.key: lesson for lesson in lessons()}


def best(key: str) -> list[str]:
    """Return the answers that bring most."""
    return [answer.text for answer in BY_KEY[key].answers if answer.best]


def legal(key: str) -> list[str]:
    """Return the answers that the rules allow."""
    return [answer.text for answer in BY_KEY[key].answers if answer.legal]


def test_each_lesson_has_one_best_answer_and_another_one() -> None:
    for lesson in lessons():
        assert [answer.best for answer in lesson.answers].count(True) == 1, lesson.key
        assert len(lesson.answers) > 1, lesson.key
        cards = [card for _seat, card in lesson.table] + list(lesson.hand)
        assert len(set(cards)) == len(cards), lesson.key


def test_the_ace_takes_most() -> None:
    assert best("take") == ["play 1c"]
    assert legal("take") == ["play 1c", "play Rc", "play Cc"]
    assert all(answer.winner == ME for answer in BY_KEY["take"].answers)


def test_following_and_beating_leaves_the_king() -> None:
    assert legal("follow") == best("follow") == ["play Re"]


def test_without_batons_only_the_trump_may_be_played() -> None:
    assert legal("ruff") == best("ruff") == ["play 2o"]
    assert next(answer for answer in BY_KEY["ruff"].answers if answer.best).points == 11


def test_the_three_is_given_to_the_partner() -> None:
    assert best("load") == ["play 3e"]
    assert {answer.winner for answer in BY_KEY["load"].answers} == {PARTNER}


def test_a_pair_of_trumps_is_worth_forty() -> None:
    assert {answer.text: answer.points for answer in BY_KEY["sing"].answers} == {"sing o": 40, "sing c": 20, "pass": 0}


def test_trumps_are_drawn_before_the_last_trick() -> None:
    assert {answer.text: answer.points for answer in BY_KEY["last"].answers} == {"play 7o": 21, "play 1b": 10}
