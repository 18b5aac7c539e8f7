"""A system report as aligned plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .report import AcceleratorReport, PluginReport, SystemReport


def render(report: SystemReport) -> str:
    """The whole report, ending without a newline."""
    sections = [_overview(report)]
    devices = [
        (registry.name, device.name, device.type, device.description, _memory(device.memory_free, device.memory_total))
        for registry in report.registries
        for device in registry.devices or ()
    ]
    if devices:
        sections.append(_titled("Devices", _table(("backend", "device", "type", "description", "memory"), devices)))
    if report.accelerators:
        sections.append(_titled("Accelerators", "\n".join(line for each in report.accelerators for line in _accelerator(each))))
    features = [(registry.name, _features(registry.features)) for registry in report.registries]
    if features:
        sections.append(_titled("Backends", _table(("backend", "features"), features)))
    if report.plugins:
        sections.append(_titled("Plugins", _table(("file", "score", "state"), _plugin_rows(report.plugins))))
    if report.problem:
        sections.append(_titled("PROBLEM", report.problem))
    return "\n\n".join(sections)


def _overview(report: SystemReport) -> str:
    rows = [
        ("llama_cpp_python", report.version),
        ("llama.cpp", report.llama_version or "-"),
        ("Python", report.python),
        ("platform", report.platform),
        ("libraries", report.library_folder),
        ("CPU variant", report.cpu_variant or "-"),
        ("threads", f"{report.threads} (prompts: {report.threads_batch})"),
        ("system info", report.system_info or "-"),
        ("state", "ready" if report.ok else "BROKEN, see the end"),
    ]
    return "\n".join(f"{name:<17} {value}" for name, value in rows)


def _plugin_rows(plugins: Iterable[PluginReport]) -> list[tuple[str, str, str]]:
    ordered = sorted(plugins, key=lambda plugin: (plugin.family, not plugin.loaded, -(plugin.score or 0), plugin.file))
    return [(plugin.file, "-" if plugin.score is None else str(plugin.score), _state(plugin)) for plugin in ordered]


def _state(plugin: PluginReport) -> str:
    if plugin.loaded:
        return "loaded"
    if plugin.failure is not None:
        return f"BROKEN: {plugin.failure}"
    if plugin.idle is not None:
        return f"not used: {plugin.idle}"
    return "needs instructions that this CPU lacks" if plugin.score == 0 else "works here, a better one is loaded"


def _accelerator(accelerator: AcceleratorReport) -> Iterator[str]:
    name = f"{accelerator.name} {accelerator.release}".rstrip()
    yield f"{name}: {accelerator.absence or f'{accelerator.devices} devices'}"
    for library, file in accelerator.libraries.items():
        yield f"  {library:<17} {file or 'from no package: left to the search of the system'}"


def _features(features: dict[str, str]) -> str:
    return " ".join(name if value == "1" else f"{name}={value}" for name, value in features.items()) or "-"


def _memory(free: int, total: int) -> str:
    return f"{free / 2**30:.1f} of {total / 2**30:.1f} GiB free" if total else "-"


def _titled(title: str, body: str) -> str:
    return f"{title}\n" + "\n".join(f"  {line}" for line in body.splitlines())


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join("  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines)
