"""A regular expression, or its opposite, as a condition on texts for automata."""

from __future__ import annotations

from collections.abc import Sequence

from llama_cpp._features.grammar.schema.automaton import MAX_STATES, State, TooManyStatesError
from llama_cpp._features.grammar.schema.codepoints import Ranges, difference

from .syntax import Alternation, Class, Concatenation, Expression, Repeat


class RegexMachine:
    """Accepts the texts that an expression without anchors matches from begin to end; negated, all others."""

    def __init__(self, node: Expression, *, negated: bool = False) -> None:
        self._negated = negated
        self._silent: list[list[int]] = []
        self._edges: list[list[tuple[Ranges, int]]] = []
        self._letters: list[list[frozenset[int]]] = []
        begin = self._new()
        self._end = self._add(node, begin)
        self._begin = begin

    @property
    def sets(self) -> Sequence[Ranges]:
        """The classes of the expression."""
        return list(dict.fromkeys(characters for edges in self._edges for characters, _ in edges))

    def start(self, alphabet: Sequence[Ranges]) -> State:
        """The states that are open before the first character."""
        found = {each: frozenset(index for index, part in enumerate(alphabet) if not difference(part[:1], each)) for each in self.sets}
        self._letters = [[found[characters] for characters, _ in edges] for edges in self._edges]
        return self._closed([self._begin])

    def step(self, state: State, letter: int) -> State | None:
        """The states that are open behind a letter."""
        assert isinstance(state, frozenset)  # noqa: S101 - for the type checker
        following = [to for at in state for (_, to), letters in zip(self._edges[at], self._letters[at], strict=True) if letter in letters]
        return self._closed(following) if following or self._negated else None

    def accepts(self, state: State) -> bool:
        """Whether the end is open, or is not."""
        assert isinstance(state, frozenset)  # noqa: S101 - for the type checker
        return (self._end in state) != self._negated

    def _new(self) -> int:
        if len(self._silent) > MAX_STATES:
            raise TooManyStatesError(f"more than {MAX_STATES} states")
        self._silent.append([])
        self._edges.append([])
        return len(self._silent) - 1

    def _add(self, node: Expression, at: int) -> int:
        """Add what `node` matches from state `at` on; the state behind it."""
        if isinstance(node, Class):
            end = self._new()
            self._edges[at].append((node.characters, end))
            return end
        if isinstance(node, Concatenation):
            for item in node.items:
                at = self._add(item, at)
            return at
        if isinstance(node, Alternation):
            end = self._new()
            for option in node.options:
                # A state of its own: a loop inside an option must not lead back before the others.
                begin = self._new()
                self._silent[at].append(begin)
                self._silent[self._add(option, begin)].append(end)
            return end
        if isinstance(node, Repeat):
            return self._repeat(node, at)
        raise TypeError("anchors are taken out before")

    def _repeat(self, node: Repeat, at: int) -> int:
        for _ in range(node.minimum):
            at = self._add(node.item, at)
        if node.maximum is None:
            begin = self._new()
            self._silent[at].append(begin)
            self._silent[self._add(node.item, begin)].append(begin)
            end = self._new()
            self._silent[begin].append(end)
            return end
        end = self._new()
        for _ in range(node.maximum - node.minimum):
            self._silent[at].append(end)
            at = self._add(node.item, at)
        self._silent[at].append(end)
        return end

    def _closed(self, states: list[int]) -> frozenset[int]:
        found = set(states)
        waiting = list(found)
        while waiting:
            for to in self._silent[waiting.pop()]:
                if to not in found:
                    found.add(to)
                    waiting.append(to)
        return frozenset(found)


class LengthMachine:
    """Texts of `minimum` to `maximum` characters, without an end for None."""

    sets: Sequence[Ranges] = ()

    def __init__(self, minimum: int, maximum: int | None) -> None:
        self._minimum = minimum
        self._maximum = maximum
        if max(minimum, maximum or 0) > MAX_STATES:
            raise TooManyStatesError(f"more than {MAX_STATES} states")

    def start(self, alphabet: Sequence[Ranges]) -> State:  # noqa: ARG002 - it doesn't tell letters apart
        """Nothing was read."""
        return 0

    def step(self, state: State, letter: int) -> State | None:  # noqa: ARG002
        """One more."""
        count = _count(state) + 1
        if self._maximum is None:
            return min(count, self._minimum)
        return count if count <= self._maximum else None

    def accepts(self, state: State) -> bool:
        """Whether it is enough."""
        return _count(state) >= self._minimum


class OtherWords:
    """All texts but these words."""

    def __init__(self, words: Sequence[str]) -> None:
        self._children: list[dict[int, int]] = [{}]
        self._words: set[int] = set()
        for word in words:
            at = 0
            for character in word:
                children = self._children[at]
                if ord(character) not in children:
                    children[ord(character)] = len(self._children)
                    self._children.append({})
                at = children[ord(character)]
            self._words.add(at)
        self._letters: dict[int, int] = {}

    @property
    def sets(self) -> Sequence[Ranges]:
        """Each character of the words."""
        return [((point, point),) for point in dict.fromkeys(point for children in self._children for point in children)]

    def start(self, alphabet: Sequence[Ranges]) -> State:
        """At the root."""
        self._letters = {index: part[0][0] for index, part in enumerate(alphabet) if len(part) == 1 and part[0][0] == part[0][1]}
        return 0

    def step(self, state: State, letter: int) -> State | None:
        """Further into the words, or away from them."""
        point = self._letters.get(letter)
        at = _count(state)
        return -1 if at < 0 or point is None else self._children[at].get(point, -1)

    def accepts(self, state: State) -> bool:
        """Whether it is none of the words."""
        return state not in self._words


def _count(state: State) -> int:
    assert isinstance(state, int)  # noqa: S101 - for the type checker
    return state
