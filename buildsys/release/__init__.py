"""What a release consists of: its version and its words in the changelog, and its files, complete and hashed.

Building, proving and uploading are others' business.
"""
