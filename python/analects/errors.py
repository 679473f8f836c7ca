"""What can be wrong."""

from __future__ import annotations


class Refused(ValueError):
    """A scenario, a name or a value that is refused.

    Attributes:
        message: What was found.
        help: What to write instead, if that is known.
        place: Where: `file:line:column`, a key, an entry; None if it is about the call as a whole.
    """

    def __init__(self, message: str, help: str | None = None, place: str | None = None) -> None:
        self.message = message
        self.help = help
        self.place = place
        before = f"{place}: " if place else ""
        behind = f"; {help}" if help else ""
        super().__init__(f"{before}{message}{behind}")

    def __reduce__(self) -> tuple[type[Refused], tuple[str, str | None, str | None]]:
        """Whole, also where a worker sends it."""
        return Refused, (self.message, self.help, self.place)
