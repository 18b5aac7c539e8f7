"""The feature layer: what a user asks for, in terms of the engine. The historic import paths are facades over it."""
