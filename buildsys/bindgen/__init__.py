"""Generates the ctypes bindings and the layout probe from the pinned headers; says nothing about loading libraries."""
