"""The list of all messages has every kind of them, each with its place."""

from __future__ import annotations

import pytest

from tests.support.messages import ROOT, Message, messages


@pytest.fixture(scope="module")
def listed() -> list[Message]:
    return messages()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "folder", "text"),
    [
        ("catalogue", "league/templates/", "Write a bot"),
        ("catalogue", "league/templates/", "%(bots)s bots"),
        ("catalogue", "league/web/", "Teams of two different bots that change partners."),
        ("catalogue", "league/domain/", "the name {name!r} is taken; choose another"),
        ("catalogue", "league/api/", "Too many requests"),
        ("catalogue", "league/enums.py", "validating"),
        ("error", "engine/match/", "{"),
        ("error", "engine/packages/", "bot.toml"),
        ("error", "engine/cli/", "{"),
        ("error", "engine/runner/", "{"),
        ("catalogue", "league/api/", "Send an API key, or log in on the site, to do this."),
        ("error", "league/management/", "make texts"),
        ("help", "engine/cli/", "seed"),
        ("help", "league/management/", "any text; it determines every deal"),
        ("help", "league/api/", "Null if the bot has played fewer than half of the games."),
        ("table", "engine/sandbox/", "bubblewrap"),
        ("table", "league/api/", "Bots, their versions and teams."),
    ],
)
def test_a_known_message_of_each_kind_is_listed(listed, kind, folder, text) -> None:
    assert [
        message
        for message in listed
        if message.kind == kind and message.path.startswith(folder) and text in message.text
    ]


@pytest.mark.slow
def test_messages_have_the_place_where_they_stand(listed) -> None:
    [message] = [
        message for message in listed if message.text == "This API key does not exist, has expired or was revoked."
    ]

    assert message.text in (ROOT / message.path).read_text(encoding="utf-8").splitlines()[message.line - 1]
    assert len(listed) > 1200
