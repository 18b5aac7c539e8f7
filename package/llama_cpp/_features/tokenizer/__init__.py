"""Text to tokens and back, by the model's own vocabulary or by a Hugging Face tokenizer."""
