"""Passkeys: a device of a player signs in with a key of its own, without name and password.

The library `webauthn` checks what the device signs. It is imported late, because only these functions need it and its cryptography.

A challenge is a random number that the device signs, so that an answer serves only once; the caller keeps it in the session and forgets it at the
first answer. Keys are bound to settings.PASSKEY_ORIGIN, never to the host that a request names.
"""

from __future__ import annotations

import json
import secrets
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.crypto import salted_hmac

from league.domain.core import clock, journal
from league.domain.core.errors import Refused
from league.domain.people import bans, players
from league.models import Passkey, Player
from league.pure.refusal import translatable

if TYPE_CHECKING:
    from webauthn.helpers.structs import PublicKeyCredentialDescriptor

ANSWER_WITHIN = timedelta(minutes=5)
MOST = 10  # The most passkeys of a player.
MOST_NAME = 60
MOST_ANSWER = 16_000  # The most characters of a device's answer.
SITE = "Tute League"
NOT_VALID = translatable("this passkey was not accepted; try again, or log in with your password")


def is_on() -> bool:
    """Return True if the league knows the address to which keys are bound."""
    return bool(settings.PASSKEY_ORIGIN)


def site_id() -> str:
    """Return the host name to which keys are bound."""
    return urlsplit(settings.PASSKEY_ORIGIN).hostname or ""


def new_challenge() -> str:
    """Return a challenge as text."""
    return secrets.token_hex(32)


def options_to_add(player: Player, challenge: str) -> str:
    """Return what a browser needs to make a key for a player, as JSON. One query."""
    from webauthn import generate_registration_options, options_to_json
    from webauthn.helpers.structs import (
        AuthenticatorSelectionCriteria,
        ResidentKeyRequirement,
        UserVerificationRequirement,
    )

    options = generate_registration_options(
        rp_id=site_id(),
        rp_name=SITE,
        user_id=salted_hmac("league.passkey", str(player.pk), algorithm="sha256").digest(),
        user_name=player.name,
        challenge=bytes.fromhex(challenge),
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED, user_verification=UserVerificationRequirement.PREFERRED
        ),
        exclude_credentials=[_descriptor(row) for row in player.passkeys.order_by("pk")],
    )
    return options_to_json(options)


def _descriptor(row: Passkey) -> PublicKeyCredentialDescriptor:
    from webauthn import base64url_to_bytes
    from webauthn.helpers.structs import PublicKeyCredentialDescriptor

    return PublicKeyCredentialDescriptor(id=base64url_to_bytes(row.credential))


def options_to_sign_in(challenge: str) -> str:
    """Return as JSON what a browser needs to offer the keys of this site; the device knows their accounts. No query."""
    from webauthn import generate_authentication_options, options_to_json
    from webauthn.helpers.structs import UserVerificationRequirement

    preferred = UserVerificationRequirement.PREFERRED
    options = generate_authentication_options(
        rp_id=site_id(), challenge=bytes.fromhex(challenge), user_verification=preferred
    )
    return options_to_json(options)


def add(player: Player, name: str, answer: str, challenge: str, *, now: datetime | None = None) -> Passkey:
    """Store the key that a device has made. Raise Refused if the answer is not valid, or the player has too many keys."""
    from webauthn import verify_registration_response
    from webauthn.helpers import bytes_to_base64url

    now = clock.now_or(now)
    name = " ".join(name.split())[:MOST_NAME]
    if not name or not name.isprintable():
        raise Refused("give the passkey a name, such as the device that holds it")
    device = _checked(
        verify_registration_response,
        credential=_read(answer),
        expected_challenge=bytes.fromhex(challenge),
        expected_rp_id=site_id(),
        expected_origin=_origin(answer),
    )
    with transaction.atomic():
        players.lock(player.pk)
        if player.passkeys.count() >= MOST:
            raise Refused("you have {most} passkeys, which is the limit; remove one first", most=MOST)
        try:
            with transaction.atomic():
                row = Passkey.objects.create(
                    player=player,
                    name=name,
                    credential=bytes_to_base64url(device.credential_id),
                    public_key=device.credential_public_key,
                    sign_count=device.sign_count,
                    created=now,
                )
        except IntegrityError:
            raise Refused(NOT_VALID) from None
        journal.append("player.passkey_added", f"player:{player.name}", now=now, actor=player.name, name=name)
    return row


def sign_in(answer: str, challenge: str, *, now: datetime | None = None) -> Passkey:
    """Return the passkey with which a device has signed. Its player may sign in. Raise Refused.

    A counter that does not grow means that somebody has copied the key: it signs nobody in, and the journal says so.
    """
    from webauthn import verify_authentication_response

    now = clock.now_or(now)
    credential = _read(answer)
    row = Passkey.objects.select_related("player__user").filter(credential=str(credential.get("id"))[:1400]).first()
    if row is None:
        raise Refused("this passkey is not known here any more; log in with your password and add it again")
    signed = _checked(
        verify_authentication_response,
        credential=credential,
        expected_challenge=bytes.fromhex(challenge),
        expected_rp_id=site_id(),
        expected_origin=_origin(answer),
        credential_public_key=bytes(row.public_key),
        credential_current_sign_count=0,
    )
    if row.player.banned:
        raise bans.refusal(row.player)
    if not row.player.user.is_active:
        raise Refused(NOT_VALID)
    count = signed.new_sign_count
    rows = Passkey.objects.filter(pk=row.pk, sign_count=row.sign_count)
    has_grown = count > row.sign_count or count == row.sign_count == 0
    if not has_grown or not rows.update(sign_count=count, last_used=now):
        subject = f"player:{row.player.name}"
        journal.append("player.passkey_copied", subject, now=now, actor=row.player.name, name=row.name)
        raise Refused("somebody has used a copy of this passkey; log in with your password and remove it")
    return row


def remove(player: Player, number: int, *, now: datetime | None = None) -> bool:
    """Remove a passkey of a player; return False if there is none with this number."""
    with transaction.atomic():
        row = player.passkeys.filter(pk=number).first()
        if row is None:
            return False
        row.delete()
        subject = f"player:{player.name}"
        journal.append("player.passkey_removed", subject, now=clock.now_or(now), actor=player.name, name=row.name)
    return True


def _read(answer: str) -> dict[str, Any]:
    """Read the JSON of a device. Raise Refused."""
    try:
        value = json.loads(answer) if len(answer) <= MOST_ANSWER else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Refused(NOT_VALID)
    return value


def _checked(verify: Any, **arguments: Any) -> Any:
    """Let the library check an answer. Raise Refused for whatever it says: anybody can send anything."""
    from webauthn.helpers.exceptions import WebAuthnException

    try:
        return verify(**arguments)
    except (WebAuthnException, ValueError, TypeError, KeyError, LookupError, ArithmeticError, AttributeError) as error:
        raise Refused(NOT_VALID) from error


def _origin(answer: str) -> str | list[str]:
    """Return the address that a browser must have signed: on localhost with any port, for a league on one's own machine."""
    if settings.PASSKEY_ORIGIN != "http://localhost":
        return str(settings.PASSKEY_ORIGIN)
    from webauthn import base64url_to_bytes

    try:
        signed = json.loads(base64url_to_bytes(_read(answer)["response"]["clientDataJSON"]))["origin"]
        parts = urlsplit(signed)
        is_here = (parts.scheme, parts.hostname) == ("http", "localhost")
    except (ValueError, TypeError, LookupError, AttributeError):
        return []
    return [signed] if is_here else []
