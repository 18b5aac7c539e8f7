"""How the next token is chosen: parameters, and the native chain that is built from them."""
