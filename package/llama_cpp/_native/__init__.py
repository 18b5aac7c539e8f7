"""The native layer: library files, backend plugins, and the generated bindings. C names stay verbatim here."""
