from __future__ import annotations

from llama_cpp._engine.abort import AbortFlag


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
