"""A package of `crawlrank cluster package` runs elsewhere, is the same twice, names no machine."""

from __future__ import annotations

import ast
import ensurepip
import functools
import hashlib
import http.server
import os
import re
import shutil
import subprocess
import sys
import tarfile
import threading
import venv
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.paths import ROOT
from support.systems.wheels import made_wheel, wheel_of_installed

from crawlrank.jobs.gen_graph import GenGraph
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.cli import main
from crawlrank.pipeline.package.build import (
    CONFS,
    DRIVER,
    NodePlatform,
    build,
    name_of,
    needed_by_tasks,
    task_requirements,
    upload_package,
)

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # pytest needs it there

VERSION = "{}.{}".format(*sys.version_info[:2])
NEEDED = ["mrjob", "PyYAML"]  # by gen_graph
LINKS = b"0 a,b)/ a,b)/x\n1 a,b)/x a,b)/\n"
GRAPH = [b"0\t1.0\tO:1\n", b"1\t1.0\tO:0\n", b"dummy\t1.0\tO:dummy\n"]
SECRET = "not-to-be-seen"
X86 = NodePlatform(machine="x86_64")


def _shims() -> list[str]:
    """What mrjob itself needs of newer Pythons."""
    return [
        name_of(line)
        for line in task_requirements()
        if name_of(line) in ("setuptools", "standard-pipes")
        and sys.version_info >= tuple(map(int, re.findall(r"3\.\d+", line)[-1].split(".")))
    ]


@pytest.fixture(scope="module")
def wheelhouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheelhouse")
    for name in (*NEEDED, *_shims()):
        wheel_of_installed(folder, name)
    return folder


@pytest.fixture(scope="module")
def index(wheelhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A package index on loopback, as PEP 503 has it; its URL has a password."""
    root = tmp_path_factory.mktemp("index")
    for wheel in wheelhouse.iterdir():
        project = root / "simple" / name_of(wheel.name.split("-")[0])
        project.mkdir(parents=True)
        shutil.copy(wheel, project)
    handler = functools.partial(_Silent, directory=str(root))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://user:{SECRET}@127.0.0.1:{server.server_port}/simple/"
        server.shutdown()
        thread.join()


class _Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def package(index: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("made") / "package"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_INDEX_URL", index)
        patch.setenv("PIP_FIND_LINKS", "")
        patch.setenv("PIP_NO_CACHE_DIR", "1")
        patch.setenv("HOME", str(out.with_name("home")))  # whose name no library has in its text
        build(out, X86, requirements=[*NEEDED, *_shims()])
    return out


@pytest.fixture(scope="module")
def node(package: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A folder with the unpacked environment and the zip, as a task has it; and its variables.
    It sees a Python of the version, for which nothing is installed."""
    folder = tmp_path_factory.mktemp("node")
    with tarfile.open(package / "env.tar.gz") as packed:
        packed.extractall(folder / "env", filter="fully_trusted")
    shutil.copy(package / "crawlrank.zip", folder)
    venv.create(folder / "bare")
    return folder, {"PATH": f"{folder / 'bare/bin'}:/usr/bin:/bin", "PYTHONPATH": "crawlrank.zip"}


@pytest.mark.slow
def test_a_job_runs_from_the_zip_with_the_packed_environment(
    node: tuple[Path, dict[str, str]],
) -> None:
    """Hadoop Streaming starts a task like this: the job's file beside the archives, lines on
    stdin."""
    folder, env = node
    with zipfile.ZipFile(folder / "crawlrank.zip") as packed:
        (folder / "gen_graph.py").write_bytes(packed.read("crawlrank/jobs/gen_graph.py"))
    for script in (["gen_graph.py"], ["-m", "crawlrank.jobs.gen_graph"]):
        lines = LINKS
        for task in ("--mapper", "--reducer"):
            command = ["env/bin/python", *script, "--step-num=0", task]
            done = subprocess.run(command, input=lines, cwd=folder, env=env, capture_output=True)
            lines = b"".join(sorted(done.stdout.splitlines(keepends=True)))
        graph = [line for line in lines.splitlines(keepends=True) if line[:1] != b"@"]
        assert graph == GRAPH, done.stderr


def test_it_imports_nothing_that_is_installed(node: tuple[Path, dict[str, str]]) -> None:
    folder, env = node
    code = """
import sys, crawlrank.jobs.gen_graph, crawlrank.jobs.mapreduce.runners.local
print(*(module.__file__ for module in sys.modules.values() if hasattr(module, "__file__")))
"""
    command = ["env/bin/python", "-c", code]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    files = done.stdout.split()
    assert str(folder / "crawlrank.zip/crawlrank/jobs/gen_graph.py") in files, done.stderr
    assert str(folder / "env/lib/mrjob/job.py") in files
    root = str(ROOT)
    assert not [path for path in files if "site-packages" in path or path.startswith(root)]


def test_bytecode_is_there_for_whatever_time_the_files_have(package: Path) -> None:
    """PEP 552: flags 1, a hash that is not checked."""
    with tarfile.open(package / "env.tar.gz") as packed:
        compiled = [name for name in packed.getnames() if name.endswith(".pyc")]
        sources = [name for name in packed.getnames() if name.endswith(".py")]
        assert len(compiled) > 0.95 * len(sources)
        for name in compiled:
            file = packed.extractfile(name)
            assert file is not None
            assert int.from_bytes(file.read(8)[4:], "little") == 1


@pytest.mark.slow
def test_a_node_without_that_python_says_so(node: tuple[Path, dict[str, str]]) -> None:
    folder, _ = node
    tools = folder / "tools"
    tools.mkdir()
    (tools / "dirname").symlink_to("/usr/bin/dirname")
    command = ["/bin/sh", "env/bin/python", "-V"]
    text = (folder / "env/bin/python").read_text()
    (folder / "env/bin/python").write_text(re.sub(r"/usr/(local/)?bin", "/nowhere", text))
    try:
        done = subprocess.run(
            command, cwd=folder, env={"PATH": str(tools)}, capture_output=True, text=True
        )
        named = {"PATH": str(tools), "CRAWLRANK_PYTHON": str(folder / f"bare/bin/python{VERSION}")}
        found = subprocess.run(command, cwd=folder, env=named, capture_output=True, text=True)
    finally:
        (folder / "env/bin/python").write_text(text)
    assert (done.returncode, f"no python{VERSION} on this node" in done.stderr) == (127, True)
    assert found.stdout.startswith(f"Python {VERSION}"), found.stderr


def contents(package: Path) -> Iterator[tuple[str, bytes]]:
    """Every file, those in archives too."""
    for path in sorted(package.rglob("*")):
        if path.suffix in (".zip", ".whl"):
            with zipfile.ZipFile(path) as packed:
                yield from ((name, packed.read(name)) for name in packed.namelist())
        elif path.suffix == ".gz":
            with tarfile.open(path) as packed_env:
                for entry in packed_env:
                    file = packed_env.extractfile(entry) if entry.isfile() else None
                    yield entry.name, file.read() if file else entry.linkname.encode()
        elif path.is_file():
            yield path.name, path.read_bytes()


def test_nothing_names_this_machine_or_its_index(package: Path, index: str) -> None:
    root = ROOT
    host = index.partition("@")[2].rstrip("/")
    ours = [SECRET, host, str(package.parent), sys.prefix, str(root)]  # the third with home
    for name, data in contents(package):
        for what in ours:
            assert what.encode() not in data, f"{name}: {what}"


def test_it_is_the_same_twice(package: Path, wheelhouse: Path, tmp_path: Path) -> None:
    build(tmp_path / "again", X86, wheelhouse, requirements=[*NEEDED, *_shims()])
    files = {path.relative_to(package) for path in package.rglob("*") if path.is_file()}
    assert files == {p.relative_to(tmp_path / "again") for p in (tmp_path / "again").rglob("*.*")}
    for name in files:
        same = (package / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
        assert same, name  # of two large files pytest would look for the difference for minutes
    assert list(tmp_path.iterdir()) == [tmp_path / "again"]


@pytest.mark.slow
def test_wheels_are_those_of_the_nodes(tmp_path: Path) -> None:
    """There are wheels of three processors and two libraries; the target gets those that it can
    load."""
    given, tag = tmp_path / "given", f"cp{VERSION.replace('.', '')}"
    given.mkdir()
    for platform in ("manylinux_2_17_x86_64", "manylinux_2_17_aarch64", "manylinux_2_39_aarch64"):
        made_wheel(given, "native", f"{tag}-{tag}-{platform}", f"PLATFORM = {platform!r}\n")
    made_wheel(given, "native", "py3-none-any")  # for any machine, and never the best
    (given / "native-1.0-py3-none-any.whl").rename(tmp_path / "unused")
    made_wheel(given, "pure", "py3-none-any")
    mine = "linux_" + os.uname().machine
    made_wheel(given, "native", f"{tag}-{tag}-{mine}")
    build(tmp_path / "out", NodePlatform(machine="aarch64"), given, requirements=["native", "pure"])
    names = {path.name for path in (tmp_path / "out/wheels").glob("*.whl")}
    assert names == {
        f"native-1.0-{tag}-{tag}-manylinux_2_17_aarch64.whl",
        "pure-1.0-py3-none-any.whl",
    }
    pinned = (tmp_path / "out/wheels/requirements.txt").read_text().splitlines()
    for line, wheel in zip(pinned, sorted(names), strict=True):
        digest = hashlib.sha256((tmp_path / "out/wheels" / wheel).read_bytes()).hexdigest()
        assert line == f"{wheel.split('-')[0]}==1.0 --hash=sha256:{digest}"
    with pytest.raises(BadInput, match="pip download"):
        none = NodePlatform(machine="aarch64", glibc=12)
        build(tmp_path / "old", none, given, requirements=["native", "pure"])


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["--python", "/no/such/python"], 3, "/no/such/python: No such file"),
        (["--python", "{old}"], 3, "Python 3.9; expected a Python 3.10 or later with pip"),
        (["--python", "{bare}"], 3, "No module named pip"),
        (["--wheels", "{empty}"], 3, "No matching distribution found"),
        (["--wheels", "{empty}/no"], 3, "no such folder; expected a folder of wheels"),
        (["--upload", "s3://x"], 2, "is no s3://BUCKET/PREFIX and no hdfs:///FOLDER"),
        (["--upload", "hdfs:///a#b"], 2, "is no s3://BUCKET/PREFIX and no hdfs:///FOLDER"),
        (["--machine", "vax"], 2, "'vax' is not one of 'x86_64', 'aarch64'"),
    ],
)
def test_errors(tmp_path: Path, args: list[str], code: int, said: str) -> None:
    (tmp_path / "empty").mkdir()
    scripts = {
        "old": "echo 3.9",
        "bare": "echo 'ModuleNotFoundError: No module named pip' >&2; false",
    }
    for name, text in scripts.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    named = {name: str(tmp_path / name) for name in ("empty", *scripts)}
    line = ["package", "--out", str(tmp_path / "out"), *(arg.format(**named) for arg in args)]
    result = CliRunner().invoke(main, line)
    assert (result.exit_code, "Traceback" in result.output) == (code, False)
    assert said in result.output
    assert not (tmp_path / "out").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"empty", *scripts}


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["package", "--out", str(tmp_path)])
    assert (result.exit_code, "exists already" in result.output) == (3, True)


def listed() -> list[str]:
    """What pyproject.toml lists, as the metadata of the package has it once it is installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].items()
    return project["dependencies"] + [
        f"{line}; extra == '{name}'" for name, lines in extras for line in lines
    ]


def distributions_by_module() -> dict[str, set[str]]:
    """By the files that are installed: Python 3.10 knows only those that list their modules."""
    providers: dict[str, set[str]] = {}
    for distribution in metadata.distributions():
        name = distribution.metadata["Name"]  # it is read from the file each time
        for path in distribution.files or ():
            module = path.parts[0].partition(".")[0]
            providers.setdefault(module, set()).add(name)
    return providers


def imported(path: Path) -> set[str]:
    """The top-level names of all that a file imports."""
    names = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return names


@pytest.mark.slow
def test_tasks_need_what_jobs_import() -> None:
    """Every module that jobs import comes with what is packed, and the driver's own with none."""
    providers = distributions_by_module()
    wanted = {name_of(line) for line in needed_by_tasks(listed())}
    others = ("emr.py", "spark.py", "spark_tasks.py")  # submit jobs; run where there is a Spark
    jobs = (ROOT / "jobs").rglob("*.py")
    modules = {name for path in jobs if path.name not in others for name in imported(path)}
    found = {
        name_of(name)
        for module in modules - set(sys.stdlib_module_names) - {"crawlrank"}
        for name in providers.get(module, ())
    }
    assert found - wanted == set()
    assert found & DRIVER == set()
    assert {"mrjob", "warcio", "surt", "pyarrow"} <= found


def test_requirements_keep_their_markers_and_lose_those_of_extras() -> None:
    lines = [
        "click>=8.1",
        "warcio<2,>=1.7",
        'setuptools<81; python_version >= "3.12"',
        "hdfs-native>=0.11; extra == 'hadoop'",
        "pypdf>=5; (python_version < '3.13') and extra == \"pdf\"",
        "pytest; extra == 'dev'",
    ]
    assert needed_by_tasks(lines) == {
        "warcio<2,>=1.7",
        'setuptools<81; python_version >= "3.12"',
        "hdfs-native>=0.11",
        "pypdf>=5; (python_version < '3.13')",
    }


@pytest.mark.parametrize("conf", CONFS)
def test_mrjob_takes_the_configuration(
    package: Path, conf: str, bucket: Any, monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    """By its own parser: every option is known to the runner, and paths are the package's."""
    monkeypatch.setenv("CRAWLRANK_PACKAGE", str(package))
    text = (package / conf).read_text().replace("s3://BUCKET", "s3://crawl")
    (package.parent / conf).write_text(text)
    name = conf.partition(".")[0]
    job = GenGraph(["-r", name, "-c", str(package.parent / conf), "links"])
    with caplog.at_level("WARNING", "mrjob"), job.make_runner() as runner:
        opts = runner._opts
    assert caplog.messages == []
    python = {"emr": "/opt/crawlrank/bin/python"}.get(name, "env/bin/python")
    assert runner._task_python_bin() == [python]
    archives = [] if name == "emr" else [f"{package}/env.tar.gz#env"]
    assert opts["upload_archives"] == archives


@pytest.mark.slow
def test_what_nodes_of_emr_read_is_in_the_bucket(
    wheelhouse: Path, bucket: Any, tmp_path: Path
) -> None:
    needed = [*NEEDED, *_shims()]
    build(tmp_path / "p", X86, wheelhouse, "s3://crawl/for-nodes/where/", requirements=needed)
    listed = bucket.list_objects_v2(Bucket="crawl", Prefix="for-nodes/")["Contents"]
    names = [entry["Key"] for entry in listed if entry["Size"]]
    keys = {name.removeprefix("for-nodes/where/") for name in names}
    wheels = {f"wheels/{path.name}" for path in (tmp_path / "p" / "wheels").iterdir()}
    assert keys == wheels | {"bootstrap.sh"}
    assert len(wheels) == len(needed) + 1
    for key in keys:
        there = bucket.get_object(Bucket="crawl", Key=f"for-nodes/where/{key}")["Body"].read()
        assert there == (tmp_path / "p" / key).read_bytes()
    text = (tmp_path / "p" / "emr.conf").read_text()
    where = "s3://crawl/for-nodes/where"
    assert f'bootstrap_actions: ["{where}/bootstrap.sh {where}"]' in text
    with pytest.raises(OSError, match="no-such-bucket"):
        upload_package(tmp_path / "p", "s3://no-such-bucket/x")


@pytest.mark.slow
def test_the_bootstrap_script_installs_the_pinned_wheels(package: Path, tmp_path: Path) -> None:
    """With real bash, venv and pip; sudo, dnf and aws stand in, and note what they are asked. pip
    comes as the wheel that Python brings, where it does: a venv takes seconds to install it."""
    tools, said = tmp_path / "tools", tmp_path / "said"
    tools.mkdir()
    scripts = {
        "sudo": 'exec "$@"',
        "dnf": f'echo "dnf $*" >> {said}',
        "aws": f'echo "aws $1 $2 $5" >> {said}; cp -r {package}/wheels/. "$6"',
    }
    for name, text in scripts.items():
        (tools / name).write_text(f"#!/bin/sh\n{text}\n")
        (tools / name).chmod(0o755)
    pips = [*Path(ensurepip.__file__).with_name("_bundled").glob("pip-*.whl")]
    python = Path(sys._base_executable).resolve()  # type: ignore[attr-defined]
    without = "--without-pip" if pips else ""
    (tools / f"python{VERSION}").write_text(f'#!/bin/sh\nexec {python} "$@" {without}\n')
    (tools / f"python{VERSION}").chmod(0o755)
    env = {"PATH": f"{tools}:/usr/bin:/bin", "TMPDIR": str(tmp_path), "HOME": str(tmp_path)}
    env |= {"PYTHONPATH": str(pips[0])} if pips else {}
    command = ["bash", str(package / "bootstrap.sh"), "s3://b/p", str(tmp_path / "home")]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    name = f"python{VERSION}"
    assert said.read_text().splitlines() == [
        f"dnf install --quiet --assumeyes {name} {name}-pip",
        "aws s3 cp s3://b/p/wheels/",
    ]
    code = "import importlib.metadata as m; print(m.version('mrjob'))"
    home = tmp_path / "home/bin/python"
    version = subprocess.run([home, "-c", code], capture_output=True, text=True)
    assert version.stdout.strip() == metadata.version("mrjob")
    assert {path.name for path in tmp_path.iterdir()} == {"tools", "said", "home"}
