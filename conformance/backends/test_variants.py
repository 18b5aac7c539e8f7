"""Every CPU variant that this processor can run computes the same, and the best of them is what is chosen.

Logits are compared with those of the chosen variant, after a prompt evaluated in one batch. Variants round differently: they
sum in another order and, with AMX or VNNI, quantise activations differently. What is held: the largest difference of any logit
stays below `LOGIT_TOLERANCE`, where logits of this model span about 40, and greedy text is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from rig import child, installation, material

if TYPE_CHECKING:
    from pathlib import Path

LOGIT_TOLERANCE = 0.5
N_TOKENS = 16

GENERATE = """
    import ctypes, json, sys
    import numpy
    import llama_cpp
    from llama_cpp import llama_cpp as native

    model, into, n_tokens = sys.argv[1], sys.argv[2], int(sys.argv[3])
    prompt = "Once upon a time, in a small village by the sea,"
    with llama_cpp.Llama(model, n_ctx=256, n_threads=2, n_threads_batch=2, verbose=False) as llama:
        text = llama.create_completion(prompt, max_tokens=n_tokens, temperature=0.0)["choices"][0]["text"]
        llama.reset()
        llama.eval(llama.tokenize(prompt.encode()))
        pointer = native.llama_get_logits_ith(llama.ctx, -1)
        numpy.save(into, numpy.ctypeslib.as_array(pointer, shape=(llama.n_vocab(),)))
    print(json.dumps({"text": text, "variant": llama_cpp.system_report().cpu_variant}))
"""

SCORES = """
    import json
    import llama_cpp
    report = llama_cpp.system_report()
    print(json.dumps({"chosen": report.cpu_variant, "scores": {each.variant: each.score for each in report.plugins if each.family == "cpu"}}))
"""

pytestmark = pytest.mark.once_per_wheel


def own_scores() -> dict[str, int]:
    """Scores asked from each file itself, in a child: the reference for what the package reports."""
    source = """
        import ctypes, json, sys
        print(json.dumps([int(ctypes.CDLL(path).ggml_backend_score()) for path in sys.argv[1:]]))
    """
    variants = installation.cpu_variants()
    return dict(zip(variants, child.run(source, *variants.values()).json(), strict=True))


RUNNABLE = [name for name, score in own_scores().items() if score > 0]


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, np.ndarray]:
    """Variant, text and logits of the library set as it is installed."""
    into = tmp_path_factory.mktemp("chosen") / "logits.npy"
    answer = child.run(GENERATE, material.model(material.TRANSFORMER), into, N_TOKENS).json()
    return answer["variant"], answer["text"], np.load(into)


def test_the_best_score_is_chosen() -> None:
    scores = own_scores()
    answer = child.run(SCORES).json()
    assert answer["scores"] == scores
    assert answer["chosen"] == max(scores, key=lambda name: scores[name])


@pytest.mark.parametrize("variant", RUNNABLE)
def test_variant_alone_gives_the_same_text_and_logits(variant: str, reference: tuple[str, str, np.ndarray], tmp_path: Path) -> None:
    folder = installation.copy_with_variant(tmp_path / "lib", variant)
    into = tmp_path / "logits.npy"
    answer = child.run(GENERATE, material.model(material.TRANSFORMER), into, N_TOKENS, env={"LLAMA_CPP_LIB_PATH": str(folder)}).json()
    assert answer["variant"] == variant
    assert answer["text"] == reference[1]
    logits = np.load(into)
    assert np.isfinite(logits).all()
    assert float(np.abs(logits - reference[2]).max()) <= LOGIT_TOLERANCE
