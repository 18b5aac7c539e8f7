"""Archives that follow from their content alone: the date they bear, their canonical form, and the proof by building twice."""
