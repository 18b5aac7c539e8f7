"""A static package index of the project's wheels: one folder per accelerator, and a page for people at its root.

It reads finished files and writes pages; building, auditing and uploading are others' business.
"""
