"""Support of the suite: child processes, model files, the installed files. Only `native_state` imports the tested package."""
