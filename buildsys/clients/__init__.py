"""Programs of others that sit on `llama_cpp`, run unchanged on a wheel: one environment and one test file each."""
