"""Snapshots of what a `Llama` has computed: taking and restoring them, and the file format."""
