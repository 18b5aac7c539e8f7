"""The build system: from the pinned llama.cpp to wheels that were proved before anyone installs them."""
