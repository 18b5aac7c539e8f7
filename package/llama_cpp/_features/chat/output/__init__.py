"""What models write for a message: descriptions of their formats, and the machine that reads them."""
