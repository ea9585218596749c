"""The headers of every answer."""

from __future__ import annotations

import pytest

PRIVATE, NOTHING = "private, no-cache", "no-store"


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("/", PRIVATE),
        ("/bots/", PRIVATE),
        ("/docs/", PRIVATE),
        ("/accounts/login/", NOTHING),
        ("/accounts/me/", NOTHING),
        ("/nowhere/", NOTHING),
        ("/metrics", NOTHING),
        ("/api/v1/bots", PRIVATE),
        ("/api/v1/", PRIVATE),
        ("/api/v1/schema", "public"),
        ("/static/league/mark.svg", "max-age"),
    ],
)
def test_kinds_of_pages_say_what_may_be_kept(client, db, page, expected):
    answer = client.get(page)

    assert expected in answer["Cache-Control"]
    assert "camera=()" in answer["Permissions-Policy"]
    assert "default-src 'self'" in answer["Content-Security-Policy"]


def test_plain_http_is_redirected_where_told(client, db, settings):
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

    assert client.get("/bots/?q=a")["Location"] == "https://testserver/bots/?q=a"
    assert client.get("/bots/", headers={"X-Forwarded-Proto": "https"}).status_code == 200
    assert client.get("/version").status_code == 200
