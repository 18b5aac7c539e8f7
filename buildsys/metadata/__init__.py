"""What scikit-build-core asks while it builds: version and requirements, which depend on the wheel's row of the matrix."""
