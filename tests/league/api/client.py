"""A caller of the API that holds every answer against the OpenAPI document."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from django.test import Client
from jsonschema import Draft202012Validator

from league.api.http.schema import document

ROOT = "/api/v1"


@cache
def _operations() -> list[tuple[re.Pattern[str], dict[str, Any]]]:
    entries = []
    for path, methods in document()["paths"].items():
        pattern = re.sub(r"\{\w+\}", "[^/]+", path)
        entries.append((re.compile(pattern), methods))
    return entries


def operation(method: str, path: str) -> dict[str, Any] | None:
    """Return the documented operation of an address and method; None if there is none."""
    for pattern, methods in _operations():
        if pattern.fullmatch(path.split("?")[0]):
            return methods.get(method.lower())
    return None


def violations(schema: dict[str, Any], value: Any) -> list[str]:
    """Return what is wrong with `value` by a schema of the document."""
    whole = {**schema, "components": document()["components"]}
    return [f"{error.json_path}: {error.message}" for error in Draft202012Validator(whole).iter_errors(value)]


class Api:
    """Requests as one caller: a token, or nobody."""

    def __init__(self, key: str | None = None) -> None:
        self.client = Client(raise_request_exception=True)
        self.headers = {"Authorization": f"Bearer {key}"} if key else {}

    def call(
        self, method: str, path: str, data: Any = None, *, headers: dict[str, str] | None = None, **kwargs: Any
    ) -> Any:
        """The response. AssertionError where it is not what the document promises."""
        full = f"{ROOT}/{path}" if not path.startswith("/") else path
        sent: dict[str, Any] = {"headers": {**self.headers, **(headers or {})}}
        if isinstance(data, bytes):
            sent |= {"data": data, "content_type": kwargs.pop("content_type", "application/octet-stream")}
        elif kwargs.pop("form", False):
            sent |= {"data": data}
            return self._checked(method, full, getattr(self.client, method.lower())(full, **sent))
        elif data is not None:
            sent |= {"data": json.dumps(data), "content_type": kwargs.pop("content_type", "application/json")}
        return self._checked(method, full, self.client.generic(method, full, **sent))

    def get(self, path: str, **kwargs: Any) -> Any:
        """GET."""
        return self.call("GET", path, **kwargs)

    def post(self, path: str, data: Any = None, **kwargs: Any) -> Any:
        """POST; a dict is sent as JSON, bytes as they are."""
        return self.call("POST", path, data, **kwargs)

    def results(self, path: str) -> list[Any]:
        """Rows of a list."""
        response = self.get(path)
        assert response.status_code == 200, response.content
        return response.json()["results"]

    @staticmethod
    def _checked(method: str, path: str, response: Any) -> Any:
        assert response.status_code < 500, (method, path, response.content)
        if response.status_code in (204, 304) or path.rstrip("/") in (ROOT, f"{ROOT}/schema"):
            return response
        if response.status_code >= 400:
            assert response["Content-Type"] == "application/problem+json", (method, path, response.content)
            schema = document()["components"]["schemas"]["Problem"]
            assert response.json()["status"] == response.status_code
        else:
            declared = operation(method, path)
            assert declared is not None, (method, path)
            promised = declared["responses"][str(response.status_code)]
            schema = promised["content"]["application/json"]["schema"]
        assert violations(schema, response.json()) == [], (method, path)
        return response
