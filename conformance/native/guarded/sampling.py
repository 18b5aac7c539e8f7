"""Samplers, grammars and logits that native code would not survive."""

from __future__ import annotations

import numpy as np

from llama_cpp import _internals

from .cases import batch_of, case, llama, objects


@case
def a_chain_without_a_selecting_sampler() -> None:
    with objects() as (_, context), _internals.LlamaSampler() as sampler:
        context.decode(batch_of(4))
        sampler.add_top_k(5).sample(context)


@case
def an_output_that_does_not_exist() -> None:
    with objects() as (_, context), _internals.LlamaSampler() as sampler:
        context.decode(batch_of(4))
        sampler.add_greedy().sample(context, 2)


@case
def sampling_before_anything_was_evaluated() -> None:
    with objects() as (_, context), _internals.LlamaSampler() as sampler:
        sampler.add_greedy().sample(context)


@case
def sampling_through_llama_before_anything_was_evaluated() -> None:
    with llama() as made:
        made.sample(temp=0)


@case
def sampling_through_llama_at_a_place_that_left_no_logits() -> None:
    with llama() as made:
        made.eval([1, 2, 3])
        made.sample(temp=0, idx=7)


@case
def the_same_chain_for_two_sequences() -> None:
    with objects(n_seq_max=2) as (_, context), _internals.LlamaSampler() as sampler:
        sampler.add_greedy()
        context.set_sampler(0, sampler)
        context.set_sampler(1, sampler)


@case
def a_chain_for_the_device_twice() -> None:
    with objects() as (_, context), _internals.LlamaSampler() as sampler:
        sampler.add_greedy()
        context.set_sampler(0, sampler)
        context.set_sampler(0, None)
        context.set_sampler(0, sampler)


@case
def another_chain_where_the_device_samples() -> None:
    with objects() as (_, context), _internals.LlamaSampler() as sampler, _internals.LlamaSampler() as other:
        context.set_sampler(0, sampler.add_top_k(3).add_dist(1))
        context.decode(batch_of(4))
        other.add_greedy().sample(context)


@case
def a_chain_of_the_device_on_an_older_output() -> None:
    with objects() as (_, context), _internals.LlamaSampler() as sampler:
        context.decode(batch_of(4))
        context.set_sampler(0, sampler.add_greedy())
        sampler.sample(context)


@case
def penalties_on_a_device_without_the_size_of_the_vocabulary() -> None:
    with objects() as (_, context), _internals.LlamaSampler() as sampler:
        context.set_sampler(0, sampler.add_penalties(64, 1.1, 0, 0).add_greedy())


@case
def a_grammar_on_a_device() -> None:
    with objects() as (model, context), _internals.LlamaSampler() as sampler:
        context.set_sampler(0, sampler.add_grammar(model, 'root ::= "a"').add_greedy())


@case
def two_outputs_of_a_sequence_on_a_device() -> None:
    with objects() as (_, context), _internals.LlamaSampler() as sampler:
        context.set_sampler(0, sampler.add_greedy())
        context.decode(batch_of(4, logits_all=True))


@case
def adding_behind_a_selecting_sampler() -> None:
    with _internals.LlamaSampler() as sampler:
        sampler.add_greedy().add_top_k(5)


@case
def a_token_that_the_grammar_does_not_allow() -> None:
    with objects() as (model, _), _internals.GrammarSampler(model, 'root ::= "a"') as grammar:
        grammar.accept(model.tokenize(b"zzz", False, False)[-1])


@case
def the_end_before_the_grammar_allows_it() -> None:
    with objects() as (model, _), _internals.LlamaSampler() as sampler:
        sampler.add_grammar(model, 'root ::= "ab"').add_greedy().accept(model.token_eos())


@case
def a_grammar_that_is_none() -> None:
    with objects() as (model, _):
        _internals.GrammarSampler(model, "root ::= (")


@case
def a_grammar_without_its_root() -> None:
    with objects() as (model, _):
        _internals.GrammarSampler(model, 'other ::= "a"')


@case
def a_grammar_that_begins_with_itself() -> None:
    with llama() as made:
        made.create_completion("a", grammar='root ::= root "a" | "a"')


@case
def a_trigger_that_is_no_regular_expression() -> None:
    with objects() as (model, _):
        _internals.GrammarSampler(model, 'root ::= "a"', lazy=True, triggers=["[z-"])


@case
def a_trigger_whose_text_the_grammar_refuses() -> None:
    with objects() as (model, _), _internals.GrammarSampler(model, 'root ::= "a"', lazy=True, triggers=["(z)"]) as grammar:
        for token in model.tokenize(b"zz", False, False):
            grammar.accept(token)


@case
def a_bias_outside_the_vocabulary() -> None:
    with llama() as made:
        made.create_completion("a", logit_bias={10**7: 1.0})


@case
def a_bias_of_a_chain_outside_the_vocabulary() -> None:
    with objects() as (model, _), _internals.LlamaSampler() as sampler:
        sampler.add_logit_bias(model, {-4: 1.0})


@case
def a_custom_sampler_that_raises() -> None:
    def fail(_: object) -> None:
        raise ValueError("its own")

    with objects() as (_, context), _internals.LlamaSampler() as sampler:
        context.decode(batch_of(4))
        sampler.add_custom(fail).add_dist(1).sample(context)


@case
def a_custom_sampler_that_leaves_nothing() -> None:
    with objects() as (_, context), _internals.LlamaSampler() as sampler:
        context.decode(batch_of(4))
        sampler.add_custom(lambda candidates: setattr(candidates, "size", 0)).add_dist(1).sample(context)


@case
def a_custom_sampler_that_leaves_no_number() -> None:
    with objects() as (_, context), _internals.LlamaSampler() as sampler:
        context.decode(batch_of(4))
        sampler.add_custom(lambda candidates: candidates.logits.fill(np.nan)).add_dist(1).sample(context)


@case
def a_custom_sampler_alone_that_selects_nothing() -> None:
    with objects() as (_, context), _internals.LlamaSampler() as sampler:
        context.decode(batch_of(4))
        sampler.add_custom(lambda _: None).sample(context)


@case
def a_custom_sampler_whose_copy_fails() -> None:
    def fail() -> _internals.CustomSampler:
        raise ValueError("its own")

    with _internals.LlamaSampler() as sampler:
        sampler.add_custom(_internals.CustomSampler(lambda _: None, clone_func=fail)).clone()


@case
def logits_that_a_processor_made_no_numbers() -> None:
    with llama() as made:
        made.create_completion("a", logits_processor=lambda _, scores: scores * np.nan)
