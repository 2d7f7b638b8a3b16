"""The one exception of this package."""

from __future__ import annotations

import re

_FLAG = re.compile(r"--([a-z][a-z-]*)")


def _as_keyword(flag: re.Match[str]) -> str:
    return flag[1].replace("-", "_") + "="


class MurmurError(ValueError):
    """A question that makes no sense or has no answer; ``hint`` says what to try, where there is something to say.

    The libraries speak of options as the command line does; here they are keywords.
    """

    hint: str | None

    def __init__(self, message: str, hint: str | None = None) -> None:
        self.hint = None if hint is None else _FLAG.sub(_as_keyword, hint)
        message = _FLAG.sub(_as_keyword, message)
        super().__init__(message if self.hint is None else f"{message}\nhint: {self.hint}")
