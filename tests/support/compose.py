"""docker-compose.yml as data, for the tests that check it and those that start its commands by hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

TOP = Path(__file__).resolve().parents[2]
FILE = TOP / "docker-compose.yml"
SECRETS = "/run/secrets/"  # Containers find their secrets here.


def load() -> dict[str, Any]:
    """Return the whole file, with merges (`<<`) resolved as compose does."""
    with FILE.open(encoding="utf-8") as text:
        content = yaml.safe_load(text)
    assert isinstance(content, dict)
    return content


@dataclass(frozen=True)
class Service:
    """A service: its command, environment and secrets."""

    name: str
    command: list[str]
    environment: dict[str, str]
    secrets: list[str]


def service(name: str) -> Service:
    """Return the service `name` of the file."""
    entry = load()["services"][name]
    environment = {key: str(value) for key, value in entry.get("environment", {}).items()}
    command = [word for word in entry["command"] if word != "docker/keep"]  # docker/keep starts a failed command again.
    return Service(name, command, environment, list(entry.get("secrets", [])))
