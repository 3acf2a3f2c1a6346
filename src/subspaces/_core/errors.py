"""Errors that the caller can mend, as opposed to bugs.

Functions at the boundary of the library (checks of parameters, readers of files) raise these. Each is also the built-in
exception that scikit-learn users expect, so `except ValueError` keeps working. Any other exception that leaves the
library is a bug, and the command line reports it as one.
"""

from __future__ import annotations

__all__ = ["InputError", "MissingPackageError", "UserError", "UserFileError", "UserTypeError"]


class UserError(Exception):
    """A mistake in what the library was given; the message names the value, the reason and the remedy."""


class InputError(UserError, ValueError):
    """A value or data that cannot be used."""


class UserTypeError(UserError, TypeError):
    """An argument of the wrong type."""


class UserFileError(UserError, OSError):
    """A file that cannot be read or written; arguments as for OSError."""


class MissingPackageError(UserError, ImportError):
    """An optional package that is not installed; the message says how to install it."""
