"""The public `Llama` class, composed from the collaborators of the other feature packages."""
