"""Embeddings and rankings: what is computed for each input, and how answers are shaped."""
