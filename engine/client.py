"""A client for the REST API of a league. Standard library only.

    from engine.client import League

    league = League("https://tute.example", "tute_...")  # Without a token it only reads.
    for match in league.list_matches(game="brisca", status="finished"):
        print(match["id"])

Each operation of the league's OpenAPI document is a method with its `operationId`. Parameters of the address are positional; those of the query and
fields of the body are keywords, and their types are checked before anything is sent. A list is an iterator over all its pages. `stream` reads a list
as NDJSON. A refusal is a `RequestRefused`, or one of its subclasses; while the league asks to retry later, a request is repeated.
"""

from __future__ import annotations

import json
import re
import ssl
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.message import Message
from functools import cached_property, partial
from http.client import HTTPException, HTTPResponse
from ipaddress import ip_address
from typing import Any, NoReturn
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from engine.errors import meant
from engine.json_schema import find_problem, resolve

API = "/api/v1"
PATIENCE_S = 30.0  # Timeout of one answer.
LARGEST = 64 << 20  # Bytes of one answer.
TRIES = 5  # Attempts while the league asks to retry later.
LONGEST_WAIT_S = 60.0
JSON = "application/json"
NDJSON = "application/x-ndjson"
BYTES = "application/octet-stream"


class LeagueError(Exception):
    """The error for a league that cannot be reached or refuses a request. `is_away`: the same request may succeed later."""

    is_away = False


class Unreachable(LeagueError):
    """No answer, or none of a league."""

    is_away = True


class RequestRefused(LeagueError):
    """An answer with a status of 400 or above, and its problem document (RFC 9457)."""

    def __init__(self, status: int, problem: Mapping[str, Any], text: str) -> None:
        super().__init__(text)
        self.status, self.problem = status, problem
        self.errors: Mapping[str, list[str]] = problem.get("errors") or {}  # Messages by field.


class NoToken(RequestRefused):
    """401: the token is missing, unknown, expired or revoked."""


class NotAllowed(RequestRefused):
    """403."""


class NotThere(RequestRefused):
    """404 or 410: there is no such thing any more, or you may not see it."""


class NotNow(RequestRefused):
    """409 or 412: not possible in the present state."""


class TooManyRequests(RequestRefused):
    """429, after the last attempt."""


class LeagueAway(RequestRefused):
    """500 or above, after the last attempt."""

    is_away = True


REFUSALS = {401: NoToken, 403: NotAllowed, 404: NotThere, 410: NotThere, 409: NotNow, 412: NotNow, 429: TooManyRequests}


@dataclass(frozen=True)
class LeagueAnswer:
    """The headers and the body of an answer."""

    headers: Message
    body: bytes

    def data(self) -> Any:
        """Parse the body as JSON. Raise Unreachable if it is not."""
        return _parse(self.body)


@dataclass(frozen=True)
class ApiOperation:
    """An operation of the OpenAPI document."""

    name: str
    method: str
    path: str
    description: Mapping[str, Any]
    schemas: Mapping[str, Any]

    @cached_property
    def places(self) -> list[str]:
        """Names of the parameters in the address, in order."""
        return re.findall(r"\{(\w+)\}", self.path)

    @cached_property
    def parameters(self) -> dict[str, dict[str, Any]]:
        """The parameters by keyword: those of the query, and headers in small letters."""
        rows = self.description.get("parameters", ())
        return {row["name"].lower().replace("-", "_"): row for row in rows if row["in"] != "path"}

    @cached_property
    def fields(self) -> dict[str, Any]:
        """The schema of the body's JSON; {} without one."""
        content = self.description.get("requestBody", {}).get("content", {})
        return resolve(content.get(JSON, {}).get("schema", {}), self.schemas)

    @property
    def takes_bytes(self) -> bool:
        """Return True if the body may be the bytes of a file."""
        return BYTES in self.description.get("requestBody", {}).get("content", {})

    @cached_property
    def answers(self) -> Mapping[str, Any]:
        """The content of a successful answer by media type."""
        content: Mapping[str, Any] = self.description["responses"].get("200", {}).get("content", {})
        return content

    @property
    def is_list(self) -> bool:
        """Return True if the answer is a page of a list."""
        schema = resolve(self.answers.get(JSON, {}).get("schema", {}), self.schemas)
        return {"next", "results"} <= set(schema.get("properties", ()))

    @property
    def is_stream(self) -> bool:
        """Return True if the list is also sent as NDJSON."""
        return NDJSON in self.answers

    def request(
        self, *places: object, body: bytes | None = None, **values: Any
    ) -> tuple[str, str, bytes | None, dict[str, str]]:
        """Return method, address, body and headers of a request. Raise TypeError or ValueError for what the document does not allow."""
        query, headers, fields = self._sorted(values)
        if "idempotency_key" in self.parameters:
            headers.setdefault("Idempotency-Key", uuid.uuid4().hex)
        if body is not None and not self.takes_bytes:
            raise TypeError(f"{self.name} takes no bytes")
        if body is not None:
            headers["Content-Type"] = BYTES
        elif self.fields:
            self._check("", fields, self.fields)
            body, headers["Content-Type"] = json.dumps(fields, default=_text).encode(), JSON
        return self.method, self._address(places) + (f"?{urlencode(query)}" if query else ""), body, headers

    def _address(self, places: Sequence[object]) -> str:
        """Return the path with the values of its parameters."""
        if len(places) != len(self.places):
            raise TypeError(
                f"{self.name} takes {', '.join(self.places) or 'nothing'} by position, not {len(places)} values"
            )
        path = self.path
        rows = {row["name"]: row for row in self.description.get("parameters", ()) if row["in"] == "path"}
        for name, value in zip(self.places, places, strict=True):
            self._check(name, _text(value), rows[name]["schema"])
            path = path.replace(f"{{{name}}}", quote(_text(value), safe=""))
        return path

    def _sorted(self, values: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str], dict[str, Any]]:
        """Return the values of the query, of headers, and of fields of the body."""
        query: dict[str, str] = {}
        headers: dict[str, str] = {}
        fields: dict[str, Any] = {}
        accepted = [*self.parameters, *self.fields.get("properties", {})]
        for name, value in values.items():
            if name not in accepted:
                text = f"by name it takes: {', '.join(accepted) or 'nothing'}"
                raise TypeError(f"{self.name} has no {name!r}{meant(name, accepted)}; {text}")
            if (row := self.parameters.get(name)) is None:
                fields[name] = value
                continue
            is_text = row["schema"].get("type") == "string" and isinstance(value, datetime | list | tuple)
            self._check(name, _text(value) if is_text else value, row["schema"])
            (headers if row["in"] == "header" else query)[row["name"]] = _text(value)
        absent = [name for name, row in self.parameters.items() if row.get("required") and name not in values]
        if absent:
            raise TypeError(f"{self.name} needs {', '.join(absent)}")
        return query, headers, fields

    def _check(self, name: str, value: object, schema: Mapping[str, Any]) -> None:
        if problem := find_problem(value, schema, self.schemas, name):
            raise ValueError(f"{self.name}: {problem}")


def operations_of(document: Mapping[str, Any]) -> dict[str, ApiOperation]:
    """Return the operations of an OpenAPI document by name."""
    schemas = document.get("components", {}).get("schemas", {})
    return {
        row["operationId"]: ApiOperation(row["operationId"], method.upper(), path, row, schemas)
        for path, methods in document["paths"].items()
        for method, row in methods.items()
    }


class _NoRedirects(HTTPRedirectHandler):
    """Refuses redirects: a token is sent only to the league that issued it."""

    def redirect_request(self, req: Request, fp: Any, code: int, msg: str, headers: Message, newurl: str) -> NoReturn:
        raise LeagueError(
            f"{req.full_url} redirects to {newurl}. If that is the address that you want, give it instead"
        )


_opener = build_opener(_NoRedirects)


class League:
    """A league. `url` is the address of any of its pages; `token` may be empty, because reading needs none. Raise LeagueError for a bad address."""

    def __init__(self, url: str, token: str = "") -> None:
        self.url, self.token = address_of(url, secret=bool(token)), token

    @cached_property
    def operations(self) -> dict[str, ApiOperation]:
        """The operations of this league by name. One request."""
        try:
            return operations_of(self.ask("GET", f"{API}/schema").data())
        except (AttributeError, KeyError, TypeError):  # Python answers the first by asking `__getattr__`, without end.
            raise Unreachable(f"{self.url} has no OpenAPI document of a Tute league") from None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self.operations:
            raise AttributeError(f"{self.url} has no operation {name!r}{meant(name, self.operations)}")
        operation = self.operations[name]
        method = partial(self._call, operation)
        method.__doc__ = f"{operation.description['summary']}. {operation.description.get('description', '')}"
        return method

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.operations]

    def _call(self, operation: ApiOperation, *places: object, body: bytes | None = None, **values: Any) -> Any:
        request = operation.request(*places, body=body, **values)
        if operation.is_list:
            return self._pages(request[1])
        answer = self.ask(*request)
        return answer.data() if answer.body else None

    def stream(self, name: str, *places: object, **values: Any) -> Iterator[Any]:
        """Return an iterator over the rows of a list, read as NDJSON: fewer requests than pages. Raise TypeError for a list without streams."""
        operation = self.operations.get(name)
        if operation is None or not operation.is_stream:
            raise TypeError(f"{name!r} has no streams")
        return self._lines(operation.request(*places, **values)[1])

    def get(self, path: str, **query: object) -> Any:
        """Return the JSON at an address of the API."""
        return self.ask("GET", f"{API}/{path}" + (f"?{urlencode(query)}" if query else "")).data()

    def pages(self, path: str, most: int, **query: object) -> Iterator[Any]:
        """Yield at most `most` rows of a list, page after page."""
        rows = self._pages(f"{API}/{path}?{urlencode({'page_size': min(most, 50), **query})}")
        for _, row in zip(range(most), rows, strict=False):
            yield row

    def ask(
        self, method: str, address: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> LeagueAnswer:
        """Send one request to this league. Raise LeagueError if the league refuses (with its own message) or cannot be reached."""
        try:
            with self.open(method, address, body, headers) as response:
                return LeagueAnswer(response.headers, response.read(LARGEST))
        except (OSError, HTTPException) as error:
            raise self._unreachable(error) from None

    def open(
        self,
        method: str,
        address: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        timeout: float = PATIENCE_S,
    ) -> HTTPResponse:
        """Send a request; return the answer, whose body is still to be read. Raise LeagueError."""
        request = Request(self.url + address, data=body, method=method, headers=dict(headers or {}))  # noqa: S310 - `address_of` allows only http and https
        if not request.has_header("Accept"):
            request.add_header("Accept", f"{JSON}, */*;q=0.5")
        if self.token:
            request.add_unredirected_header("Authorization", f"Bearer {self.token}")
        for attempt in range(TRIES):
            try:
                response: HTTPResponse = _opener.open(request, timeout=timeout)
            except HTTPError as error:
                wait = _wait(error, attempt)
                if wait is None:
                    raise _refusal(error) from None
                time.sleep(wait)
            except (URLError, OSError, HTTPException, ssl.SSLError) as error:
                raise self._unreachable(error) from None
            else:
                return response
        raise AssertionError("the last attempt does not wait")

    def _unreachable(self, error: Exception) -> Unreachable:
        reason = getattr(error, "reason", error)
        return Unreachable(f"cannot reach {self.url}: {reason}. Check the address, and whether the league is up")

    def _pages(self, address: str | None) -> Iterator[Any]:
        while address:
            page = self.ask("GET", address).data()
            yield from page["results"]
            address = _own(page["next"])

    def _lines(self, address: str | None) -> Iterator[Any]:
        while address:
            # Read to the end before the first row is yielded: the league cuts off a program that reads slowly because it works on each row.
            rows = [_parse(line) for line in self.ask("GET", address, headers={"Accept": NDJSON}).body.splitlines()]
            last = rows.pop() if rows else None
            if not isinstance(last, dict) or list(last) != ["next"]:
                raise Unreachable(f"the stream from {self.url} was cut off; repeat it")
            yield from rows
            address = _own(last["next"])


def address_of(url: str, *, secret: bool = True) -> str:
    """Reduce the address of any page of a league to scheme and host. Raise LeagueError if no token (`secret`) may be sent to it."""
    parts = urlsplit(url if "//" in url else f"https://{url}")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        raise LeagueError(f"{url} is not the address of a league; give one such as https://tute.example")
    if secret and parts.scheme == "http" and not _local(parts.hostname):
        raise LeagueError(f"{url} is not encrypted, so others could read your token on the way; use https")
    return f"{parts.scheme}://{parts.netloc}"


def _local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _own(link: str | None) -> str | None:
    """Return the address of a link without its host: a token goes nowhere else."""
    return link and "/" + urlsplit(link)._replace(scheme="", netloc="").geturl().lstrip("/")


def _parse(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise Unreachable("the answer is not JSON; this address is not a Tute league") from None


def _text(value: Any) -> str:
    """Return a value as in an address."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat()
    return ",".join(map(_text, value)) if isinstance(value, list | tuple) else str(value)


def _wait(error: HTTPError, attempt: int) -> float | None:
    """Return how long to wait before repeating the request; None if repeating is useless."""
    if error.code not in (429, 503) or attempt == TRIES - 1:
        return None
    try:
        wait = float(error.headers.get("Retry-After", ""))
    except ValueError:
        wait = 1.0 if error.code == 503 else LONGEST_WAIT_S + 1
    return wait if 0 <= wait <= LONGEST_WAIT_S else None


def _refusal(error: HTTPError) -> RequestRefused:
    try:
        document = json.loads(error.read(1 << 16))
        text = _in_words(document)
    except (ValueError, AttributeError, KeyError, RecursionError, OSError, HTTPException):
        document, text = {}, f"it answered {error.code}, {error.reason}; this address may be no page of a league"
    kind = REFUSALS.get(error.code, LeagueAway if error.code >= 500 else RequestRefused)
    return kind(error.code, document, f"the league refused this: {text}")


def _in_words(document: dict[str, Any]) -> str:
    """Return what happened and what to do. Messages about single fields say both, and replace the general advice."""
    errors = document.get("errors") or {}
    by_field = [str(text) for texts in errors.values() for text in (texts if isinstance(texts, list) else [texts])]
    parts = by_field or [str(document[part]) for part in ("detail", "what_to_do") if document.get(part)]
    return " ".join(f"{part.rstrip('.')}." for part in parts) or str(document["title"])
