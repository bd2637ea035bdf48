# SPDX-License-Identifier: MIT
"""Why something cannot be done, in a form that BatchScope can put into its own words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Reason:
    """A code, the values that belong to it, and an English sentence for those who do not know the code."""

    code: str
    text: str
    values: dict[str, Any] = field(default_factory=dict)

    def message(self) -> dict[str, Any]:
        """As an event has it."""
        return {"code": self.code, "args": self.values, "text": self.text}
