"""Who may run when: threads wait for each other, a thread may nest, and nothing depends on who ends a turn."""

from __future__ import annotations

import threading
from contextlib import ExitStack

from llama_cpp._features.generation.turns import Turns


def in_thread(work: object) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)  # type: ignore[arg-type]
    thread.start()
    return thread


def test_another_thread_waits_for_a_suspended_stream() -> None:
    turns = Turns()
    stream = turns.take()
    done = threading.Event()

    def other() -> None:
        with turns.blocking():
            done.set()

    thread = in_thread(other)
    assert not done.wait(0.1)
    stream.end()
    assert done.wait(5)
    thread.join(5)


def test_blocking_requests_do_not_overlap() -> None:
    turns = Turns()
    running = 0
    most = 0
    lock = threading.Lock()

    def work() -> None:
        nonlocal running, most
        for _ in range(20):
            with turns.blocking():
                with lock:
                    running += 1
                    most = max(most, running)
                threading.Event().wait(0.0005)
                with lock:
                    running -= 1

    threads = [in_thread(work) for _ in range(4)]
    for thread in threads:
        thread.join(10)
    assert (most, running) == (1, 0)


def test_a_thread_does_not_wait_for_itself() -> None:
    turns = Turns()
    with ExitStack() as nested:
        first = turns.take()
        nested.enter_context(turns.blocking())
        nested.enter_context(turns.blocking())
        first.end()


def test_a_turn_may_end_in_any_thread_and_more_than_once() -> None:
    turns = Turns()
    stream = turns.take()
    thread = in_thread(stream.end)
    thread.join(5)
    stream.end()
    with turns.blocking():
        pass


def test_the_thread_that_advances_a_stream_is_the_one_that_need_not_wait() -> None:
    turns = Turns()
    stream = turns.take()
    done = threading.Event()

    def adopt() -> None:
        stream.thread = threading.get_ident()
        with turns.blocking():
            done.set()

    in_thread(adopt)
    assert done.wait(5)


def test_abort_marks_only_what_has_begun() -> None:
    turns = Turns()
    assert turns.abort() is False
    with turns.blocking() as turn:
        assert not turn.aborted
        assert turns.abort() is True
        assert turn.aborted
    with turns.blocking() as turn:
        assert not turn.aborted


def test_beginning_resets_the_native_flag() -> None:
    resets: list[int] = []
    turns = Turns(lambda: resets.append(1))
    with turns.blocking():
        assert resets == [1]
