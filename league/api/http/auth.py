"""Authentication: a token in the Authorization header, or the session of the site with its CSRF check."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser, User
from django.db.models import prefetch_related_objects
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated
from rest_framework.request import Request

from league.api.http.problems import ApiProblem, message
from league.api.http.throttles import refuse_bad_token
from league.domain.people import players, tokens
from league.enums import TokenScope
from league.models import ApiToken, Player


class BearerToken(BaseAuthentication):
    """`Authorization: Bearer tute_...`. A header without a live token is refused, not treated as anonymous."""

    def authenticate(self, request: Request) -> tuple[AbstractBaseUser, ApiToken] | None:
        """Return the account and token of the header; None without a header."""
        header = request.META.get("HTTP_AUTHORIZATION", "")
        if not header:
            return None
        scheme, _, key = header.partition(" ")
        if scheme.lower() != "bearer":
            refuse_bad_token(request._request)
            raise AuthenticationFailed(
                message(
                    "The authorization scheme {scheme!r} is not supported. Send Bearer and an API key.",
                    scheme=scheme[:20],
                )
            )
        token = tokens.authenticate(key.strip())
        if token is None:
            refuse_bad_token(request._request)
            raise AuthenticationFailed(message("This API key does not exist, has expired or was revoked."))
        return token.player.user, token

    def authenticate_header(self, request: Request) -> str:
        """Return the WWW-Authenticate header of 401 responses."""
        return 'Bearer realm="tute"'


def check_scope(request: Request, needed: TokenScope) -> None:
    """Refuse a token whose scope is too small. A session may do whatever its player may."""
    token = request.auth
    if isinstance(token, ApiToken) and not TokenScope(token.scope).covers(needed):
        text = message(
            "This API key has the scope {scope}; the request needs {needed}.", scope=token.scope, needed=needed
        )
        raise ApiProblem("scope", text, header=f'Bearer realm="tute", error="insufficient_scope", scope="{needed}"')


class SiteSession(SessionAuthentication):
    """The cookie of the site."""


def player_of(request: Request) -> Player:
    """Return the player of the caller. Raise NotAuthenticated if the caller is anonymous."""
    if not request.user.is_authenticated:
        raise NotAuthenticated(message("Send an API key, or log in on the site, to do this."))
    if isinstance(request.auth, ApiToken):
        return request.auth.player
    return players.player_of_user(request.user)


def viewer_of(request: Request) -> Player | None:
    """Return the player of the caller, or None."""
    return player_of(request) if request.user.is_authenticated else None


def viewer_of_list(request: Request) -> Player | None:
    """Return the player of the caller with their memberships, which are read once for all rows of a list; or None."""
    viewer = viewer_of(request)
    if viewer is not None:
        prefetch_related_objects([viewer], "memberships")
    return viewer


def user_of(request: Request) -> User | None:
    """Return the account of the caller, or None, for league.domain.matches.sight. No query."""
    return request.user if isinstance(request.user, User) else None


class BearerTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # of the library's __init_subclass__
    """The token in the OpenAPI document."""

    target_class = BearerToken
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        """Return the security scheme object."""
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "A token of yours, from the account page of the site.",
        }


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # of the library's __init_subclass__
    """The session cookie in the OpenAPI document."""

    target_class = SiteSession
    name = "session"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        """Return the security scheme object."""
        return {"type": "apiKey", "in": "cookie", "name": "sessionid", "description": "The site's own session."}
