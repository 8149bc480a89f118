"""Every error that a user can cause, as one tree.

    NearlyError
    ├── SettingsError        a setting is impossible
    ├── SourceError          the input is not what was said of it
    │   ├── MissingError     there is no such file, folder or column
    │   └── UnreadableError  it is there, and cannot be read
    ├── SinkError            the output cannot be written
    └── EngineError          the engine cannot run, or broke down
        └── NoMemoryError    it lacks memory

Each message says what was given, what is needed, and what to do.
"""

__all__ = [
    "EngineError",
    "MissingError",
    "NearlyError",
    "NoMemoryError",
    "SettingsError",
    "SinkError",
    "SourceError",
    "UnreadableError",
]


class NearlyError(Exception):
    """Base of all errors that nearly raises on purpose."""


class SettingsError(NearlyError, ValueError):
    """A setting is impossible."""


class SourceError(NearlyError):
    """The input is not what was said of it."""


class MissingError(SourceError):
    """There is no such file, folder or column."""


class UnreadableError(SourceError):
    """The input is there and cannot be read."""


class SinkError(NearlyError):
    """The output cannot be written."""


class EngineError(NearlyError):
    """The engine cannot run, or broke down."""


class NoMemoryError(EngineError):
    """The engine had too little memory."""
