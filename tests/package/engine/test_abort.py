from __future__ import annotations

import pytest

from llama_cpp._engine.abort import AbortFlag, AbortRelay


def test_native_code_reads_the_flag_through_a_c_function() -> None:
    flag = AbortFlag()
    assert not flag.callback(flag.address)
    flag.set()
    assert flag.is_set()
    assert flag.callback(flag.address)
    flag.clear()
    assert not flag.is_set()
    assert not flag.callback(flag.address)


def test_flags_are_independent() -> None:
    first, second = AbortFlag(), AbortFlag()
    first.set()
    assert not second.callback(second.address)


class TestRelay:
    def ask(self, relay: AbortRelay) -> bool:
        return bool(relay.callback(None))

    def test_it_asks_the_function_beside_the_flag(self) -> None:
        flag, answers = AbortFlag(), [0, 1, 0]
        relay = AbortRelay(flag, lambda: answers.pop(0))
        assert [self.ask(relay), self.ask(relay)] == [False, True]
        flag.set()
        assert self.ask(relay)
        assert answers == [0], "a flag that is set needs no answer"
        relay.raise_pending()

    def test_an_exception_stops_and_is_kept(self) -> None:
        def fail() -> bool:
            raise KeyError("its own")

        relay = AbortRelay(AbortFlag(), fail)
        assert self.ask(relay)
        with pytest.raises(KeyError, match="its own"):
            relay.raise_pending()
        relay.raise_pending()
