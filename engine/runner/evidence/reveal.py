"""Check deals that were committed to before play: the revealed secret must match the published hash and give the very deals of the log.

docs/fairness.md explains how to do the same by hand.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass
from typing import Any

import engine
from engine.cards import chance
from engine.runner.match import suits_of

SECRET_BYTES = 32


class RevealError(ValueError):
    """A log that the secret does not explain. `kind` is one of the keys of KINDS."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


KINDS = {
    "no_commitment": "the log does not name the hash that was published before play",
    "wrong_secret": "the hash of the secret is not the one that was published",
    "missing_board": "the log does not say which table, board and sitting it belongs to",
    "altered_deal": "the deal does not follow from the secret",
}


def commitment(secret: bytes) -> str:
    """Return the SHA-256 of the secret in hexadecimal, which is published before the first card."""
    return hashlib.sha256(secret).hexdigest()


@dataclass(frozen=True)
class Revealed:
    """A secret, and the commitment published before play ('' if there was none)."""

    secret: bytes
    published: str = ""

    def check_commitment(self) -> None:
        """Raise RevealError if the hash of the secret differs from the one that was published before play."""
        if self.published and not hmac.compare_digest(self.published.lower(), commitment(self.secret)):
            raise RevealError(
                "wrong_secret",
                f"the secret hashes to {commitment(self.secret)}, but {self.published} was published before play: "
                "the deals may have been chosen afterwards, or this is another tournament's secret",
            )

    def check(self, replay: dict[str, Any]) -> None:
        """Raise RevealError if the deals of a replay do not follow from the secret. `replays.check` verifies the events."""
        meta = replay.get("meta")
        meta = meta if isinstance(meta, dict) else {}
        self._check_log(meta.get("secret_sha256"))
        table, board, sitting = (meta.get(name) for name in ("table", "board", "sitting"))
        if type(table) is not str or type(board) is not int or type(sitting) is not int or sitting < 0:
            raise RevealError(
                "missing_board",
                "meta must name table (text), board and sitting (whole numbers), because the deal follows from them; "
                "download the log from the league again",
            )
        game = engine.load(replay["game"], players=replay["players"], **replay["options"])
        seed = engine.board_seed(self.secret, game.key, table, board)
        where = f"table {table}, board {board}"
        if replay["seed"] != seed.hex():
            raise RevealError(
                "altered_deal",
                f"the cards of {where} come from seed {replay['seed']}; by the secret they come from {seed.hex()}: "
                "this deal was changed, or the log belongs to another board",
            )
        suits = suits_of(game, seed, sitting) or "".join(game.pack.suits)
        if replay["suits"] != suits:
            raise RevealError(
                "altered_deal",
                f"the suits of {where}, sitting {sitting} are in the order {replay['suits']}; by the secret they are {suits}",
            )

    def _check_log(self, logged: object) -> None:
        if logged is None and self.published:
            return  # The hash noted before play was checked, which proves more than the log's own.
        if type(logged) is not str:
            raise RevealError(
                "no_commitment",
                "meta.secret_sha256 is missing, so the log does not name the hash that was published before play; "
                "give that hash with --commitment",
            )
        if not hmac.compare_digest(logged.lower().encode(), commitment(self.secret).encode()):
            raise RevealError(
                "wrong_secret",
                f"the log names the hash {logged}, but the hash of the given secret is {commitment(self.secret)}: "
                "the secret belongs to another tournament, or is incomplete",
            )


def parse(text: str) -> Revealed:
    """Parse a secret in one of the forms that people have. Raise ValueError that says what was expected.

    Accepted: 64 hexadecimal digits; `seed:TEXT`, the seed of a local `tute play`; the API's JSON of a tournament, with `secret` and `secret_sha256`.
    """
    text = text.strip()
    if text.startswith("seed:"):
        return Revealed(chance.as_seed(text[5:]))
    if text.startswith("{"):
        try:
            data = json.loads(text)
        except ValueError as error:
            raise ValueError(f"this is not JSON: {error}") from None
        secret = data.get("secret")
        if secret is None:
            raise ValueError("the tournament has not revealed its secret yet; it does so after its last match")
        return Revealed(_hex(secret), str(data.get("secret_sha256") or ""))
    return Revealed(_hex(text))


def _hex(text: object) -> bytes:
    try:
        secret = bytes.fromhex(text) if isinstance(text, str) else b""
    except ValueError:
        secret = b""
    if len(secret) != SECRET_BYTES:
        raise ValueError(
            f"a secret is {2 * SECRET_BYTES} hexadecimal digits as the tournament page shows it, seed:TEXT for a local match, "
            "or a file with one of these or the tournament's JSON"
        )
    return secret
