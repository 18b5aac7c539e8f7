"""From the bytes of one token after another to text: the state machine behind every completion, streamed or not.

Owns decoding, stop strings and what has to be held back; knows nothing of models, tokens or response shapes.
"""

from __future__ import annotations

from codecs import utf_8_decode
from typing import TYPE_CHECKING

from .stop_matcher import matcher_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .stop_matcher import StopMatcher


class TextAssembly:
    """Turns byte pieces into text deltas whose concatenation does not depend on how the bytes were split.

    That concatenation is the whole input decoded as UTF-8 with errors="replace", cut before the stop string that
    begins first. A delta never holds half a character, nor text that may still turn out to begin a stop string.
    Empty stop strings are ignored.
    """

    __slots__ = ("_cut", "_held", "_matcher", "_state", "_undecoded", "stopped")

    def __init__(self, stops: Sequence[str] = ()) -> None:
        self._matcher = matcher_for(tuple(stops))
        self._undecoded = b""
        self._held = ""  # decoded, not yet shown: exactly the beginning of a stop that the state stands for
        self._state = 0
        self._cut = -1  # where in `_held` a complete stop begins, while an earlier one may still complete; -1: nowhere
        self.stopped = False

    def feed(self, piece: bytes) -> str:
        """Take the bytes of one token and return the text that is final now, often all of it. O(len(piece))."""
        if self.stopped:
            return ""
        data = self._undecoded + piece if self._undecoded else piece
        text, used = utf_8_decode(data, "replace", False)
        self._undecoded = data[used:]
        return self._scan(self._matcher, text) if self._matcher is not None else text

    def finish(self) -> str:
        """No more bytes will come: return what was held back, an unfinished character as U+FFFD."""
        if self.stopped:
            return ""
        text, _ = utf_8_decode(self._undecoded, "replace", True)
        self._undecoded = b""
        if self._matcher is None:
            return text
        shown = self._scan(self._matcher, text)
        if self.stopped:
            return shown
        if self._cut >= 0:
            self.stopped = True
            self._held = self._held[: self._cut]
        shown, self._held, self._state = shown + self._held, "", 0
        return shown

    def _scan(self, matcher: StopMatcher, text: str) -> str:
        pending = self._held + text
        index, end = len(self._held), len(pending)
        state, cut = self._state, self._cut
        while index < end:
            if not state:
                candidate = matcher.first.search(pending, index)
                if candidate is None:
                    break
                index = candidate.start()
            state = matcher.step(state, pending[index])
            index += 1
            complete = matcher.longest[state]
            if complete and (cut < 0 or index - complete < cut):
                cut = index - complete
            if 0 <= cut <= index - matcher.depth[state]:  # no stop that began earlier can complete any more
                self.stopped, self._held = True, ""
                return pending[:cut]
        kept = end - matcher.depth[state]
        self._held, self._state = pending[kept:], state
        self._cut = cut - kept if cut >= 0 else -1
        return pending[:kept]
