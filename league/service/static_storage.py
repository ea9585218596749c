"""Static files: served under hashed names after `collectstatic`, under their plain names before it."""

from __future__ import annotations

import gzip
import hashlib
import threading
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import brotli
from django.core.files.base import File
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage

UNPACK: dict[str, Callable[[bytes], bytes]] = {".br": brotli.decompress, ".gz": gzip.decompress}


class FrugalCompressor(Compressor):
    """A compressor that compresses no content twice: neither under a file's second name nor if an earlier run has left the result beside the file.

    Compressing all files takes some ten seconds of CPU, and `serve` collects the files at each start.
    """

    def __init__(self, **words: Any) -> None:
        super().__init__(**words)
        self._packed: dict[tuple[str, bytes], bytes] = {}  # The key is the ending and a digest of the content.
        self._busy: dict[tuple[str, bytes], threading.Lock] = {}  # Threads may compress both names of a file at once.

    def compress(self, path: str) -> list[str]:
        """Write the compressed versions of a file and return their names."""
        data = Path(path).read_bytes()
        for ending, unpack in UNPACK.items():
            try:
                packed = Path(path + ending).read_bytes()
                if unpack(packed) == data:
                    self._packed[ending, _content(data)] = packed
            except (OSError, EOFError, zlib.error, brotli.error):
                continue  # The compressed file is missing or damaged
        names: list[str] = super().compress(path)
        return names

    def compress_brotli(self, data: bytes) -> bytes:
        """Return the content, compressed with brotli."""
        return self._once(".br", data, super().compress_brotli)

    def compress_gzip(self, data: bytes) -> bytes:
        """Return the content, compressed with gzip."""
        return self._once(".gz", data, super().compress_gzip)

    def _once(self, ending: str, data: bytes, pack: Callable[[bytes], bytes]) -> bytes:
        key = ending, _content(data)
        with self._busy.setdefault(key, threading.Lock()):
            if key not in self._packed:
                self._packed[key] = pack(data)
            return self._packed[key]


def _content(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


class HashedStaticFiles(CompressedManifestStaticFilesStorage):
    """A storage that serves hashed files if they were collected, and plain files in a fresh checkout or a test, without a build step."""

    manifest_strict = False
    # Scripts import each other by hashed names, too: files with plain names are neither compressed nor stored by browsers.
    support_js_module_import_aggregation = True

    def create_compressor(self, **words: Any) -> FrugalCompressor:
        """Return the compressor of the collected files."""
        return FrugalCompressor(**words)

    def hashed_name(self, name: str, content: File[bytes] | None = None, filename: str | None = None) -> str:
        """Return the hashed name, or `name` itself if the file was not collected."""
        try:
            hashed: str = super().hashed_name(name, content, filename)
        except ValueError:
            return name
        return hashed
