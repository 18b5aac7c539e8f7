"""The pages that installers read, as HTML; the same data is beside them as JSON."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from buildsys.index.entries import ProjectList, ProjectPage

TEMPLATES = Path(__file__).with_name("templates")


@cache
def environment() -> Environment:
    """Templates in which every value is escaped, and an unknown name is an error."""
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def project_list_page(folder: str, projects: ProjectList) -> str:
    """A folder's root page (PEP 503)."""
    return environment().get_template("projects.html").render(folder=folder, list=projects)


def project_page(folder: str, page: ProjectPage) -> str:
    """A project's page with one link per file (PEP 503, 592, 629, 658, 714)."""
    return environment().get_template("project.html").render(folder=folder, page=page)
