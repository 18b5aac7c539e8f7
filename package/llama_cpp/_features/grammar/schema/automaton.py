"""Deterministic automata over characters: conditions run side by side, explored, cut down, minimised, and written as rules.

A condition is a `Machine`. Machines work on letters: indexes of an alphabet of disjoint character sets that is made for
all of them together.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from llama_cpp._features.grammar.schema import codepoints
from llama_cpp._features.grammar.schema.codepoints import Ranges
from llama_cpp._features.grammar.tree import NOTHING, Choice, Node, Reference, Repetition
from llama_cpp._features.grammar.tree import Sequence as InOrder

MAX_STATES = 20_000

State: TypeAlias = Hashable


class TooManyStatesError(ValueError):
    """An automaton that would be too large to be a grammar."""


class Machine(Protocol):
    """A condition on texts. `sets` are the character sets that it tells apart; `step` gives None when all is lost."""

    @property
    def sets(self) -> Sequence[Ranges]:
        """Character sets that matter to it."""

    def start(self, alphabet: Sequence[Ranges]) -> State:
        """The first state; letters are indexes of `alphabet` from now on."""

    def step(self, state: State, letter: int) -> State | None:
        """The state behind a letter."""

    def accepts(self, state: State) -> bool:
        """Whether a text may end here."""


@dataclass(frozen=True, slots=True)
class Automaton:
    """States are numbers, 0 the first; `moves[s]` maps a state to the characters that lead there from `s`. No state is useless."""

    moves: tuple[dict[int, Ranges], ...]
    accepting: frozenset[int]

    @property
    def empty(self) -> bool:
        """Whether no text is accepted."""
        return not self.accepting

    def matches(self, text: str) -> bool:
        """Whether the text is accepted."""
        state = 0
        for character in text:
            point = ord(character)
            following = [target for target, characters in self.moves[state].items() if codepoints.contains(characters, point)]
            if not following:
                return False
            state = following[0]
        return state in self.accepting


def build(machines: Sequence[Machine], *, whole: Ranges = codepoints.EVERY) -> Automaton:
    """The smallest automaton for texts of `whole` that every machine accepts. `TooManyStatesError` when it is too large."""
    alphabet = codepoints.alphabet([each for machine in machines for each in machine.sets], whole)
    starts = tuple(machine.start(alphabet) for machine in machines)
    numbers: dict[tuple[State, ...], int] = {starts: 0}
    steps: list[dict[int, int]] = []
    accepting: set[int] = set()
    waiting = deque([starts])
    while waiting:
        states = waiting.popleft()
        if all(machine.accepts(state) for machine, state in zip(machines, states, strict=True)):
            accepting.add(len(steps))
        row: dict[int, int] = {}
        for letter in range(len(alphabet)):
            following = _step(machines, states, letter)
            if following is None:
                continue
            if following not in numbers:
                if len(numbers) >= MAX_STATES:
                    raise TooManyStatesError(f"more than {MAX_STATES} states")
                numbers[following] = len(numbers)
                waiting.append(following)
            row[letter] = numbers[following]
        steps.append(row)
    return _minimal(steps, accepting, alphabet)


def _step(machines: Sequence[Machine], states: tuple[State, ...], letter: int) -> tuple[State, ...] | None:
    following = []
    for machine, state in zip(machines, states, strict=True):
        behind = machine.step(state, letter)
        if behind is None:
            return None
        following.append(behind)
    return tuple(following)


def _minimal(steps: list[dict[int, int]], accepting: set[int], alphabet: Sequence[Ranges]) -> Automaton:
    useful = _useful(steps, accepting)
    if 0 not in useful:
        return Automaton(({},), frozenset())
    rows = {state: {letter: to for letter, to in steps[state].items() if to in useful} for state in sorted(useful)}
    block = {state: int(state in accepting) for state in rows}
    count = len(set(block.values()))
    while True:
        signatures: dict[tuple[int, tuple[tuple[int, int], ...]], int] = {}
        refined = {}
        for state, row in rows.items():
            signature = (block[state], tuple(sorted((letter, block[to]) for letter, to in row.items())))
            refined[state] = signatures.setdefault(signature, len(signatures))
        block = refined
        if len(signatures) == count:
            break
        count = len(signatures)
    # State 0 is the first of `rows`, so its block is 0.
    moves: list[dict[int, Ranges]] = [{} for _ in range(count)]
    done: set[int] = set()
    for state, row in rows.items():
        if block[state] in done:
            continue
        done.add(block[state])
        targets: dict[int, list[Ranges]] = {}
        for letter, to in row.items():
            targets.setdefault(block[to], []).append(alphabet[letter])
        moves[block[state]] = {to: codepoints.union(*sets) for to, sets in targets.items()}
    return Automaton(tuple(moves), frozenset(block[state] for state in rows if state in accepting))


def _useful(steps: list[dict[int, int]], accepting: set[int]) -> set[int]:
    """States from which an end can be reached."""
    before: dict[int, list[int]] = {}
    for state, row in enumerate(steps):
        for to in row.values():
            before.setdefault(to, []).append(state)
    useful = set(accepting)
    waiting = list(accepting)
    while waiting:
        for state in before.get(waiting.pop(), ()):
            if state not in useful:
                useful.add(state)
                waiting.append(state)
    return useful


@dataclass(frozen=True, slots=True, kw_only=True)
class Loops:
    """States that may follow themselves at most so many times, where a text should not go on without end."""

    states: frozenset[int]
    most: int


def write(
    machine: Automaton,
    character: Callable[[Ranges], Node],
    new_rule: Callable[[], str],
    put: Callable[[str, Node], None],
    *,
    loops: Loops | None = None,
) -> Node:
    """The automaton as a node: rules for its states through `new_rule` and `put`, chains of states written in line.

    `character` spells one character of a set.
    """
    if machine.empty:
        return Choice(())
    entries = [0] * len(machine.moves)
    entries[0] = 1
    for row in machine.moves:
        for to in row:
            entries[to] += 1
    names: dict[int, Reference] = {}
    waiting: deque[int] = deque()

    def follow(state: int) -> list[Node]:
        """What comes from a state on: its chain in line, then a reference."""
        chain: list[Node] = []
        while True:
            row = machine.moves[state]
            if not row:
                return chain
            if entries[state] != 1 or len(row) != 1 or state in machine.accepting:
                if state not in names:
                    names[state] = Reference(new_rule())
                    waiting.append(state)
                return [*chain, names[state]]
            ((state, characters),) = row.items()
            chain.append(character(characters))

    first = InOrder(tuple(follow(0)))
    while waiting:
        state = waiting.popleft()
        row = dict(machine.moves[state])
        again = row.pop(state, None) if loops and state in loops.states else None
        options: list[Node] = [
            InOrder((character(characters), *follow(to))) for to, characters in sorted(row.items(), key=lambda move: move[1])
        ]
        if state in machine.accepting:
            options.append(NOTHING)
        node = Choice(tuple(options)) if len(options) > 1 else options[0]
        if loops and again:
            node = InOrder((Repetition(character(again), 0, loops.most), node))
        put(names[state].rule, node)
    return first
