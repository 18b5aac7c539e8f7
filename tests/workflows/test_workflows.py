"""What holds of every workflow: pinned actions, least permissions, no rows, no injection, commands that exist."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from buildsys import cli
from buildsys.matrix import rows
from buildsys.matrix.github import VIEWS, include
from buildsys.project import ROOT
from tests.workflows.pipelines import ACTIONS, FILES, GITHUB, WORKFLOWS, Job, all_jobs, commands, composites, expressions, jobs, load, uses

JOBS = pytest.mark.parametrize("job", all_jobs(), ids=str)
RUNNING = pytest.mark.parametrize("job", [job for job in all_jobs() if "uses" not in job.body], ids=str)
STEPS = pytest.mark.parametrize("job", [*all_jobs(), *composites()], ids=str)

# Who may write what; everything else reads.
WRITES = {
    "release.yml:provenance": {"id-token", "attestations"},
    "release.yml:materials": {"id-token", "attestations"},
    "release.yml:github": {"contents"},
    "release.yml:pypi": {"id-token"},
    "release.yml:index": {"pages", "id-token"},
    "index.yml:deploy": {"pages", "id-token"},
}


def written(job: Job) -> set[str]:
    return {scope for scope, access in job.body.get("permissions", {}).items() if access == "write"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_action_is_pinned_by_its_commit(path: Path) -> None:
    for stated in uses(path):
        if stated.startswith("./"):
            place = ROOT / stated
            assert place.is_file() or (place / "action.yml").is_file(), stated
        else:
            assert re.fullmatch(r"[\w-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", stated), stated


def test_one_action_has_one_pin() -> None:
    pins = {stated for path in FILES for stated in uses(path) if not stated.startswith("./")}
    names = [stated.split("@")[0] for stated in pins]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_grants_nothing_and_runs_once_at_a_time(path: Path) -> None:
    workflow = load(path)
    assert workflow["permissions"] == {}
    assert "group" in workflow["concurrency"]


@JOBS
def test_a_job_has_the_least_permissions(job: Job) -> None:
    assert "permissions" in job.body
    assert written(job) == WRITES.get(str(job), set())
    assert set(job.body["permissions"].values()) <= {"read", "write"}


def test_every_stated_grant_is_one_of_a_job() -> None:
    assert set(WRITES) <= {str(job) for job in all_jobs()}


@JOBS
def test_a_job_that_may_write_runs_nothing_of_the_repository(job: Job) -> None:
    if written(job):
        assert not any("checkout" in step.get("uses", "") or step.get("uses", "").startswith("./") for step in job.steps)
        assert not [script for script in job.scripts if commands(script) or "pip" in script]


@RUNNING
def test_a_job_ends_in_bounded_time_on_a_system_that_does_not_change(job: Job) -> None:
    assert 0 < job.body["timeout-minutes"] <= 360
    assert "latest" not in job.body["runs-on"]


@STEPS
def test_no_script_is_made_of_expressions(job: Job) -> None:
    assert not [script for script in job.scripts if "${{" in script]


@STEPS
def test_a_checkout_leaves_no_credentials_behind(job: Job) -> None:
    for step in job.steps:
        if "actions/checkout@" in step.get("uses", ""):
            assert step["with"]["persist-credentials"] is False


@STEPS
def test_every_command_exists_and_takes_its_arguments(job: Job, capsys: pytest.CaptureFixture[str]) -> None:
    for script in job.scripts:
        for words in commands(script):
            if words[0] == "nox":
                asked = words[2 : words.index("--")] if "--" in words else words[2:]
                assert set(asked) <= sessions(), words
                continue
            command, *arguments = words[3:]
            assert cli.build_parser(command).parse_args([command, *arguments]).command == command
            with pytest.raises(SystemExit) as ended:
                cli.main([command, "--help"])
            assert ended.value.code == 0
            assert f"python -m buildsys {command}" in capsys.readouterr().out


def sessions() -> set[str]:
    tree = ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8"))
    decorated = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.decorator_list)
    return {node.name for node in decorated}


def test_scripts_run_this_project_and_little_else() -> None:
    scripts = [script for job in [*all_jobs(), *composites()] for script in job.scripts]
    known = {words[3] for script in scripts for words in commands(script) if words[0] == "python"}
    assert known >= {"matrix", "models", "cibuildwheel", "audit", "conformance", "index", "release"}
    assert max(len(script.splitlines()) for script in scripts) < 20


@JOBS
def test_the_matrix_drives_the_jobs(job: Job) -> None:
    matrix = job.body.get("strategy", {}).get("matrix")
    used = {name for text in expressions(json.dumps(job.body)) for name in re.findall(r"matrix\.(\w+)", text)}
    if matrix is None:
        assert not used
        return
    (expression,) = expressions(matrix)
    source = re.fullmatch(r"fromJSON\(needs\.(\w+)\.outputs\.(\w+)\)", expression)
    assert source, f"{job} has rows of its own"
    assert source[1] in job.needs
    entries = include(rows(), source[2])["include"]  # type: ignore[arg-type]
    assert all(used <= set(entry) for entry in entries)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_file_lists_rows(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = {row.identifier for row in rows() if row.identifier in text}
    assert named <= ({"linux_x86_64-cpu", "linux_x86_64-cu131"} if path.name == "ci.yml" else set())
    runners = {place for row in rows() for place in (row.runner, *(test.runner for test in row.tests))} - {"ubuntu-24.04"}
    assert not [runner for runner in runners if re.search(rf"{runner}\b", text)]


@JOBS
def test_what_a_job_reads_of_another_is_there(job: Job) -> None:
    others = {other.name: other for other in jobs(GITHUB / "workflows" / job.file)}
    assert set(job.needs) <= set(others)
    for needed, output in re.findall(r"needs\.(\w+)\.outputs\.(\w+)", json.dumps(job.body)):
        assert needed in job.needs
        called = others[needed].body.get("uses")
        outputs = load(ROOT / called)["on"]["workflow_call"]["outputs"] if called else others[needed].body["outputs"]
        assert output in outputs


def test_each_view_of_the_matrix_that_is_asked_for_exists() -> None:
    plan = next(job for job in jobs(GITHUB / "workflows" / "wheels.yml") if job.name == "plan")
    assert set(plan.body["outputs"]) == set(VIEWS)
    assert f"for jobs in {' '.join(plan.body['outputs'])}; do" in "\n".join(plan.scripts)


def artifacts(kind: str) -> set[str]:
    steps = [step for job in [*all_jobs(), *composites()] for step in job.steps if f"actions/{kind}-artifact@" in step.get("uses", "")]
    names = (step["with"].get("name") or step["with"]["pattern"] for step in steps)
    return {re.sub(r"\$\{\{.*?\}\}|\*", "*", name) for name in names}


def test_every_artifact_that_is_fetched_was_made() -> None:
    assert artifacts("download") == artifacts("upload")


def test_every_wheel_is_proved_in_six_environments_with_all_models() -> None:
    environments = {(row.system, test.python) for row in rows() for test in row.tests}
    assert len(environments) >= 6
    prove = next(job for job in composites() if job.file == "prove")
    (suite,) = [step for step in prove.steps if "conformance" in step.get("run", "")]
    assert suite["env"]["LLAMA_TEST_REQUIRE_MODELS"] == "1"
    assert "--models models" in suite["run"]
    proving = [job for job in all_jobs() if any(step.get("uses") == "./.github/actions/prove" for step in job.steps)]
    assert {job.name for job in proving} == {"test", "gpu"}
    assert all("models" in job.needs for job in proving)


def test_nothing_is_published_before_all_of_it_was_proved_and_attested() -> None:
    named = {job.name: job for job in jobs(GITHUB / "workflows" / "release.yml")}

    def before(name: str) -> set[str]:
        return {earlier for needed in named[name].needs for earlier in ({needed} | before(needed))}

    assert before("github") == {"check", "wheels", "collect", "provenance", "materials"}
    assert "github" in before("pypi")
    assert "github" in before("index")
    assert all("environment" in named[name].body for name in ("github", "pypi", "index"))


def test_a_gpu_is_asked_for_only_where_the_repository_names_one() -> None:
    gpu = next(job for job in all_jobs() if job.name == "gpu")
    assert "vars.GPU_RUNNER != ''" in gpu.body["if"]
    assert gpu.body["runs-on"] == "${{ vars.GPU_RUNNER }}"


def test_dependabot_watches_every_folder_with_actions() -> None:
    (watched,) = [update for update in load(GITHUB / "dependabot.yml")["updates"] if update["package-ecosystem"] == "github-actions"]
    assert set(watched["directories"]) == {"/", "/.github/actions/*"}
    assert ACTIONS
