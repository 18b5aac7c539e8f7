"""Moving the pin of llama.cpp: what a new commit changes for this project, and bringing the tree to it step by step."""
