"""A device with passkeys, in software: it makes keys and signs challenges as a phone does, and lies where a test says so."""

from __future__ import annotations

import hashlib
import json
import secrets
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

PRESENT, VERIFIED, WITH_KEY = 0x01, 0x04, 0x40  # Flags of a device's data.


def packed(data: bytes) -> str:
    """Return bytes as base64url."""
    return urlsafe_b64encode(data).decode().rstrip("=")


@dataclass
class Authenticator:
    """One passkey. `site` and `origin`: what the browser tells the device; `count`: how often the key was used."""

    site: str = "localhost"
    origin: str = "http://localhost:8000"
    count: int = 0
    identity: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def make(self, options: dict[str, Any]) -> str:
        """Answer the options of a registration."""
        point = self.key.public_key().public_numbers()
        cose = {1: 2, 3: -7, -1: 1, -2: point.x.to_bytes(32, "big"), -3: point.y.to_bytes(32, "big")}
        attested = bytes(16) + len(self.identity).to_bytes(2, "big") + self.identity + cbor2.dumps(cose)
        data = self._data(PRESENT | VERIFIED | WITH_KEY) + attested
        return self._answer(
            clientDataJSON=packed(self._client("webauthn.create", options)),
            attestationObject=packed(cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})),
        )

    def sign(self, options: dict[str, Any], *, uses: int = 1) -> str:
        """Answer the options of a sign-in; the counter grows by `uses`."""
        self.count += uses
        client, data = self._client("webauthn.get", options), self._data(PRESENT | VERIFIED)
        signature = self.key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        return self._answer(
            clientDataJSON=packed(client), authenticatorData=packed(data), signature=packed(signature), userHandle=""
        )

    def _data(self, flags: int) -> bytes:
        return hashlib.sha256(self.site.encode()).digest() + bytes([flags]) + self.count.to_bytes(4, "big")

    def _client(self, kind: str, options: dict[str, Any]) -> bytes:
        return json.dumps({"type": kind, "challenge": options["challenge"], "origin": self.origin}).encode()

    def _answer(self, **response: str) -> str:
        name = packed(self.identity)
        return json.dumps({"id": name, "rawId": name, "type": "public-key", "response": response})
