"""Writes small PE files with lief."""

from __future__ import annotations

from collections.abc import Sequence

import lief

lief.logging.disable()

_CODE = 0x60000020  # code, executable, readable
_HARDENED = 0x0140  # DYNAMIC_BASE, NX_COMPAT
_MACHINES = {"x86_64": lief.PE.Header.MACHINE_TYPES.AMD64, "aarch64": lief.PE.Header.MACHINE_TYPES.ARM64}


def dynamic_library(
    *,
    name: str = "x.dll",
    imports: Sequence[str] = ("KERNEL32.dll",),
    exports: Sequence[str] = ("run",),
    machine: str = "x86_64",
    is_dll: bool = True,
    dll_characteristics: int = _HARDENED,
    pdb: str = "",
    payload: bytes = b"\xc3",
) -> bytes:
    """A PE32+ file that states exactly these properties."""
    factory = lief.PE.Factory.create(lief.PE.PE_TYPE.PE32_PLUS)
    assert factory is not None
    section = lief.PE.Section(".text")
    section.content = list(payload)
    section.virtual_size = section.size = 0x200 * (len(payload) // 0x200 + 1)
    section.characteristics = _CODE
    binary = factory.add_section(section).get()
    assert binary is not None
    for library in imports:
        binary.add_import(library).add_entry("entry")
    binary.header.machine = _MACHINES[machine]
    if is_dll:
        binary.header.add_characteristic(lief.PE.Header.CHARACTERISTICS.DLL)
    binary.optional_header.dll_characteristics = dll_characteristics
    binary.set_export(lief.PE.Export(name, [lief.PE.ExportEntry(symbol, 0x1000) for symbol in exports]))
    config = lief.PE.Builder.config_t()
    config.imports = config.exports = True
    if pdb:
        binary.add_debug_info(lief.PE.CodeViewPDB(pdb))
        config.debug = True
    return bytes(binary.write_to_bytes(config))
