"""Numbers as people read them."""

import re

import pytest
from django import forms
from django.utils import translation
from django.utils.datastructures import MultiValueDict

from league.templatetags.league_many import checkbox_labels
from league.templatetags.league_web import drawn, fixed, human_size, in_unit, signed
from league.web.common.words import percent


@pytest.mark.parametrize(
    ("score", "size", "text"),
    [(162, 1, "162"), (-4, 1, "−4"), (None, 1, ""), (1118, 1000, "1.118"), (90, 1000, "0.090"), (0, 1000, "0.000")],
)
def test_score_in_the_unit_of_the_game(score: int | None, size: int, text: str) -> None:
    with translation.override("en"):
        assert in_unit(score, size) == text


def test_numbers_are_written_as_the_reader_writes_them() -> None:
    def told() -> list[str]:
        return [fixed(-1.118, 3), signed(2.5, 1), signed(-0.01, 1), percent(0.573), human_size(10 * 1024 * 1024)]

    with translation.override("en"):
        assert told() == ["−1.118", "+2.5", "0.0", "57.3%", "10.0 MB"]
    with translation.override("es"):
        assert told() == ["−1,118", "+2,5", "0,0", "57,3\u202f%", "10,0 MB"]
        assert drawn(12.34) == "12.3"  # a drawing speaks no language


class Boxes(forms.Form):
    """A form with three boxes."""

    choice = forms.MultipleChoiceField(
        choices=[("a", "A"), (2, "<b>"), ('"', "c")], initial=["a"], widget=forms.CheckboxSelectMultiple
    )


@pytest.mark.parametrize("data", [None, {"choice": ["2", '"']}, {}])
def test_boxes_are_those_that_django_makes(data: dict[str, list[str]] | None) -> None:
    def inputs(html: str) -> list[tuple[str, ...]]:
        boxes = re.findall(r"<input[^>]*>", html)
        return [
            (*(re.search(rf' {name}="([^"]*)"', box)[1] for name in ("name", "value", "id")), "checked" in box)
            for box in boxes
        ]

    form = Boxes(MultiValueDict(data) if data is not None else None)
    labels = checkbox_labels(form["choice"])
    assert inputs(labels) == inputs(str(form["choice"]))
    assert re.findall(r'for="(.*?)"', labels) == [box[2] for box in inputs(labels)]
    assert "&lt;b&gt;" in labels
    assert "<b>" not in labels


def test_pages_are_compressed(client, db) -> None:
    answer = client.get("/", headers={"accept-encoding": "gzip"})

    assert answer.headers["Content-Encoding"] == "gzip"
    assert len(answer.content) < 8_000
