"""The measures of a report in words, English and Spanish, in the order in which they are shown."""

from __future__ import annotations

from dataclasses import dataclass

PERCENT, NUMBER, WHOLE = "percent", "number", "whole"


@dataclass(frozen=True)
class MeasureWords:
    """A measure's name and what it counts, by language, and how its value is written."""

    form: str
    en: str
    es: str
    en_note: str
    es_note: str

    def name(self, lang: str) -> str:
        """Return the name in a language."""
        return self.es if lang == "es" else self.en

    def note(self, lang: str) -> str:
        """Return what the measure counts, in a language."""
        return self.es_note if lang == "es" else self.en_note


WORDS = {
    "luck": MeasureWords(
        PERCENT,
        "Luck",
        "Suerte",
        "how much of a score the cards explain: 0% nothing, 100% everything",
        "qué parte del resultado explican las cartas: 0 % nada, 100 % todo",
    ),
    "share": MeasureWords(
        PERCENT,
        "Better bot wins",
        "Gana el mejor bot",
        "boards, each played in every seating; a draw counts half",
        "repartos, cada uno jugado en todos los puestos; el empate vale medio",
    ),
    "boards_needed": MeasureWords(
        WHOLE,
        "Boards to tell the bots apart",
        "Repartos para distinguir los bots",
        "until the difference is two standard errors",
        "hasta que la diferencia llega a dos errores típicos",
    ),
    "drawn": MeasureWords(PERCENT, "Drawn boards", "Repartos empatados", "of all boards", "de todos los repartos"),
    "runaway": MeasureWords(
        PERCENT,
        "Ahead at half time wins",
        "Gana quien va por delante a la mitad",
        "deals won by the side that is ahead in points after half of the tricks",
        "manos que gana quien lleva más tantos a la mitad de las bazas",
    ),
    "song": MeasureWords(PERCENT, "Deals with a song", "Manos con cante", "of all deals", "de todas las manos"),
    "songs_decide": MeasureWords(
        PERCENT,
        "Songs decide",
        "Deciden los cantes",
        "deals that would end differently without the points of songs",
        "manos que acabarían de otra manera sin los tantos de los cantes",
    ),
    "forty": MeasureWords(
        PERCENT, "Deals with a song of 40", "Manos con las cuarenta", "of all deals", "de todas las manos"
    ),
    "forty_decides": MeasureWords(
        PERCENT,
        "Singing 40 decides",
        "Deciden las cuarenta",
        "deals that would end differently without the points of songs of 40",
        "manos que acabarían de otra manera sin los tantos de las cuarenta",
    ),
    "tute_decides": MeasureWords(
        PERCENT, "Tute decides", "Decide el tute", "deals that end by a tute", "manos que acaban por tute"
    ),
    "capote_decides": MeasureWords(
        PERCENT, "Capote decides", "Decide el capote", "deals that end by a capote", "manos que acaban por capote"
    ),
    "exchange": MeasureWords(
        PERCENT,
        "Deals with an exchange",
        "Manos con cambio",
        "of the shown card, or of a card with the stock",
        "de la muestra o de una carta del monte",
    ),
    "last_decides": MeasureWords(
        PERCENT,
        "The last trick's bonus decides",
        "Deciden las diez de últimas",
        "deals that would end differently without that bonus",
        "manos que acabarían de otra manera sin las diez de últimas",
    ),
    "deals": MeasureWords(NUMBER, "Deals", "Manos", "each time a board is played", "cada vez que se juega un reparto"),
    "tricks": MeasureWords(
        NUMBER, "Tricks", "Bazas", "each time a board is played", "cada vez que se juega un reparto"
    ),
    "decisions": MeasureWords(
        NUMBER,
        "Decisions",
        "Decisiones",
        "with a choice, each time a board is played",
        "con más de una opción, cada vez que se juega un reparto",
    ),
    "choices": MeasureWords(
        NUMBER, "Choices per decision", "Opciones por decisión", "legal cards and calls", "cartas y voces permitidas"
    ),
}


def write(form: str, value: float | None, *, signed: bool = False) -> str:
    """Format a value of a report; None means that there is no limit."""
    if value is None:
        return "∞"
    if form == PERCENT:
        return f"{100 * value:.0f}%" if abs(value) >= 0.1 else f"{100 * value:.1f}%"
    if form == WHOLE:
        return f"{value:,.0f}"
    return f"{value:+.2f}" if signed else f"{value:.1f}"


def interval(form: str, measure: list[float | None] | None, *, signed: bool = False) -> str:
    """Format a measure as value and interval, a dash if the boards say nothing of it."""
    if measure is None:
        return "-"
    value, low, high = (write(form, number, signed=signed) for number in measure)
    return f"{value} ({low} to {high})"
