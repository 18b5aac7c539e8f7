"""Text completions: request, text assembly, response shapes, and the run that joins them."""
