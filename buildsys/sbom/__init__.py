"""The bill of materials of a wheel, in CycloneDX: whose code is in which file, under which licence, made with what.

`buildsys/sbom.toml` says what can be in a wheel; the wheel itself, the vendored sources and the native output say the rest.
"""
