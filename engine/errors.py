"""What the engine raises. Every message says what was given and what would have been right."""


class EngineError(ValueError):
    """Base of all errors of the engine."""


class OptionError(EngineError):
    """An unknown game or option, or a value out of range."""


class IllegalAction(EngineError):
    """An action that the rules do not allow now. The state is unchanged."""
