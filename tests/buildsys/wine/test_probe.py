from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from buildsys.wine import probe
from buildsys.wine.emulator import Ending, windows_path
from buildsys.wine.probe import Probe, ProbeFailedError, read_decoding

MISSING = r'0024:err:module:import_dll Library libomp.dll (which is needed by L"Z:\\tmp\\whole\\ggml-base.dll") not found'
DECODED = Ending(
    code=0,
    stdout="prompt 1\nprompt 42\ntoken 7 1.5 0.25 2050\ntoken 9 -0.5 2 617269730a\n",
    stderr="load_backend: loaded CPU backend from Z:\\tmp\\wine-x\\windows\\ggml-cpu-zen4.dll\nllama_model_loader: loaded\n",
)


def test_what_the_loader_does_not_find_is_named_with_who_needs_it() -> None:
    ended = Ending(code=3, stdout="", stderr=f"wine32 is missing\n{MISSING}\n{MISSING}\nprobe: x cannot be opened: error 126\n")
    assert ended.missing == (("libomp.dll", "ggml-base.dll"),)
    assert ended.complaint == "probe: x cannot be opened: error 126"


def test_a_program_that_says_nothing_has_its_exit_code_quoted() -> None:
    assert Ending(code=9, stdout="", stderr=" \n").complaint == "ended with 9"


def test_a_decoding_is_read_with_its_variant() -> None:
    found = read_decoding(DECODED, "ggml-cpu-{}.dll")
    assert (found.variant, found.prompt, found.tokens, found.text) == ("zen4", (1, 42), (7, 9), " Paris\n")
    assert [(step.logit, step.lead) for step in found.steps] == [(1.5, 0.25), (-0.5, 2.0)]


def test_a_linux_variant_is_named_like_a_windows_one() -> None:
    linux = replace(DECODED, stderr="load_backend: loaded CPU backend from /tmp/x/libggml-cpu-zen4.so\n")
    assert read_decoding(linux, "libggml-cpu-{}.so").variant == "zen4"


def test_an_empty_piece_is_no_text() -> None:
    assert read_decoding(replace(DECODED, stdout="token 2 1 1 \n"), "ggml-cpu-{}.dll").text == ""


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """A Linux probe that answers what it was told to, and notes its command lines."""
    calls: list[list[str]] = []

    def run(command: list[str]) -> Ending:
        calls.append(command)
        return Ending(code=0, stdout="opened libggml.so -1\nopened libggml-cpu-x64.so 1\n", stderr="")

    monkeypatch.setattr(probe, "run_program", run)
    monkeypatch.setattr(Probe, "program", Path("/probe"))
    return calls


def test_libraries_are_opened_by_their_file_names(answering: list[list[str]]) -> None:
    assert Probe("linux").open(Path("/lib"), ["ggml", "ggml-cpu-x64"]) == {"ggml": -1, "ggml-cpu-x64": 1}
    assert answering == [["/probe", "/lib", "libggml.so", "libggml-cpu-x64.so"]]


def test_an_option_stands_before_the_folder(answering: list[list[str]]) -> None:
    Probe("linux").run(Path("/lib"), "-d", "a", Path("/m.gguf"))
    assert answering == [["/probe", "-d", "/lib", "a", "/m.gguf"]]


@pytest.mark.parametrize(
    ("ended", "message"),
    [
        (Ending(code=3, stdout="", stderr=MISSING), r"ggml-base\.dll needs libomp\.dll"),
        (Ending(code=-4, stdout="", stderr="probe: it is so\n"), "ended with -4: probe: it is so"),
    ],
)
def test_a_failed_probe_is_an_error_that_says_why(ended: Ending, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Probe, "run", lambda *_: ended)
    with pytest.raises(ProbeFailedError, match=message):
        Probe("linux").open(Path("/lib"), ["ggml"])


def test_windows_names_files_by_wine_s_drive_of_this_machine(tmp_path: Path) -> None:
    assert windows_path(tmp_path / "a.gguf") == f"Z:{tmp_path.resolve()}/a.gguf"
