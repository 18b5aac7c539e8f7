"""Every CPU variant that this processor can run computes the same, and the best of them is what is chosen.

Variants differ in rounding: they sum in another order and, for quantised weights, quantise the activations with other
instructions. So logits are compared with a tolerance, and greedy text on prompts that leave no doubt about the next token.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from rig import child, installation, material
from rig.generation import CERTAIN_PROMPTS

if TYPE_CHECKING:
    from pathlib import Path

N_TOKENS = 16
# Largest and root-mean-square difference of any logit after the prompt. For SmolLM2 in Q4_1 its logits span 34 to 40, and the
# likeliest token leads by at least 1.5 at every step; the synthetic model's weights are floats.
TOLERANCES = {material.TRANSFORMER: (1.5, 0.5), material.SYNTH_LLAMA: (0.02, 0.005)}

GENERATE = """
    import ctypes, json, sys
    import numpy
    import llama_cpp
    from llama_cpp import llama_cpp as native

    job = json.loads(sys.argv[1])
    texts = {}
    for name, path in job["models"].items():
        with llama_cpp.Llama(path, n_ctx=256, n_threads=2, n_threads_batch=2, verbose=False) as llama:
            for number, prompt in enumerate(job["prompts"]):
                completion = llama.create_completion(prompt, max_tokens=job["n_tokens"], temperature=0.0)
                texts[f"{name}-{number}"] = completion["choices"][0]["text"]
                llama.reset()
                llama.eval(llama.tokenize(prompt.encode(), special=True))
                logits = native.llama_get_logits_ith(llama.ctx, -1)
                values = numpy.ctypeslib.as_array(logits, shape=(llama.n_vocab(),))
                numpy.save(f"{job['folder']}/{name}-{number}.npy", values)
                llama.reset()
    print(json.dumps({"texts": texts, "variant": llama_cpp.system_report().cpu_variant}))
"""

SCORES = """
    import json
    import llama_cpp
    report = llama_cpp.system_report()
    scores = {each.variant: each.score for each in report.plugins if each.family == "cpu"}
    print(json.dumps({"chosen": report.cpu_variant, "scores": scores}))
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


def generate(folder: Path, env: dict[str, str] | None = None) -> dict[str, Any]:
    """Texts of all models and prompts; logits lie in `folder`."""
    models = {name: str(material.model(name)) for name in TOLERANCES}
    job = {"models": models, "prompts": CERTAIN_PROMPTS, "n_tokens": N_TOKENS, "folder": str(folder)}
    answer: dict[str, Any] = child.run(GENERATE, json.dumps(job), env=env).json()
    return answer


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Logits and texts of the library set as it is installed."""
    folder = tmp_path_factory.mktemp("chosen")
    return folder, generate(folder)["texts"]


def test_the_best_score_is_chosen() -> None:
    scores = own_scores()
    answer = child.run(SCORES).json()
    assert answer["scores"] == scores
    assert answer["chosen"] == max(scores, key=lambda name: scores[name])


@pytest.mark.parametrize("variant", RUNNABLE)
def test_variant_alone_gives_the_same_text_and_logits(variant: str, reference: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    libraries = installation.copy_with_variant(tmp_path / "lib", variant)
    answer = generate(tmp_path, {"LLAMA_CPP_LIB_PATH": str(libraries)})
    folder, texts = reference
    assert answer["variant"] == variant
    assert {name: text for name, text in answer["texts"].items() if name.startswith(material.TRANSFORMER)} == {
        name: text for name, text in texts.items() if name.startswith(material.TRANSFORMER)
    }
    for name in texts:
        logits, due = np.load(tmp_path / f"{name}.npy"), np.load(folder / f"{name}.npy")
        assert np.isfinite(logits).all()
        difference = np.abs(logits - due)
        measured = float(difference.max()), float(np.sqrt((difference**2).mean()))
        allowed = TOLERANCES[name.rpartition("-")[0]]
        assert all(found <= limit for found, limit in zip(measured, allowed, strict=True)), (name, measured, allowed)
