"""Evaluating and sampling without `Llama`: both lineages' objects of `llama_cpp._internals`, and what they compute."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from rig import material

from llama_cpp import Llama, _internals, llama_cpp

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEXT = b"one two three four"


def params(**values: Any) -> Any:
    made = _internals.LlamaContext.default_params()
    for name, value in {"n_ctx": 256, "n_batch": 64, "n_seq_max": 2, "n_threads": 1, "n_threads_batch": 1, **values}.items():
        setattr(made, name, value)
    return made


@pytest.fixture(scope="module")
def model() -> Iterator[_internals.LlamaModel]:
    made = _internals.LlamaModel(path_model=str(material.model(material.SYNTH_LLAMA)), params=_internals.LlamaModel.default_params())
    yield made
    made.close()


@pytest.fixture
def context(model: _internals.LlamaModel) -> Iterator[_internals.LlamaContext]:
    with _internals.LlamaContext(model=model, params=params(), verbose=False) as made:
        yield made


def batch_of(tokens: list[int], *, n_past: int = 0, logits_all: bool = False) -> _internals.LlamaBatch:
    batch = _internals.LlamaBatch(n_tokens=64, embd=0, n_seq_max=2, verbose=False)
    batch.set_batch(tokens, n_past, logits_all)
    return batch


def evaluated(context: _internals.LlamaContext) -> Any:
    """The logits after `TEXT`, alone in memory."""
    context.memory_clear()
    context.decode(batch_of(context.model.tokenize(TEXT, True, False)))
    return context.get_logits_ith(-1).copy()


def test_logits_are_those_of_a_llama(context: _internals.LlamaContext, synthetic: Llama) -> None:
    synthetic.eval(synthetic.tokenize(TEXT))
    assert np.allclose(evaluated(context), synthetic.scores[-1], atol=1e-4)


def test_a_model_says_what_a_llama_says(model: _internals.LlamaModel, synthetic: Llama) -> None:
    for name in ("n_vocab", "n_ctx_train", "n_embd", "n_layer", "n_head", "n_head_kv", "n_params", "token_bos", "token_eos", "token_nl"):
        assert getattr(model, name)() == getattr(synthetic, name)(), name
    assert model.metadata() == synthetic.metadata
    tokens = model.tokenize(TEXT, True, False)
    assert tokens == synthetic.tokenize(TEXT)
    assert b"".join(model.token_to_piece(token) for token in tokens[1:]) == model.detokenize(tokens[1:]) or model.detokenize(tokens)
    assert model.token_get_text(tokens[1]) == llama_cpp.llama_vocab_get_text(model.vocab, tokens[1]).decode()
    with pytest.raises(NotImplementedError):
        model.get_tensor("token_embd.weight")


def test_parameters_in_a_struct_arrive() -> None:
    given = _internals.LlamaModel.default_params()
    overrides = (llama_cpp.llama_model_kv_override * 2)()
    overrides[0].key, overrides[0].tag, overrides[0].val_str = b"general.name", llama_cpp.LLAMA_KV_OVERRIDE_TYPE_STR, b"another"
    given.kv_overrides = overrides
    heard: list[float] = []
    progress = llama_cpp.llama_progress_callback(lambda value, _: heard.append(value) or True)
    given.progress_callback = progress
    with _internals.LlamaModel(str(material.model(material.SYNTH_LLAMA)), given) as model:
        assert model.metadata()["general.name"]
        assert heard[-1] == 1.0
    given.vocab_only = True
    with _internals.LlamaModel(str(material.model(material.SYNTH_LLAMA)), given) as model, pytest.raises(ValueError, match="vocab_only"):
        _internals.LlamaContext(model, params())


def test_what_a_struct_cannot_carry_is_refused(model: _internals.LlamaModel) -> None:
    given = params()
    given.abort_callback = llama_cpp.ggml_abort_callback(lambda _: False)
    with pytest.raises(ValueError, match="set_abort_callback"):
        _internals.LlamaContext(model, given)
    with pytest.raises(TypeError, match="llama_context_params"):
        _internals.LlamaContext(model, {"n_ctx": 5})


def test_sequences_compute_what_they_compute_alone(context: _internals.LlamaContext) -> None:
    due = evaluated(context)
    tokens = context.model.tokenize(TEXT, True, False)
    context.memory_clear()
    batch = _internals.LlamaBatch(64, 0, 2)
    batch.add_sequence([5, 6, 7], 0, logits_all=False)
    batch.add_sequence(token_array=tokens, pos_array=range(len(tokens)), seq_ids=[1], logits_array=[False] * (len(tokens) - 1) + [True])
    context.decode(batch)
    assert np.allclose(context.get_logits_ith(-1), due, atol=1e-4)
    context.kv_cache_seq_keep(1)
    assert (context.memory_seq_pos_max(0), context.memory_seq_pos_max(1)) == (-1, len(tokens) - 1)


def test_a_batch_written_through_its_struct(context: _internals.LlamaContext) -> None:
    due = evaluated(context)
    tokens = context.model.tokenize(TEXT, True, False)
    context.memory_clear()
    batch = _internals.LlamaBatch(64, 0, 1)
    for place, token in enumerate(tokens):
        native = batch.batch
        native.token[place], native.pos[place], native.n_seq_id[place], native.seq_id[place][0] = token, place, 1, 0
        native.logits[place] = place == len(tokens) - 1
    batch.batch.n_tokens = len(tokens)
    context.decode(batch)
    assert np.allclose(context.get_logits_ith(len(tokens) - 1), due, atol=1e-4)


def test_a_growing_batch(context: _internals.LlamaContext) -> None:
    due = evaluated(context)
    context.memory_clear()
    with _internals.LlamaBatchExt(context=context) as batch:
        for token in context.model.tokenize(TEXT, True, False):
            last = batch.add_token(token)
        batch.set_output(last)
        context.process(batch)
        assert np.allclose(context.get_logits_ith(last), due, atol=1e-4)
        batch.clear()
        batch.add_token(5, [0], logits=True)
        context.process(batch)
    assert context.memory_seq_pos_max(0) == last + 1


def test_states(context: _internals.LlamaContext, tmp_path: Path) -> None:
    evaluated(context)
    tokens = context.model.tokenize(TEXT, True, False)
    following = batch_of([9], n_past=len(tokens))
    context.decode(following)
    due = context.get_logits_ith(-1).copy()
    context.memory_seq_rm(0, len(tokens), -1)
    whole, one, on_device = (
        context.get_state_data(),
        context.get_state_seq_data(seq_id=0),
        context.get_state_seq_data_ext(seq_id=0, flags=2),
    )
    context.save_state_file(tmp_path / "all", tokens)
    context.save_state_seq_file(tmp_path / "one", 0, tokens)
    buffer = (ctypes.c_uint8 * context.get_state_size())()
    assert bytes(buffer[: context.get_state_data(buffer, len(buffer))]) == whole
    for restore in (
        lambda: context.set_state_data(whole),
        lambda: context.set_state_data(buffer, len(whole)),
        lambda: context.set_state_seq_data(one, None, 0),
        lambda: context.set_state_seq_data_ext(on_device, None, 0, 2),
        lambda: context.load_state_file(tmp_path / "all") == tokens,
        lambda: context.load_state_seq_file(tmp_path / "one", 0) == tokens,
    ):
        context.memory_clear()
        assert restore()
        context.decode(following)
        assert np.allclose(context.get_logits_ith(-1), due, atol=1e-4)


class TestOnTheDevice:
    """Samplers in the graph choose what they choose outside of it."""

    def test_the_likeliest(self, context: _internals.LlamaContext) -> None:
        due = int(evaluated(context).argmax())
        with _internals.LlamaSampler() as sampler:
            assert context.set_sampler(0, sampler.add_greedy())
            evaluated_again(context)
            assert context.get_sampled_token_ith(-1) == sampler.sample(context) == due

    def test_a_part_of_a_chain(self, context: _internals.LlamaContext) -> None:
        logits = evaluated(context)
        with _internals.LlamaSampler() as sampler:
            context.set_sampler(0, sampler.add_top_k(4).add_typical(0.99).add_dist(1))
            evaluated_again(context)
            assert context.get_sampled_token_ith(-1) == -1
            kept = context.get_sampled_candidates_ith(-1)
            assert sorted(kept) == sorted(np.argsort(logits)[-4:])
            assert np.allclose(context.get_sampled_logits_ith(-1), logits[kept], atol=1e-4)
            assert len(context.get_logits_ith(-1)) == context.get_sampled_logits_count_ith(-1) == 4
            assert sampler.sample(context) in kept

    def test_closing_the_chain_gives_the_logits_back(self, context: _internals.LlamaContext) -> None:
        due = evaluated(context)
        sampler = _internals.LlamaSampler().add_greedy()
        context.set_sampler(0, sampler)
        sampler.close()
        assert np.allclose(evaluated(context), due, atol=1e-4)


def evaluated_again(context: _internals.LlamaContext) -> None:
    context.memory_clear()
    context.decode(batch_of(context.model.tokenize(TEXT, True, False)))


class TestStopping:
    def test_a_callback_that_stops(self, context: _internals.LlamaContext) -> None:
        asked: list[Any] = []

        def stops(data: Any) -> bool:
            asked.append(data)
            return len(asked) > 3

        context.set_abort_callback(stops, "data")
        with pytest.raises(_internals.LlamaDecodeAbort):
            evaluated_again(context)
        assert asked == ["data"] * 4
        context.set_abort_callback(None)
        assert len(evaluated(context)) == context.model.n_vocab()

    def test_a_callback_that_raises(self, context: _internals.LlamaContext) -> None:
        def fails(_: Any) -> bool:
            raise KeyError("its own")

        context.set_abort_callback(fails)
        with pytest.raises(KeyError, match="its own"):
            evaluated_again(context)

    def test_abort_beside_a_callback(self, context: _internals.LlamaContext) -> None:
        context.set_abort_callback(lambda _: False)
        context.abort()
        with pytest.raises(_internals.LlamaDecodeAbort):
            evaluated_again(context)
        context.clear_abort()
        evaluated_again(context)


class TestSamplingContext:
    def test_choosing_and_accepting_are_two_steps(self, context: _internals.LlamaContext) -> None:
        logits = evaluated(context)
        sampling = _internals.LlamaSamplingContext(_internals.LlamaSamplingParams(temp=0.0, penalty_repeat=2.0, penalty_freq=50.0))
        with sampling:
            likeliest = int(logits.argmax())
            assert [sampling.sample(context), sampling.sample(context)] == [likeliest] * 2
            sampling.accept(context, likeliest)
            assert (sampling.sample(context) != likeliest, sampling.last()) == (True, likeliest)
            with sampling.cp() as copy:
                copy.reset()
                assert (copy.sample(context), sampling.last()) == (likeliest, likeliest)
            chosen = sampling.sample(context, logits_array=np.where(np.arange(len(logits)) == 5, 0, -100.0))
            assert chosen == 5
            assert sampling.prev_str(context, 1) == context.model.token_to_piece(likeliest, special=True).decode("utf-8", "replace")

    def test_a_grammar_and_a_budget(self, context: _internals.LlamaContext) -> None:
        evaluated(context)
        params = _internals.LlamaSamplingParams(temp=0.0, grammar='root ::= "he" "l"*', reasoning_budget=0, reasoning_end="l")
        with _internals.LlamaSamplingContext(params, context.model) as sampling:
            for _ in range(2):
                sampling.accept(context, sampling.sample(context))
            assert sampling.prev_str(context, 2).startswith("he")
            assert not sampling.force_reasoning_budget()


def test_a_lora_in_force_and_out_again(model: _internals.LlamaModel, context: _internals.LlamaContext) -> None:
    plain = evaluated(context)
    with _internals.LlamaLoraAdapter(model, str(material.model(material.SYNTH_LORA))) as adapter:
        context.set_adapters_lora({adapter: 1.0})
        assert context.memory_seq_pos_max(0) == -1
        assert not np.allclose(evaluated(context), plain, atol=1e-3)
    assert np.allclose(evaluated(context), plain, atol=1e-4), "closing it takes it out of force"


def test_timings_and_sizes(context: _internals.LlamaContext) -> None:
    context.reset_timings()
    evaluated(context)
    assert context.perf_context().n_p_eval >= 1
    context.print_timings()
    assert (context.n_ctx(), context.n_batch(), context.n_seq_max()) == (512, 64, 2)
    assert context.graph_reserve(2, 1, 1) > 0
    assert np.isfinite(evaluated(context)).all()
