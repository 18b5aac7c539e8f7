"""Settings of all unit tests: the hypothesis profiles are those of the conformance suite."""

from conformance.rig import profiles

profiles.load()
