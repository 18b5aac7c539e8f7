"""Tests of the engine on faked native functions."""
