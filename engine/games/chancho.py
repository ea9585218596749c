"""Tute chancho: Cabrero in which a king and horse of one suit that meet in a trick are sung by its winner, willing or not.

Source: rules book, chancho (001; all else as cabrero).
"""

from dataclasses import replace

from engine.games import cabrero
from engine.games.cabrero import GAME as CABRERO
from engine.rules.options import BOOL
from engine.rules.parameters import Rules


def is_of_revision_3(rules: Rules) -> bool:
    """Return True for the options of revision 3: those of cabrero, and table songs spoil a capote only where songs do."""
    spoiled_by_table_only = rules.capote_spoiled_by_table_song and not rules.capote_spoiled_by_song
    return spoiled_by_table_only or cabrero.is_of_revision_3(rules)


GAME = replace(
    CABRERO,
    key="chancho",
    revised=(is_of_revision_3,),
    code="CHA",
    title="Tute chancho",
    line={
        "en": "A cabrero in which the cards on the table sing too.",
        "es": "Un cabrero en el que también cantan las cartas de la mesa.",
    },
    source="reglamento de tute.com.ar (001)",
    table_songs="forced",
    hand_song_after_table_song=False,
    capote_spoiled_by_table_song=True,
    options={
        **CABRERO.options,
        "table_songs": ("forced", "none"),
        "hand_songs": ("trick_winner", "none"),
        "two_table_songs": ("all", "best_only"),
        "hand_song_after_table_song": BOOL,
        "capote_spoiled_by_table_song": BOOL,
    },
)
