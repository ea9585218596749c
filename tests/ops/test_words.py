"""The check of prose and names: each rule finds its example and accepts the better sentence."""

from __future__ import annotations

import pytest

from tests.support import words

PYTHON = {
    "docstring begins with": (
        'def f():\n    """Whether it ends."""\n',
        'def f():\n    """Return True if it ends."""\n',
    ),
    "bare participle or preposition as a name": ("for found in rows:\n    pass\n", "for match in rows:\n    pass\n"),
    "comment is a torn-off clause": ("x = 1  # of the ratings\n", "x = 1  # Revision of the ratings\n"),
    "phrase 'anew'": ("# Make it anew.\n", "# Make it again.\n"),
}
DOCUMENT = {
    "headless clause as a subject": ("Who has the key can play.", "Anyone with the key can play."),
    "document has more than 300 lines": ("A line.\n\n" * 151, "A line.\n\n" * 150),
    "document has more than 2500 words": ("a word\n\n" * 1 + "| word " * 2500, "| word " * 1200),
    "paragraph has more than 700 characters": ("A long paragraph. " * 40, "A short paragraph."),
    "phrase 'of the house'": ("A bot of the house plays.", "A house bot plays."),
}


@pytest.mark.parametrize(
    ("path", "rule", "wrong", "right"),
    [
        *(("a.py", rule, *texts) for rule, texts in PYTHON.items()),
        *(("a.md", rule, *texts) for rule, texts in DOCUMENT.items()),
    ],
    ids=lambda text: text[:30] if "\n" not in text else "",
)
def test_a_rule_finds_its_example_and_no_more(path: str, rule: str, wrong: str, right: str) -> None:
    assert [finding.rule for finding in words.check(path, wrong)] == [rule]
    assert words.check(path, right) == []


def test_an_argument_is_a_name_and_a_tools_comment_is_no_prose() -> None:
    assert [finding.line for finding in words.check("a.py", "x = 1\ndef f(of):\n    pass  # noqa: of\n")] == [2]


def test_headings_tables_and_code_are_no_paragraphs() -> None:
    wide = "wide " * 200
    assert words.check("a.md", f"# {wide}\n\n| {wide} |\n\n```\n{wide}\n```\n") == []
