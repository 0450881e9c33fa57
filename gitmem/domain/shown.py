"""A text as a reader sees it: without the characters that are not drawn.

One of them inside a word or a tag changes nothing for a person or a model, and hides it from
every comparison. What is found in the shown text is traced back to where it stood.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

#: Format characters, fillers and selectors of Unicode, and the mark that stands for a character
#: that could not be stored.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffd\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


@dataclass(frozen=True)
class Shown:
    """``text`` is what is drawn; ``gaps`` says before which of its characters something is not."""

    text: str
    gaps: list[int]

    @classmethod
    def of(cls, text: str) -> Shown:
        """Return ``text`` without what is not drawn."""
        if text.isascii():
            return cls(text, [])
        gaps = [match.start() - n for n, match in enumerate(_INVISIBLE.finditer(text))]
        return cls(_INVISIBLE.sub("", text) if gaps else text, gaps)

    def origin(self, at: int) -> int:
        """Return where the character at ``at`` stands in the text as it was."""
        return at + bisect_right(self.gaps, at)
