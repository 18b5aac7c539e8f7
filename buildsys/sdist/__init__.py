"""The source distribution: making it, what it may hold, and the proof that it installs where there is no network."""
