"""From a row of the matrix to a proved wheel: the stages, in order, each in a module of its own."""
