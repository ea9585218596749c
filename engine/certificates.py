"""Certificates of results: a league signs them (Ed25519), and anybody can check them with its public key, without the league.

A certificate is JSON: {"certificate": {...}, "signature": "..."}. The signature, in base64, is of the fields in one form (`signed_bytes`).
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

FORMAT = "tute-certificate/1"
LARGEST = 1 << 16  # Bytes of a certificate, or of a key.


class CertificateError(ValueError):
    """A certificate, or a key, that is not valid."""


def signed_bytes(fields: Mapping[str, str | int]) -> bytes:
    """Return the fields of a certificate in the form that is signed: JSON with sorted names, without spaces, in UTF-8."""
    return json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def check(document: bytes, key: bytes) -> dict[str, Any]:
    """Return the fields of a certificate that the owner of a public key (PEM) has signed. Raise CertificateError for any other."""
    try:
        from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_public_key
    except ModuleNotFoundError:
        raise CertificateError("a certificate needs an extra: pip install 'tute-league[certificates]'") from None
    try:
        public = load_pem_public_key(key)
        if not isinstance(public, Ed25519PublicKey):
            raise ValueError("another kind")
    except (ValueError, UnsupportedAlgorithm):
        raise CertificateError("the key is no public key of a league (PEM, Ed25519)") from None
    try:
        whole = json.loads(document, object_pairs_hook=_without_twins)
        fields = whole["certificate"]
        signature = base64.b64decode(whole["signature"], validate=True)
        # Refuse unsigned fields beside the signed ones.
        if set(whole) != {"certificate", "signature"} or fields["format"] != FORMAT:
            raise ValueError("other fields")
        public.verify(signature, signed_bytes(fields))
    except InvalidSignature:
        raise CertificateError("the signature is not that of this key: the certificate is forged or changed") from None
    except (ValueError, TypeError, KeyError, RecursionError, binascii.Error):
        raise CertificateError("the file is no certificate of a league") from None
    return dict(fields)


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a name appears twice")
    return dict(pairs)
