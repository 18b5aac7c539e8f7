"""Support of the suite: child processes, model files, the installed files. Imports nothing from the tested package."""
