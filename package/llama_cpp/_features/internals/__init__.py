"""The lower-level objects of `llama_cpp._internals`: thin faces of the engine's classes, under both lineages' names."""
