"""Files of options: what they say, and what is refused with file, line and what is allowed."""

from pathlib import Path

import pytest

from engine.errors import OptionError
from engine.lab.variants import LARGEST, Variant, read


def test_a_file_names_game_players_and_options(tmp_path: Path) -> None:
    file = tmp_path / "two.toml"
    file.write_text('game = "guinote"\nplayers = 2\n\n[options]\nexchange = "none"\n')

    assert read(file) == Variant("guinote", 2, {"exchange": "none"})
    assert read(file).load().rules.exchange == "none"
    assert read(file).parent == Variant("guinote")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'game = "guinot"', "line 1: unknown game 'guinot' (did you mean 'guinote'?); games are: "),
        (b"", 'bad.toml: name the game, such as game = "guinote"'),
        (b"game = 3", 'line 1: name the game, such as game = "guinote"'),
        (b'game = "brisca"\nplayers = 7', "line 2: brisca is played by 2, 3, 4 players, not 7"),
        (b'game = "brisca"\nplayers = [2]', "line 2: brisca is played by 2, 3, 4 players, not [2]"),
        (b'game = "brisca"\nplayers = 2.0', "line 2: brisca is played by 2, 3, 4 players, not 2.0"),
        (b'game = "brisca"\noptions = 3', "line 2: write options as a table below [options]"),
        (b'game = "brisca"\nexchange = "none"', "line 2: unknown field 'exchange'; allowed are game, players, options"),
        (
            b'game = "brisca"\n[options]\n\nexchnage = "none"',
            "line 4: brisca has no option 'exchnage' for 2 players (did",
        ),
        (
            b'game = "brisca"\n[options]\nexchange = "all"',
            "line 3: brisca: exchange must be one of 'immediate', 'none', not",
        ),
        (b'game = "brisca"\n[options]\nexchange = {a = [1]}', "line 3: brisca: exchange must be one of"),
        (
            b'game = "brisca"\n[options]\nmatch_games = true',
            "line 3: brisca: match_games must be a whole number, 1 to 100",
        ),
        (b'game = "guinote"\n[options]\nform = "full"\nexchange = "immediate"', "line 3: guinote: without a stock"),
        (b'game = "brisca\n', "bad.toml: this is not TOML: Illegal character '\\n' (at line 1, column 15)"),
        (b'game = "\x00"', "bad.toml: this is not TOML"),
        (b'game = "\xff"', "bad.toml: byte 9 is not UTF-8 text"),
        (b"a = " + b"[" * 5000, "bad.toml: this is not TOML"),
        (b"#" * (LARGEST + 1), "bad.toml: a file of options has at most 64 KiB"),
    ],
)
def test_a_bad_file_is_refused_with_its_place_and_what_is_allowed(content: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_bytes(content)

    with pytest.raises(OptionError) as caught:
        read(file)
    assert str(caught.value).startswith(str(file))
    assert message in str(caught.value)


def test_the_stored_variants_can_be_played() -> None:
    folder = Path(__file__).resolve().parents[3] / "docs" / "studies" / "variants"
    variants = [read(path) for path in folder.glob("*.toml")]

    assert len(variants) > 8
    assert all(path.name.startswith(read(path).game) for path in folder.glob("*.toml"))
    assert all(variant != variant.parent for variant in variants)
