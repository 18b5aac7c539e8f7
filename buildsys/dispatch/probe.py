"""Run by the environment's own Python, emulated or not: says which CPU variant was chosen and what text it gives."""

from __future__ import annotations

import json
import sys
from typing import Any

import llama_cpp


def main(model_path: str, prompt: str, n_tokens: int) -> None:
    """Print one line of JSON: the chosen variant and the greedy continuation of `prompt`."""
    report = llama_cpp.system_report()
    with llama_cpp.Llama(model_path, n_ctx=128, n_batch=64, n_threads=2, n_threads_batch=2, verbose=False) as llama:
        completion: Any = llama.create_completion(prompt, max_tokens=n_tokens, temperature=0.0)
    print(json.dumps({"variant": report.cpu_variant, "text": completion["choices"][0]["text"]}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
