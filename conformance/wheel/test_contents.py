"""What pip installed is what the wheel says it is."""

from __future__ import annotations

import base64
import hashlib
import re
import sys
import zipfile
from pathlib import Path

import pytest
from rig import cuda, installation, material

import llama_cpp

X86_VARIANTS = {
    "x64", "sse42", "sandybridge", "ivybridge", "piledriver", "haswell", "skylakex", "cannonlake", "cascadelake",
    "icelake", "cooperlake", "zen4", "alderlake", "sapphirerapids",
}  # fmt: skip
# By how the platform in a wheel's name ends.
VARIANTS = {
    "x86_64": X86_VARIANTS,
    "amd64": X86_VARIANTS,
    "aarch64": {"armv8.0_1", "armv8.2_1", "armv8.2_2", "armv8.2_3", "armv8.6_1", "armv8.6_2", "armv9.2_1", "armv9.2_2"},
    "arm64": {"apple_m1", "apple_m2_m3", "apple_m4"},
}
RUNTIME_REQUIREMENTS = {"numpy", "jinja2", "typing-extensions"}
CPU_WHEEL_BYTES = 15 * 10**6
# Written by pip, so not of the wheel.
INSTALLER_FILES = {"INSTALLER", "REQUESTED", "direct_url.json", "RECORD"}


def is_of_wheel(name: str) -> bool:
    path = Path(name)
    return path.suffix != ".pyc" and not (path.parent.name.endswith(".dist-info") and path.name in INSTALLER_FILES)


def recorded() -> dict[str, Path]:
    """Installed files of the wheel: name in RECORD, place on disk."""
    files = installation.distribution().files
    assert files, "RECORD is missing or empty"
    return {str(file).replace("\\", "/"): Path(str(file.locate())) for file in files if is_of_wheel(str(file))}


def test_package_under_test_is_the_installed_one() -> None:
    assert llama_cpp.__file__ is not None
    assert Path(llama_cpp.__file__).is_relative_to(Path(sys.prefix).resolve()) or Path(llama_cpp.__file__).is_relative_to(sys.prefix)
    assert sys.prefix != sys.base_prefix, "the suite must run in an environment of its own"


def test_files_have_the_recorded_hash_and_size() -> None:
    wrong = []
    for file in installation.distribution().files or ():
        if not is_of_wheel(str(file)):
            continue
        assert file.hash is not None, f"RECORD gives no hash for {file}"
        content = Path(str(file.locate())).read_bytes()
        digest = base64.urlsafe_b64encode(hashlib.new(file.hash.mode, content).digest()).rstrip(b"=").decode()
        if digest != file.hash.value or len(content) != file.size:
            wrong.append(str(file))
    assert wrong == []


def test_nothing_is_installed_beside_the_record() -> None:
    folder = installation.package_folder()
    on_disk = {path.resolve() for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    listed = {path.resolve() for path in recorded().values()}
    assert on_disk - listed == set()


def test_installed_files_are_those_of_the_wheel_file() -> None:
    with zipfile.ZipFile(material.wheel()) as archive:
        assert archive.testzip() is None
        names = {name for name in archive.namelist() if is_of_wheel(name) and not name.endswith("/")}
    assert set(recorded()) == names


def test_versions_and_names_agree() -> None:
    distribution = installation.distribution()
    name, version, *_ = material.wheel().name.split("-")
    assert llama_cpp.__version__ == distribution.version == version
    assert distribution.metadata["Name"] == name == "llama_cpp_python"
    folders = {entry.split("/")[0] for entry in recorded() if ".dist-info/" in entry}
    assert folders == {f"{name}-{version}.dist-info"}


def test_tags_of_file_name_and_metadata_agree() -> None:
    stated = re.findall(r"^Tag: (\S+)$", installation.distribution().read_text("WHEEL") or "", re.MULTILINE)
    python, abi, platforms = material.wheel().name.removesuffix(".whl").split("-")[-3:]
    assert (python, abi) == ("py3", "none")
    assert sorted(stated) == sorted(f"{python}-{abi}-{platform}" for platform in platforms.split("."))


def test_requirements_are_the_three_and_those_of_cuda() -> None:
    requirements = installation.distribution().requires or []
    plain = {
        re.split(r"[\s\[<>=!~;(]", text, maxsplit=1)[0].lower().replace("_", "-")
        for text in requirements
        if "extra" not in text.partition(";")[2]
    }
    assert plain == RUNTIME_REQUIREMENTS | cuda_requirements()
    assert installation.distribution().metadata["Requires-Python"] == ">=3.10"


def cuda_requirements() -> set[str]:
    """The packages that bring a CUDA wheel its libraries."""
    names = {"nvidia-cuda-runtime", "nvidia-cublas"} if cuda.label() else set[str]()
    return {f"{name}-cu12" for name in names} if cuda.major() == "12" else names


def test_package_is_marked_as_typed() -> None:
    assert (installation.package_folder() / "py.typed").is_file()


@pytest.mark.parametrize("whose", ["ggml authors", "LLVM"], ids=["llama.cpp", "openmp"])
def test_licence_of_bundled_code_is_included(whose: str) -> None:
    texts = [path.read_text(encoding="utf-8", errors="replace") for name, path in recorded().items() if ".dist-info/licenses/" in name]
    assert any(whose in text for text in texts), f"no licence among {len(texts)} names {whose}"


def test_every_licence_that_the_metadata_names_is_there() -> None:
    names = installation.distribution().metadata.get_all("License-File") or []
    assert names, "METADATA names no licence file"
    folder = next(Path(str(file.locate())).parent for file in installation.distribution().files or () if file.name == "METADATA")
    assert [name for name in names if not (folder / "licenses" / name).is_file()] == []


def test_library_folder_holds_each_library_once_and_the_layout_report() -> None:
    files = [path for path in installation.library_folder().rglob("*") if path.is_file()]
    assert all(path.parent == installation.library_folder() for path in files), "libraries lie in one flat folder"
    strangers = {path.name for path in files if not installation.LIBRARY_NAME.fullmatch(path.name)}
    assert strangers == {installation.LAYOUT_REPORT}
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]
    assert len(set(digests)) == len(digests), "a library lies there twice"
    assert not [path for path in files if path.is_symlink()]


def test_libraries_are_the_runtime_with_one_openmp() -> None:
    stems = set(installation.libraries())
    assert {"ggml-base", "ggml", "ggml-rpc", "llama", "mtmd"} <= stems
    assert ("ggml-cuda" in stems) == bool(cuda.label())
    openmp = {name for name in stems if re.match(r"omp|gomp|iomp|vcomp", name)}
    assert len(openmp) == 1, f"one OpenMP runtime, not {sorted(openmp)}"


def test_every_cpu_variant_is_there() -> None:
    due = next(variants for machine, variants in VARIANTS.items() if material.wheel().stem.endswith(machine))
    assert set(installation.cpu_variants()) == due


def test_cpu_wheel_is_small() -> None:
    if "+cu" in material.wheel().name:
        pytest.skip("CUDA wheels have a limit of their own")
    assert material.wheel().stat().st_size <= CPU_WHEEL_BYTES
