"""Speed, measured: the installed wheel against a bare native loop and the published peer, in turn, in one run."""
