"""Strict parsers of request bodies: JSON, multipart, or the bytes of a package. They check the size first."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Any

from django.core.files.base import ContentFile
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser, DataAndFiles, MultiPartParser

from engine.packages.archive import MAX_BYTES
from league.api.http.problems import ApiProblem, message

MOST_JSON = 256 * 1024  # Bytes; far more than any request except an upload needs
MOST_REPORT = 1024 * 1024  # Of a webhook: forges list commits.
MOST_UPLOAD = MAX_BYTES + 64 * 1024  # The package and its multipart wrapping
MOST_DEPTH = 20


def check_length(context: Mapping[str, Any] | None, most: int) -> None:
    """Refuse a body that is too large by its Content-Length, before reading a byte. Without this header the server passes an empty body."""
    request = (context or {}).get("request")
    length = request.META.get("CONTENT_LENGTH") if request is not None else None
    try:
        size = int(length or 0)
    except ValueError:
        raise ParseError(message("The Content-Length header is not a number.")) from None
    if size > most:
        raise ApiProblem(
            "too-large",
            message("The body has {size} bytes; this endpoint accepts at most {most}.", size=size, most=most),
        )


class StrictJSON(BaseParser):
    """One JSON value in UTF-8. Refused are duplicate names, NaN and infinities, NUL and lone surrogates, and a depth above 20."""

    media_type = "application/json"
    most = MOST_JSON

    def parse(self, stream: IO[bytes], media_type: str | None = None, parser_context: Any = None) -> Any:
        """Return the value. Raise ParseError, which says what is wrong."""
        check_length(parser_context, self.most)
        try:
            text = stream.read().decode("utf-8")
        except UnicodeDecodeError as error:
            raise ParseError(
                message("The body is not UTF-8: {why} at byte {place}.", why=error.reason, place=error.start)
            ) from None
        try:
            value = json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)
        except (ValueError, RecursionError) as error:
            raise ParseError(message("The body is not valid JSON: {why}.", why=error)) from None
        _check(value, 0)
        return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"an object has the name {next(name for name in names if names.count(name) > 1)!r} twice")
    return value


def _constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _float(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"the number {text[:30]} is too large")
    return value


def _check(value: Any, depth: int) -> None:
    if depth > MOST_DEPTH:
        raise ParseError(message("The body is nested deeper than {most} levels.", most=MOST_DEPTH))
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, dict):
        for name, inner in value.items():
            _check_text(name)
            _check(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _check(inner, depth + 1)


def _check_text(text: str) -> None:
    if "\0" in text:
        raise ParseError(message("The body contains a NUL character; remove it."))
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ParseError(message("The body contains half of a surrogate pair, which is not a valid character."))


class RawBody(BaseParser):
    """The bytes of the body, whatever it calls itself, for a signature over them."""

    media_type = "*/*"

    def parse(self, stream: IO[bytes], media_type: str | None = None, parser_context: Any = None) -> Any:
        """Return the body."""
        check_length(parser_context, MOST_REPORT)
        return stream.read()


class PackageForm(MultiPartParser):
    """multipart/form-data with the package in `file`."""

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Any = None
    ) -> DataAndFiles[Any, Any]:
        """Return fields and files."""
        check_length(parser_context, MOST_UPLOAD)
        return super().parse(stream, media_type=media_type, parser_context=parser_context)


class PackageBytes(BaseParser):
    """The package itself as the body, as `curl --data-binary @bot.zip` sends it, with its name in `?filename=`."""

    media_type = "application/octet-stream"

    def parse(self, stream: IO[bytes], media_type: str | None = None, parser_context: Any = None) -> dict[str, Any]:
        """Return the file in the form that a multipart form would have."""
        check_length(parser_context, MOST_UPLOAD)
        request = (parser_context or {}).get("request")
        name = request.query_params.get("filename", "") if request is not None else ""
        return {"file": ContentFile(stream.read(), name=name or "package")}
