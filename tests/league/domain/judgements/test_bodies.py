"""The stored body of a judgement is read with a bound, and refused if it is not one."""

from __future__ import annotations

import zlib

import pytest

from league.domain.core.errors import Refused
from league.domain.judgements import bodies


def test_a_body_that_unpacks_to_more_than_the_bound_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(bodies, "MOST_BYTES", 1 << 16)
    body = bodies.Body()
    body.unit, body.nodes = "points", 300
    whole = bodies.pack(body)
    assert bodies.unpack(whole) == body
    padded = zlib.decompress(whole)
    padded += b" " * (bodies.MOST_BYTES - len(padded))
    assert bodies.unpack(zlib.compress(padded, 1)) == body
    with pytest.raises(Refused):
        bodies.unpack(zlib.compress(padded + b" ", 1))
