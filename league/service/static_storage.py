"""Static files under hashed names after `collectstatic`, under their plain names before it."""

from __future__ import annotations

from django.core.files.base import File
from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStaticFiles(CompressedManifestStaticFilesStorage):
    """Serves a fresh checkout and a test without a build step; a deployment that collected its files gets the hashed ones."""

    manifest_strict = False

    def hashed_name(self, name: str, content: File[bytes] | None = None, filename: str | None = None) -> str:
        """The hashed name, or `name` itself where the file was not collected."""
        try:
            hashed: str = super().hashed_name(name, content, filename)
        except ValueError:
            return name
        return hashed
