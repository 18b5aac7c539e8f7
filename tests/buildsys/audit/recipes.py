"""Recipes of small wheels that pass every check, to be spoilt one property at a time."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import stat
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from buildsys.audit.device_code import DeviceCode
from buildsys.matrix import BuildRow, CudaBuild

from .elf_files import shared_object
from .pe_files import dynamic_library

VARIANTS = ("x64", "haswell")
TAG = "manylinux_2_17_x86_64"
LIB = "llama_cpp/lib"
BINDINGS = "llama_cpp/_native/bindings/ggml_backend/registry.py"

_BINDING = b"""
@c_function("ggml", [c_char_p], c_void_p)
def ggml_backend_load(path: bytes, /) -> int: ...
"""
_MANGLED_BINDING = b"""
@c_function("ggml", [c_size_t], c_size_t, symbols=("_Z9ggml_sizem", "_Z9ggml_sizey"))
def ggml_size(n: int, /) -> int: ...
"""
_LICENCES = {
    "llama.cpp/LICENSE": "Copyright (c) The ggml authors",
    "libomp/LICENSE.TXT": "The LLVM Project is under the Apache License",
    "nlohmann-json/LICENSE": "Copyright Niels Lohmann",
    "cpp-httplib/LICENSE": "Copyright yhirose",
    "miniaudio/LICENSE": "Copyright David Reid",
    "stb/LICENSE": "Copyright Sean Barrett",
    "subprocess.h/LICENSE": "released into the public domain",
    "xxhash/LICENSE": "Copyright Yann Collet",
    "sha256/LICENSE": "Igor Pavlov",
    "rotate-bits/LICENSE": "Copyright William Casarin",
    "llamafile/LICENSE": "Copyright Mozilla Foundation",
    "sha1/LICENSE": "By Steve Reid",
    "yarn/LICENSE": "Copyright Jeffrey Quesnelle",
}


def row(identifier: str, platform_tag: str, cuda: CudaBuild | None = None) -> BuildRow:
    """A row of a build matrix with few CPU variants and a small size limit."""
    return BuildRow(
        identifier=identifier,
        toolchain="zig",
        target="any",
        platform_tag=platform_tag,
        max_megabytes=0.5,
        cpu_variants=VARIANTS,
        cuda=cuda,
    )


REQUIREMENTS = ("numpy>=1.24", "jinja2>=3.1", "typing-extensions>=4.8")
CUDA_131 = CudaBuild(
    toolkit="13.1",
    architectures=("75-real", "120-real", "75-virtual"),
    requires=("nvidia-cuda-runtime>=13.1,<14", "nvidia-cublas>=13.1,<14"),
)

ROWS = (
    row("linux_x86_64-cpu", "manylinux_2_28_x86_64"),
    row("linux_x86_64-cu131", "manylinux_2_28_x86_64", CUDA_131),
    row("linux_aarch64-cpu", "manylinux_2_28_aarch64"),
    row("windows_amd64-cpu", "win_amd64"),
)


@dataclass
class Recipe:
    """Everything that a wheel is written from; change a part, then write it."""

    version: str = "0.4.0"
    platform: str = TAG
    requires: tuple[str, ...] = REQUIREMENTS
    files: dict[str, bytes] = field(default_factory=dict)
    file_name: str = ""
    record: bytes | None = None
    sbom: bytes | None = None
    links: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        tags = "".join(f"Tag: py3-none-{tag}\n" for tag in self.platform.split("."))
        self.file_name = self.file_name or f"llama_cpp_python-{self.version}-py3-none-{self.platform}.whl"
        self.files |= {
            "llama_cpp/__init__.py": b'"""The package."""\n',
            "llama_cpp/_version.py": f'__version__ = "{self.version}"\n'.encode(),
            "llama_cpp/py.typed": b"",
            f"{LIB}/abi.json": json.dumps({"records": {"llama_batch": {"size": 56}}}).encode(),
            self.info("WHEEL"): f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\n{tags}".encode(),
            self.info("METADATA"): (
                f"Metadata-Version: 2.4\nName: llama_cpp_python\nVersion: {self.version}\n"
                + "".join(f"Requires-Dist: {text}\n" for text in self.requires)
                + 'Requires-Dist: huggingface-hub>=0.25; extra == "hf"\n'
                + "".join(f"License-File: {name}\n" for name in _LICENCES)
            ).encode(),
            **{self.info(f"licenses/{name}"): text.encode() for name, text in _LICENCES.items()},
        }

    def info(self, name: str) -> str:
        """Path of a dist-info file."""
        return f"llama_cpp_python-{self.version}.dist-info/{name}"

    def elf(self, stem: str, needs: Sequence[str] = (), **properties: object) -> None:
        """Put `lib<stem>.so` into the library folder, with `properties` as :func:`shared_object` takes them."""
        name = f"lib{stem}.so"
        system = ("libc.so.6",) if "libc.so.6" not in needs else ()
        settings: dict[str, object] = {"soname": name, "needed": (*needs, *system), "runpath": "$ORIGIN", "payload": name.encode()}
        self.files[f"{LIB}/{name}"] = shared_object(**(settings | properties))  # type: ignore[arg-type]

    def dll(self, stem: str, needs: Sequence[str] = (), **properties: object) -> None:
        """Put `<stem>.dll` into the library folder, with `properties` as :func:`dynamic_library` takes them."""
        name = f"{stem}.dll"
        settings: dict[str, object] = {"name": name, "imports": (*needs, "KERNEL32.dll"), "payload": name.encode()}
        self.files[f"{LIB}/{name}"] = dynamic_library(**(settings | properties))  # type: ignore[arg-type]

    def replace(self, name: str, old: str, new: str) -> None:
        """Change a text inside a file; it has to occur."""
        content = self.files[name].decode()
        assert old in content
        self.files[name] = content.replace(old, new).encode()

    def sound_sbom(self) -> bytes:
        """The bill of materials that fits the files as they are now."""
        native = [name for name in self.files if re.search(r"\.(so(\.\d+)?|dll|dylib)$", name) and name not in self.links]
        hashed = {name: hashlib.sha256(self.files[name]).hexdigest() for name in native}
        files = [{"type": "file", "name": name, "hashes": [{"alg": "SHA-256", "content": digest}]} for name, digest in hashed.items()]
        bundled = [
            {
                "type": "library",
                "name": name.split("/")[0],
                "licenses": [{"license": {"name": "some licence"}}],
                "properties": [{"name": "llama_cpp_python:licence-file", "value": name}],
            }
            for name in _LICENCES
        ]
        required = [
            {
                "type": "library",
                "name": re.split("[<>=]", text)[0],
                "properties": [{"name": "llama_cpp_python:requirement", "value": text}],
            }
            for text in self.requires
        ]
        subject = {"type": "library", "name": "llama_cpp_python", "version": self.version}
        document = {
            "bomFormat": "CycloneDX",
            "specVersion": "1.6",
            "version": 1,
            "metadata": {"component": subject},
            "components": [*files, *bundled, *required],
        }
        return json.dumps(document).encode()

    def content(self) -> dict[str, bytes]:
        """All files but RECORD."""
        sbom = self.sound_sbom() if self.sbom is None else self.sbom
        return self.files | ({self.info("sboms/llama_cpp_python.cdx.json"): sbom} if sbom else {})

    def sound_record(self) -> bytes:
        """The RECORD that fits the files as they are now."""
        rows = [record_line(name, content) for name, content in self.content().items()]
        return "\n".join([*rows, f"{self.info('RECORD')},,", ""]).encode()

    def write(self, folder: Path) -> Path:
        """Write the wheel into `folder`, its RECORD last."""
        path = folder / self.file_name
        record = self.sound_record() if self.record is None else self.record
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in [*self.content().items(), (self.info("RECORD"), record)]:
                entry = zipfile.ZipInfo(name)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = ((stat.S_IFLNK if name in self.links else stat.S_IFREG) | 0o644) << 16
                archive.writestr(entry, content)
        return path


def record_line(name: str, content: bytes) -> str:
    """The line of RECORD for a file."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}"


def linux_wheel(*, machine: str = "x86_64", version: str = "0.4.0", requires: tuple[str, ...] = REQUIREMENTS) -> Recipe:
    """A CPU wheel as the build makes it, in small."""
    recipe = Recipe(version=version, platform=f"manylinux_2_17_{machine}", requires=requires)
    recipe.elf("omp", runpath=None, exports=["__kmpc_fork_call", "_Znwm"], machine=machine)
    recipe.elf("ggml-base", ["libomp.so"], exports=["ggml_init"], machine=machine)
    recipe.elf("ggml", ["libggml-base.so"], exports=["ggml_backend_load"], machine=machine)
    recipe.files[BINDINGS] = _BINDING
    recipe.elf("llama", ["libggml.so", "libggml-base.so"], exports=["llama_decode"], machine=machine)
    recipe.elf("llama-common", ["libllama.so"], exports=["_Z11common_initRKNSt3__16vectorE"], machine=machine)
    recipe.elf("mtmd", ["libllama.so"], exports=["mtmd_encode"], machine=machine)
    for backend in ("ggml-rpc", *(f"ggml-cpu-{variant}" for variant in VARIANTS)):
        recipe.elf(backend, ["libggml-base.so"], soname=None, exports=["ggml_backend_init"], machine=machine)
    return recipe


def cuda_wheel(
    *,
    plugin_needs: Sequence[str] = ("libcudart.so.13", "libcublas.so.13", "libcuda.so.1"),
    requires: tuple[str, ...] = CUDA_131.requires,
    device_code: str = "sm_75.cubin sm_120a.cubin sm_75.ptx",
) -> Recipe:
    """A wheel for CUDA 13.1, whose runtime comes from NVIDIA's own wheels; `device_code` is what `fake_device_code` finds."""
    recipe = linux_wheel(version="0.4.0+cu131", requires=(*REQUIREMENTS, *requires))
    runpath = "$ORIGIN:$ORIGIN/../../nvidia/cu13/lib"
    recipe.elf(
        "ggml-cuda",
        ["libggml-base.so", *plugin_needs],
        soname=None,
        runpath=runpath,
        exports=["ggml_backend_init"],
        payload=f"{device_code}\n".encode(),
    )
    return recipe


def fake_device_code(_name: str, data: bytes) -> DeviceCode:
    """What a recipe says of its GPU code, in place of what cuobjdump would find."""
    found = {kind: frozenset(re.findall(rf"sm_(\d+[af]?)\.{kind}", data.decode("latin-1"))) for kind in ("cubin", "ptx")}
    return DeviceCode(real=found["cubin"], virtual=found["ptx"])


def windows_wheel() -> Recipe:
    """A CPU wheel for Windows."""
    recipe = Recipe(platform="win_amd64")
    recipe.dll("libomp", exports=["__kmpc_fork_call"])
    recipe.dll("ggml-base", ["libomp.dll"], exports=["ggml_init"])
    recipe.dll("ggml", ["ggml-base.dll"], exports=["ggml_backend_load", "_Z9ggml_sizey"])
    recipe.files[BINDINGS] = _BINDING + _MANGLED_BINDING
    recipe.dll("llama", ["ggml.dll", "ggml-base.dll"], exports=["llama_decode"])
    recipe.dll("llama-common", ["llama.dll"])
    recipe.dll("mtmd", ["llama.dll"])
    for backend in ("ggml-rpc", *(f"ggml-cpu-{variant}" for variant in VARIANTS)):
        recipe.dll(backend, ["ggml-base.dll", "api-ms-win-crt-heap-l1-1-0.dll"])
    return recipe
