"""The registered handlers: one for each kind of work."""

from __future__ import annotations

from typing import Any

from league.domain.jobs.handlers.base import Handler
from league.domain.jobs.handlers.idle import IdleHandler

_HANDLERS: dict[str, Handler[Any, Any, Any]] = {}


def register(handler: Handler[Any, Any, Any]) -> None:
    """Let workers do the kinds of work that `handler` knows. Raises ValueError if a kind has a handler already."""
    if taken := sorted(_HANDLERS.keys() & set(handler.kinds)):
        raise ValueError(f"these kinds of work have a handler already: {', '.join(taken)}")
    _HANDLERS.update(dict.fromkeys(handler.kinds, handler))


def unregister(handler: Handler[Any, Any, Any]) -> None:
    """Take a handler out again."""
    for kind in handler.kinds:
        del _HANDLERS[kind]


def handler_of(kind: str) -> Handler[Any, Any, Any]:
    """Return the handler of a kind of work. Raises LookupError if there is none."""
    return _HANDLERS[kind]


def idle_handlers() -> list[IdleHandler[Any, Any, Any]]:
    """Return the handlers of idle work, in the order in which workers look for it."""
    return [handler for handler in _HANDLERS.values() if isinstance(handler, IdleHandler)]
