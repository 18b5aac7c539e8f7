"""The ways in which a sound wheel is spoilt, as data for `test_checks.py`."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from .recipes import LIB, Recipe, cuda_wheel, linux_wheel, windows_wheel

Spoil = Callable[[Recipe], object]

NAME = "llama_cpp_python-0.4.0-py3-none-manylinux_2_17_x86_64.whl"
LICENSES = "llama_cpp_python-0.4.0.dist-info/licenses"
NEEDS = ("libggml.so", "libggml-base.so")
HASWELL = f"{LIB}/libggml-cpu-haswell.so"


@dataclass(frozen=True)
class Fault:
    """How a wheel is spoilt, which checks fail of it and no other, and a text that one finding has to hold."""

    name: str
    spoil: Spoil
    failing: set[str]
    finding: str
    wheel: Callable[[], Recipe] = linux_wheel


def remove(name: str) -> Spoil:
    return lambda wheel: wheel.files.pop(name)


def add(name: str, content: bytes = b"x") -> Spoil:
    return lambda wheel: wheel.files.update({name: content})


def copy(source: str, target: str) -> Spoil:
    return lambda wheel: wheel.files.update({target: wheel.files[source]})


def replace(name: str, old: str, new: str) -> Spoil:
    return lambda wheel: wheel.replace(wheel.info(name) if name in {"METADATA", "WHEEL"} else name, old, new)


def truncate(name: str, size: int) -> Spoil:
    return lambda wheel: wheel.files.update({name: wheel.files[name][:size]})


def elf(stem: str, needs: tuple[str, ...] = (), **properties: object) -> Spoil:
    return lambda wheel: wheel.elf(stem, needs, **properties)


def llama(*more_needs: str, **properties: object) -> Spoil:
    return elf("llama", (*NEEDS, *more_needs), **properties)


def dll(stem: str, needs: tuple[str, ...] = (), **properties: object) -> Spoil:
    return lambda wheel: wheel.dll(stem, needs, **properties)


def fields(**values: object) -> Spoil:
    return lambda wheel: vars(wheel).update(values)


def record(change: Callable[[bytes], bytes]) -> Spoil:
    return lambda wheel: vars(wheel).update(record=change(wheel.sound_record()))


def materials(old: str, new: str) -> Spoil:
    """Change a text in the bill of materials; it has to occur."""

    def change(wheel: Recipe) -> None:
        text = wheel.sound_sbom().decode()
        assert old in text
        wheel.sbom = text.replace(old, new, 1).encode()

    return change


def patch_late(wheel: Recipe) -> None:
    """What a repair tool would do that runs after the bill of materials is written."""
    wheel.sbom = wheel.sound_sbom()
    wheel.files[HASWELL] += b"\0"


def every(*spoils: Spoil) -> Spoil:
    return lambda wheel: [spoil(wheel) for spoil in spoils]


def rename_dist_info(wheel: Recipe) -> None:
    wheel.files = {name.replace("0.4.0.dist-info", "0.3.9.dist-info"): content for name, content in wheel.files.items()}
    wheel.record = wheel.sound_record()


IDENTITY = (
    Fault("file renamed to another version", fields(file_name=NAME.replace("0.4.0", "0.4.1")), {"names", "sbom"}, "dist-info folders are"),
    Fault("file name not normalised", fields(file_name=NAME.replace("llama_cpp", "Llama_Cpp")), {"names"}, "does not begin with"),
    Fault("file retagged", fields(file_name=NAME.replace("2_17", "2_5")), {"names", "platform-tag"}, "WHEEL says Tag"),
    Fault("metadata of another project", replace("METADATA", "Name: llama_cpp_python", "Name: llama"), {"names"}, "Name: llama"),
    Fault(
        "metadata of another version", replace("METADATA", "Version: 0.4.0", "Version: 0.4.1"), {"names"}, "METADATA says Version: 0.4.1"
    ),
    Fault("metadata without a version", replace("METADATA", "Version: 0.4.0", "Version: new"), {"names"}, "METADATA says Version: new"),
    Fault("module of another version", replace("llama_cpp/_version.py", "0.4.0", "0.4.1"), {"names"}, "__version__ is 0.4.1"),
    Fault("module with a computed version", replace("llama_cpp/_version.py", '"0.4.0"', "str(4)"), {"names"}, "no plain string"),
    Fault("module that does not parse", replace("llama_cpp/_version.py", '"0.4.0"', "("), {"names"}, "cannot be read"),
    Fault("module without its local label", replace("llama_cpp/_version.py", "+cu131", ""), {"names"}, "__version__ is 0.4.0", cuda_wheel),
    Fault(
        "no METADATA",
        remove("llama_cpp_python-0.4.0.dist-info/METADATA"),
        {"names", "licences", "sbom", "requirements"},
        "a file is missing",
    ),
    Fault("declared pure", replace("WHEEL", "Purelib: false", "Purelib: true"), {"tags"}, "Root-Is-Purelib: true"),
    Fault(
        "tagged for one Python",
        every(fields(file_name=NAME.replace("py3-none", "cp312-cp312")), replace("WHEEL", "py3-none", "cp312-cp312")),
        {"tags"},
        "cp312-cp312",
    ),
)

ARCHIVE = (
    Fault("file twice in RECORD", record(lambda text: text + b"llama_cpp/py.typed,,\n"), {"record"}, "py.typed stands 2 times"),
    Fault("file not in RECORD", record(lambda text: text.partition(b"\n")[2]), {"record"}, "is not mentioned in RECORD"),
    Fault("file only in RECORD", record(lambda text: text + b"llama_cpp/gone.py,,\n"), {"record"}, "not in the archive"),
    Fault("wrong hash", record(lambda text: text.replace(b"sha256=", b"sha256=A", 1)), {"record"}, "didn't match RECORD"),
    Fault("wrong size", record(lambda text: text.replace(b",0\n", b",1\n", 1)), {"record"}, "didn't match RECORD"),
    Fault("no hash", record(lambda text: text.replace(b"py.typed,sha256=", b"py.typed,,#", 1)), {"record"}, "py.typed"),
    Fault("RECORD not a table", record(lambda _: b"nothing"), {"record"}, "RECORD"),
    Fault(
        "symbolic link", every(add("llama_cpp/llama.so", b"lib/libllama.so"), fields(links=("llama_cpp/llama.so",))), {"archive"}, "link"
    ),
    Fault("path out of the folder", add("llama_cpp/../evil.py"), {"archive"}, "not a plain relative path"),
    Fault("absolute path", add("/evil.py"), {"archive", "layout", "record"}, "not a plain relative path"),
    Fault("names that differ in case", add("llama_cpp/PY.TYPED"), {"archive"}, "differ at most in case"),
    Fault("too large", add("llama_cpp/noise", secrets.token_bytes(600_000)), {"size"}, "MB is more than 0.5 MB"),
)

CONTENTS = (
    Fault("header", add("llama_cpp/llama.h"), {"contents"}, "llama.h is of a kind"),
    Fault("import library", add(f"{LIB}/llama.lib"), {"contents", "layout"}, "llama.lib is of a kind"),
    Fault("static library", add(f"{LIB}/libllama.a"), {"contents", "layout"}, "libllama.a is of a kind"),
    Fault("build files", add(f"{LIB}/cmake/llama-config"), {"contents", "layout"}, "in a folder cmake"),
    Fault("tests", add("llama_cpp/tests/__init__.py"), {"contents"}, "in a folder tests"),
    Fault("build system", add("buildsys/__init__.py"), {"contents", "layout"}, "buildsys at the top level"),
    Fault("program", elf("llama", NEEDS, interpreter=True), {"contents"}, "libllama.so is a program"),
    Fault("not marked as typed", remove("llama_cpp/py.typed"), {"contents"}, "py.typed is missing"),
    Fault("stray file beside the libraries", add(f"{LIB}/README.md"), {"layout"}, "README.md is no library"),
    Fault(
        "library elsewhere",
        lambda wheel: add("llama_cpp/libmtmd.so", wheel.files.pop(f"{LIB}/libmtmd.so"))(wheel),
        {"layout", "dependencies"},
        "outside of",
    ),
    Fault("no layout data", remove(f"{LIB}/abi.json"), {"abi-data", "contents"}, "abi.json is missing"),
    Fault("layout data not JSON", add(f"{LIB}/abi.json", b"{"), {"abi-data"}, "not JSON"),
    Fault("layout data empty", add(f"{LIB}/abi.json", b'{"records": {}}'), {"abi-data"}, "has no records"),
    Fault(
        "licence missing",
        every(remove(f"{LICENSES}/libomp/LICENSE.TXT"), replace("METADATA", "License-File: libomp/LICENSE.TXT\n", "")),
        {"licences", "sbom"},
        "no licence of LLVM",
    ),
    Fault("licence of another project", add(f"{LICENSES}/stb/LICENSE", b"MIT"), {"licences"}, "not the licence of stb_image"),
    Fault(
        "declared licence missing",
        replace("METADATA", "License-File: stb", "License-File: stb2"),
        {"licences"},
        "METADATA names stb2/LICENSE",
    ),
)

MATERIALS = (
    Fault("no bill of materials", fields(sbom=b""), {"sbom"}, "a file is missing"),
    Fault("bill of materials not JSON", fields(sbom=b"{"), {"sbom"}, "a file cannot be read"),
    Fault("bill of materials of no kind", materials('"type": "file"', '"type": "thing"'), {"sbom"}, "is not valid: 'thing'"),
    Fault(
        "bill of materials of another project", materials('"name": "llama_cpp_python"', '"name": "llama"'), {"sbom"}, "that of llama 0.4.0"
    ),
    Fault(
        "bill of materials of another version",
        materials('"version": "0.4.0"', '"version": "0.4.1"'),
        {"sbom"},
        "that of llama_cpp_python 0.4.1",
    ),
    Fault("library not in the bill of materials", materials("libmtmd.so", "libother.so"), {"sbom"}, "libmtmd.so is not in the bill"),
    Fault("library only in the bill of materials", materials("libmtmd.so", "libother.so"), {"sbom"}, "lists llama_cpp/lib/libother.so"),
    Fault("library changed after the bill of materials", patch_late, {"sbom"}, "has another hash for"),
    Fault("component of an absent licence", materials("stb/LICENSE", "stb/COPYING"), {"sbom"}, "names stb/COPYING"),
    Fault("component without a licence", materials('[{"license": {"name": "some licence"}}]', "[]"), {"sbom"}, "of llama.cpp no licence"),
    Fault("licensed component not listed", materials("yarn/LICENSE", "stb/LICENSE"), {"sbom"}, "under the licence of YaRN"),
    Fault(
        "requirement not listed",
        materials('"name": "numpy"', '"name": "scipy"'),
        {"sbom"},
        "lacks numpy>=1.24",
    ),
)

LINKAGE = (
    *(
        Fault(f"without {name}", remove(f"{LIB}/lib{name}.so"), {"inventory", *failing}, f"lib{name}.so")
        for name, failing in {
            "ggml-base": {"dependencies", "openmp"},
            "ggml": {"dependencies", "bindings"},
            "llama": {"dependencies"},
            "llama-common": set[str](),
            "mtmd": set[str](),
            "ggml-rpc": set[str](),
            "ggml-cpu-x64": set[str](),
            "ggml-cpu-haswell": set[str](),
        }.items()
    ),
    Fault("without libomp", remove(f"{LIB}/libomp.so"), {"dependencies", "openmp"}, "libggml-base.so needs libomp.so"),
    Fault(
        "bound function not exported",
        elf("ggml", ("libggml-base.so",), exports=["ggml_backend_save"]),
        {"bindings"},
        "libggml-base.so and libggml.so lack ggml_backend_load",
    ),
    Fault("unknown library", elf("extra"), {"inventory"}, "libextra.so is no library of this build"),
    Fault("variant truncated", truncate(HASWELL, 100), {"readable"}, "libggml-cpu-haswell.so cannot be read"),
    Fault("variant is text", add(HASWELL, b"not a library"), {"readable"}, "no ELF, PE or Mach-O file"),
    Fault(
        "variant of another machine",
        elf("ggml-cpu-haswell", ("libggml-base.so",), soname=None, machine="aarch64"),
        {"readable"},
        "built for aarch64",
    ),
    Fault("need of the system that is not listed", llama("libX11.so.6"), {"dependencies"}, "libX11.so.6, which is neither"),
    Fault("no RUNPATH", llama(runpath=None), {"dependencies"}, "where no RUNPATH does not reach"),
    Fault("RUNPATH beside the point", llama(runpath="$ORIGIN/../lib2"), {"dependencies"}, "where $ORIGIN/../lib2 does not reach"),
    Fault("absolute RUNPATH", llama(runpath="$ORIGIN:/usr/local/lib"), {"search-paths"}, "searches /usr/local/lib"),
    Fault("absolute RPATH", llama(rpath="/opt/lib"), {"search-paths"}, "searches /opt/lib"),
    Fault("empty RUNPATH entry", llama(runpath="$ORIGIN:"), {"search-paths"}, "the current folder"),
    Fault("SONAME differs from the file name", llama(soname="libllama.so.0"), {"single-copy"}, "calls itself libllama.so.0"),
    Fault("linked library without SONAME", llama(soname=None), {"single-copy"}, "has no SONAME"),
    Fault("versioned duplicate", copy(f"{LIB}/libllama.so", f"{LIB}/libllama.so.0"), {"single-copy", "inventory"}, "the same content in"),
    Fault("variant copied", copy(f"{LIB}/libggml-cpu-x64.so", HASWELL), {"single-copy"}, "the same content in"),
    Fault("second OpenMP runtime", elf("gomp", exports=["GOMP_parallel"]), {"openmp", "inventory"}, "expected one OpenMP runtime"),
    Fault("other OpenMP runtime linked", llama("libgomp.so.1"), {"openmp", "dependencies"}, "libllama.so links libgomp.so.1"),
    Fault("OpenMP runtime that nothing links", elf("ggml-base", exports=["ggml_init"]), {"openmp"}, "no library links"),
    Fault("builder's library needed", llama("libssl.so.3"), {"foreign", "dependencies"}, "libllama.so needs libssl.so.3"),
    Fault("C++ runtime needed", llama("libstdc++.so.6"), {"foreign", "dependencies"}, "libllama.so needs libstdc++.so.6"),
    Fault("builder's library bundled", elf("curl"), {"foreign", "inventory"}, "libcurl.so comes from the building machine"),
)

REQUIREMENTS = (
    Fault(
        "requirement missing",
        replace("METADATA", "Requires-Dist: jinja2>=3.1\n", ""),
        {"requirements"},
        "METADATA does not require jinja2",
    ),
    Fault(
        "requirement that nothing needs",
        replace("METADATA", "Requires-Dist: numpy", "Requires-Dist: torch\nRequires-Dist: numpy"),
        {"requirements", "sbom"},
        "METADATA requires torch, which neither",
    ),
    Fault(
        "NVIDIA's packages required by a CPU wheel",
        fields(requires=(*linux_wheel().requires, "nvidia-cublas>=13.1,<14")),
        {"requirements"},
        "METADATA requires nvidia-cublas",
        partial(linux_wheel, requires=(*linux_wheel().requires, "nvidia-cublas>=13.1,<14")),
    ),
    Fault(
        "package of a linked library not required",
        every(),
        {"requirements"},
        "libcublas.so.13, which comes with nvidia-cublas: METADATA does not require it",
        partial(cuda_wheel, requires=("nvidia-cuda-runtime>=13.1,<14",)),
    ),
    Fault(
        "package of another release required",
        every(),
        {"requirements"},
        "METADATA requires nvidia-cublas<13,>=12.4, the build matrix nvidia-cublas<14,>=13.1",
        partial(cuda_wheel, requires=("nvidia-cuda-runtime>=13.1,<14", "nvidia-cublas>=12.4,<13")),
    ),
    Fault(
        "CUDA library that no package brings",
        every(),
        {"requirements"},
        "libcufft.so.13, of which the policy knows no package",
        partial(cuda_wheel, plugin_needs=("libcudart.so.13", "libcublas.so.13", "libcufft.so.13", "libcuda.so.1")),
    ),
)

CUDA = (
    Fault("CUDA without a label", llama("libcublas.so.13"), {"cuda", "dependencies", "requirements"}, "the version has no CUDA label"),
    Fault(
        "core library needs CUDA", llama("libcudart.so.13"), {"cuda", "dependencies"}, "does not load on a machine without CUDA", cuda_wheel
    ),
    Fault("label without CUDA", every(), {"cuda"}, "no library links CUDA", partial(cuda_wheel, plugin_needs=())),
    Fault(
        "label of another CUDA",
        every(),
        {"cuda", "requirements"},
        "labelled cu131, but CUDA 12 is linked",
        partial(cuda_wheel, plugin_needs=("libcudart.so.12", "libcublas.so.12", "libcuda.so.1")),
    ),
    Fault(
        "CUDA runtime bundled",
        every(
            elf("cudart", soname="libcudart.so.13"),
            lambda wheel: add(f"{LIB}/libcudart.so.13", wheel.files.pop(f"{LIB}/libcudart.so"))(wheel),
        ),
        {"cuda", "inventory", "single-copy"},
        "libcudart.so.13 is NVIDIA's and comes with packages of its own",
        cuda_wheel,
    ),
    Fault("driver bundled", elf("cuda"), {"cuda", "inventory"}, "is the driver's library", cuda_wheel),
    Fault("plugin missing", remove(f"{LIB}/libggml-cuda.so"), {"cuda", "inventory"}, "libggml-cuda.so is missing", cuda_wheel),
)

ARCHITECTURES = tuple(
    Fault(name, every(), {"architectures"}, finding, partial(cuda_wheel, device_code=code))
    for name, code, finding in (
        ("architecture without machine code", "sm_75.cubin sm_75.ptx", "has no machine code for architecture 120"),
        ("no PTX", "sm_75.cubin sm_120a.cubin", "has no PTX of architecture 75: newer GPUs"),
        ("PTX of the highest only", "sm_75.cubin sm_120a.cubin sm_120.ptx", "has no PTX of architecture 75: newer GPUs"),
        ("PTX for one GPU only", "sm_75.cubin sm_120a.cubin sm_75.ptx sm_120a.ptx", "PTX of architecture 120a, which the build matrix"),
        ("machine code that is not listed", "sm_75.cubin sm_90.cubin sm_120.cubin sm_75.ptx", "machine code for architecture 90, which"),
        ("PTX that is not listed", "sm_75.cubin sm_120.cubin sm_75.ptx sm_80.ptx", "PTX of architecture 80, which the build matrix"),
        ("no device code", "", "has no machine code for architecture 75"),
    )
)


BINARIES = (
    Fault("symbol table", llama(symbol_table=True), {"stripped"}, "libllama.so has .symtab"),
    Fault("debug information", llama(extra_sections=[".debug_line"]), {"stripped"}, "libllama.so has .debug_line"),
    Fault("operator new exported", llama(exports=["_Znwm"]), {"private-runtime"}, "libllama.so exports _Znwm"),
    Fault("std:: exported", llama(exports=["_ZNSt3__16vectorIiE9push_backEv"]), {"private-runtime"}, "_ZNSt3__16vector"),
    Fault(
        "exception runtime exported", llama(exports=["__cxa_throw", "_Unwind_Resume"]), {"private-runtime"}, "_Unwind_Resume, __cxa_throw"
    ),
    Fault("fundamental type information exported", llama(exports=["_ZTIPKc", "_ZTSi"]), {"private-runtime"}, "_ZTIPKc, _ZTSi"),
    Fault(
        "own functions replaceable by a sibling",
        every(
            *(
                elf(f"ggml-cpu-{name}", ("libggml-base.so",), soname=None, exports=["ggml_vec_dot"], self_bound=["ggml_vec_dot"])
                for name in ("x64", "haswell")
            )
        ),
        {"interposition"},
        "replace its own ggml_vec_dot",
    ),
    Fault("executable stack", llama(stack_flags=7), {"hardening"}, "asks for an executable stack"),
    Fault("stack not declared", llama(stack_flags=None), {"hardening"}, "no PT_GNU_STACK"),
    Fault("text relocations", llama(text_relocations=True), {"hardening"}, "has text relocations"),
    Fault(
        "build path in a library",
        llama(payload=b"assert\0/home/builder/llama.cpp/src/llama.cpp\0"),
        {"build-paths"},
        "libllama.so contains /home/builder/",
    ),
    Fault("build path behind -I", llama(payload=b"\0-I/root/include/x\0"), {"build-paths"}, "contains /root/include/"),
    Fault(
        "build path in a text",
        add("llama_cpp/config.txt", b"prefix = /tmp/build-env-x1/lib\n"),
        {"build-paths"},
        "contains /tmp/build-env-x1/",
    ),
    Fault("OpenMP runtime of an unknown packager", elf("omp", runpath=None, payload=b"/tmp/other-x/kmp.cpp"), {"build-paths"}, "/other-x/"),
)

SDOT = (0x4E809400).to_bytes(4, "little")
LD1W = (0xA5494005).to_bytes(4, "little")

INSTRUCTIONS = (
    Fault(
        "instructions of a CPU variant elsewhere",
        llama(code=LD1W + SDOT + LD1W, machine="aarch64"),
        {"instructions"},
        "libllama.so has 2 SVE load instructions",
        partial(linux_wheel, machine="aarch64"),
    ),
    Fault(
        "CPU variant without its instructions",
        elf("ggml-cpu-armv8.2_1", ("libggml-base.so",), code=bytes(3) + SDOT, machine="aarch64"),
        {"instructions", "inventory"},
        "libggml-cpu-armv8.2_1.so has no SDOT instruction",
        partial(linux_wheel, machine="aarch64"),
    ),
)

WINDOWS = tuple(
    Fault(f"windows: {name}", spoil, failing, finding, windows_wheel)
    for name, spoil, failing, finding in (
        ("without libomp", remove(f"{LIB}/libomp.dll"), {"dependencies", "openmp"}, "ggml-base.dll needs libomp.dll"),
        (
            "with Visual C++'s OpenMP runtime",
            every(
                remove(f"{LIB}/libomp.dll"),
                dll("libomp140.x86_64", exports=["__kmpc_fork_call"]),
                dll("ggml-base", ("libomp140.x86_64.dll",), exports=["ggml_init"]),
            ),
            {"openmp", "inventory"},
            "libomp140.x86_64.dll is not the OpenMP runtime of this build",
        ),
        (
            "Visual C++'s own runtime needed",
            dll("mtmd", ("llama.dll", "VCRUNTIME140.dll")),
            {"dependencies", "foreign"},
            "mtmd.dll needs VCRUNTIME140.dll",
        ),
        (
            "bound C++ function not exported",
            dll("ggml", ("ggml-base.dll",), exports=["ggml_backend_load"]),
            {"bindings"},
            "lack _Z9ggml_sizem",
        ),
        ("without a variant", remove(f"{LIB}/ggml-cpu-x64.dll"), {"inventory"}, "ggml-cpu-x64.dll is missing"),
        (
            "need that is not the system's",
            dll("mtmd", ("llama.dll", "libwinpthread-1.dll")),
            {"dependencies", "foreign"},
            "libwinpthread-1.dll",
        ),
        (
            "need in another folder",
            lambda wheel: add("llama_cpp/llama.dll", wheel.files.pop(f"{LIB}/llama.dll"))(wheel),
            {"dependencies", "layout"},
            "lies at llama_cpp/llama.dll",
        ),
        ("export name differs", dll("mtmd", ("llama.dll",), name="libmtmd.dll"), {"single-copy"}, "calls itself libmtmd.dll"),
        ("program", dll("mtmd", ("llama.dll",), is_dll=False), {"contents"}, "is a program"),
        ("without hardening", dll("mtmd", ("llama.dll",), dll_characteristics=0), {"hardening"}, "lacks NX_COMPAT"),
        ("with a PDB path", dll("mtmd", ("llama.dll",), pdb=r"D:\b\mtmd.pdb"), {"stripped"}, r"PDB path D:\b\mtmd.pdb"),
        ("with a build path", dll("mtmd", ("llama.dll",), payload=rb"x C:\Users\me\llama.cpp x"), {"build-paths"}, "Users"),
        ("for another machine", dll("mtmd", ("llama.dll",), machine="aarch64"), {"readable"}, "built for aarch64"),
        ("C++ runtime exported", dll("mtmd", ("llama.dll",), exports=["_ZdlPv"]), {"private-runtime"}, "mtmd.dll exports _ZdlPv"),
        ("CUDA", dll("mtmd", ("llama.dll", "cublas64_13.dll")), {"cuda", "dependencies", "requirements"}, "no CUDA label"),
        (
            "tagged for 32 bits",
            every(
                fields(file_name=NAME.replace("manylinux_2_17_x86_64", "win_amd64.win32")), replace("WHEEL", "win_amd64", "win_amd64.win32")
            ),
            {"platform-tag"},
            "win32 is not win_amd64",
        ),
    )
)

FAULTS = (*IDENTITY, *ARCHIVE, *CONTENTS, *MATERIALS, *LINKAGE, *REQUIREMENTS, *CUDA, *ARCHITECTURES, *BINARIES, *INSTRUCTIONS, *WINDOWS)
