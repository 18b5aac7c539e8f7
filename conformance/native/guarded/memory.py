"""Operations on memory and states that native code would not survive."""

from __future__ import annotations

from .cases import batch_of, case, objects


@case
def the_last_position_of_sequence_minus_one() -> None:
    with objects() as (_, context):
        context.memory_seq_pos_max(-1)


@case
def the_first_position_of_a_sequence_out_of_range() -> None:
    with objects() as (_, context):
        context.memory_seq_pos_min(256)


@case
def removing_a_sequence_out_of_range() -> None:
    with objects() as (_, context):
        context.kv_cache_seq_rm(300, -1, -1)


@case
def keeping_a_sequence_out_of_range() -> None:
    with objects() as (_, context):
        context.memory_seq_keep(300)


@case
def shifting_a_sequence_out_of_range() -> None:
    with objects() as (_, context):
        context.kv_cache_seq_shift(-1, 0, -1, 1)


@case
def dividing_positions_by_zero() -> None:
    with objects() as (_, context):
        context.memory_seq_div(0, 0, -1, 0)


@case
def copying_a_part_between_streams() -> None:
    with objects(n_seq_max=2, kv_unified=False) as (_, context):
        context.decode(batch_of(4))
        context.memory_seq_cp(0, 1, 0, 2)


@case
def shifting_where_positions_have_sections() -> None:
    with objects("QWEN35") as (_, context):
        context.decode(batch_of(4))
        context.memory_seq_add(0, 0, -1, 1)


@case
def memory_of_a_model_that_has_none() -> None:
    with objects("BERT", embeddings=True) as (_, context):
        context.memory_clear()


@case
def garbage_from_a_device() -> None:
    with objects() as (_, context):
        context.set_state_seq_data_ext(b"\1" * 64, None, 0, 2)


@case
def a_sequence_that_was_never_saved_on_the_device() -> None:
    with objects() as (_, context), objects() as (_, other):
        context.decode(batch_of(4))
        saved = context.get_state_seq_data_ext(seq_id=0, flags=2)
        other.set_state_seq_data_ext(saved, None, 0, 2)


@case
def an_old_state_of_a_sequence_on_the_device() -> None:
    with objects() as (_, context):
        context.decode(batch_of(4))
        saved = context.get_state_seq_data_ext(seq_id=0, flags=2)
        context.memory_clear()
        context.decode(batch_of(9))
        context.get_state_seq_data_ext(seq_id=0, flags=2)
        context.set_state_seq_data_ext(saved, None, 0, 2)


@case
def other_flags_than_the_device_has() -> None:
    with objects("LFM2") as (_, context):
        context.decode(batch_of(4))
        saved = context.get_state_seq_data_ext(seq_id=0, flags=3)
        context.set_state_seq_data_ext(saved, None, 0, 2)


@case
def a_state_of_a_sequence_out_of_range() -> None:
    with objects() as (_, context):
        context.get_state_seq_size(300)


@case
def a_state_that_is_cut_off() -> None:
    with objects() as (_, context):
        context.decode(batch_of(4))
        saved = context.get_state_data()
        context.set_state_data(saved[: len(saved) // 2])


@case
def a_state_with_flags_that_do_not_exist() -> None:
    with objects() as (_, context):
        context.get_state_seq_data_ext(seq_id=0, flags=64)


@case
def a_state_file_that_is_garbage() -> None:
    with objects() as (_, context):
        context.load_state_file(__file__)


@case
def a_sequence_file_that_is_garbage() -> None:
    with objects() as (_, context):
        context.load_state_seq_file(__file__, 0)
