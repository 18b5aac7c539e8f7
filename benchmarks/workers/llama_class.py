"""Times `Llama.create_completion` of whichever `llama_cpp` its environment has: ours, or the published peer's."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.protocol import GREEDY, Reading, Ready, Setup, Stopwatch, Task
from benchmarks.workers.serve import serve

MEAN_POOLING = 1
CHAIN_TEMPERATURE = 0.8  # of the default chain; chat has another default


class LlamaClass:
    """Holds `Llama` objects ready. Whatever a setup or a task doesn't name keeps the package's own default."""

    def __init__(self) -> None:
        self._package = importlib.import_module("llama_cpp")
        self._loaded: dict[Setup, Any] = {}

    def prepare(self, setup: Setup) -> Ready:
        """Construct a `Llama`."""
        if setup not in self._loaded:
            named = {"n_ctx": setup.n_ctx, "n_threads": setup.n_threads, "n_threads_batch": setup.n_threads_batch}
            if setup.embeddings:
                named |= {"embedding": True, "pooling_type": MEAN_POOLING}
            if setup.logits_all:
                named |= {"logits_all": True}
            given = {name: value for name, value in named.items() if value is not None}
            self._loaded[setup] = self._package.Llama(model_path=setup.model, **given)
        llama = self._loaded[setup]
        return Ready(
            n_ctx=llama.n_ctx(), n_threads=llama.n_threads, n_threads_batch=llama.n_threads_batch, version=self._package.__version__
        )

    def llama(self, setup: Setup) -> Any:
        """The object of a setup that was prepared."""
        return self._loaded[setup]

    def measure(self, task: Task) -> Reading:
        """Time whole calls; the context is emptied before each, outside the measured time."""
        llama = self._loaded[task.setup]
        if task.texts:
            return _embedded(llama, task)
        if task.chat:
            return _answered(llama, task)
        run = _streamed if task.stream else _plain
        choice: dict[str, Any] = {"temperature": 0.0} if task.sampling == GREEDY else {"seed": task.seed}
        options = {"max_tokens": task.tokens, **choice}
        if task.logprobs is not None:
            options["logprobs"] = task.logprobs
        if task.processor:
            options["logits_processor"] = self._package.LogitsProcessorList([_unchanged])
        if task.grammar:
            options["grammar"] = self._package.LlamaGrammar.from_string(task.grammar, verbose=False)
        watch, text, reason = Stopwatch(), "", ""
        for _ in range(task.calls):
            llama.reset()
            with watch:
                text, reason = run(llama, task.prompt, options)
        produced = task.tokens
        if reason != "length":
            produced = int(llama.n_tokens) - len(llama.tokenize(task.prompt.encode()))
        count = produced * task.calls
        return Reading(seconds=watch.seconds, cpu_seconds=watch.cpu_seconds, tokens=count, text=text, ended=reason != "length")

    def release(self) -> None:
        """Close every `Llama`."""
        while self._loaded:
            self._loaded.popitem()[1].close()


def _answered(llama: Any, task: Task) -> Reading:
    watch = Stopwatch()
    llama.reset()
    with watch:
        answer = llama.create_chat_completion(
            messages=[{"role": "user", "content": task.chat}], max_tokens=task.tokens, temperature=CHAIN_TEMPERATURE, seed=task.seed
        )
    choice = answer["choices"][0]
    return Reading(
        seconds=watch.seconds,
        cpu_seconds=watch.cpu_seconds,
        tokens=answer["usage"]["completion_tokens"],
        text=choice["message"]["content"],
        ended=choice["finish_reason"] != "length",
    )


def _embedded(llama: Any, task: Task) -> Reading:
    watch, texts = Stopwatch(), list(task.texts)
    for _ in range(task.calls):
        with watch:
            if task.apart:
                for text in texts:
                    llama.embed(text)
            else:
                llama.embed(texts)
    count = sum(len(llama.tokenize(text.encode())) for text in texts) * task.calls
    return Reading(seconds=watch.seconds, cpu_seconds=watch.cpu_seconds, tokens=count)


def _unchanged(_ids: Any, scores: Any) -> Any:
    return scores


def _plain(llama: Any, prompt: str, options: dict[str, Any]) -> tuple[str, str]:
    choice = llama.create_completion(prompt, **options)["choices"][0]
    return choice["text"], choice["finish_reason"]


def _streamed(llama: Any, prompt: str, options: dict[str, Any]) -> tuple[str, str]:
    pieces, reason = [], None
    for chunk in llama.create_completion(prompt, stream=True, **options):
        choice = chunk["choices"][0]
        pieces.append(choice["text"])
        reason = choice["finish_reason"] or reason
    return "".join(pieces), reason or ""


def main() -> None:
    """Serve."""
    serve(LlamaClass())
