"""Install crawlrank in each way that docs/install.md names, and rank the sample crawl with it. One
way more has the lowest version of each package that is allowed.

    python scripts/install/try_install.py [WAY…] [--write]

Each way gets a new environment, an empty home folder, and a clone of the last commit. Where no way
is named, all are tried. Prints the seconds of the installation, the MB of the environment, and the
seconds of the first crawl and of a second one. All precedence files and lists of pages must be
equal byte for byte.
--write puts their rows into the table of docs/install.md. Needs the package index; pip brings pipx
and uv.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from image import as_another_user, build_image

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "install.md"
BLOCK = re.compile(
    r"(?<=<!-- installs -->\n```text).*?(?=```\n\n<!-- end of installs -->)", re.DOTALL
)
HEADER = f"{'way':57}seconds      MB  first crawl  second one"
ARCHIVE = "sample_data/heritrix-loopback.warc.gz"
#: way -> the line of the page, and the installer that it needs
WAYS = {
    "checkout": ("pip install ./crawlrank", ""),
    "git": ("pip install git+URL", ""),
    "wheel": ("pip install FILE.whl", ""),
    "compiled": ("pip install FILE.whl, of `make wheels`", ""),
    "pipx": ("pipx install ./crawlrank", "pipx"),
    "uv": ("uv tool install ./crawlrank", "uv"),
    "uv-git": ("uv tool install git+URL", "uv"),
    "lowest": ("pip install --constraint lowest.txt ./crawlrank", ""),
    "image": ("docker build ./crawlrank, its steps without a container", ""),
}


class Outcome(NamedTuple):
    """The outcome of a way to install. seconds: of the installation. first, second: seconds of
    runs. mb: of the files. results: the precedence file and the list of pages."""

    seconds: float
    mb: float
    first: float
    second: float
    results: bytes


def shell(line: str, cwd: Path, env: dict[str, str]) -> float:
    """Run a line, and give its seconds. Ends the program if it fails."""
    begin = time.monotonic()
    done = subprocess.run(line, shell=True, cwd=cwd, env=env, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{line}\nended with {done.returncode}\n{done.stdout}{done.stderr}")
    return time.monotonic() - begin


def stranger(folder: Path) -> dict[str, str]:
    """The environment of somebody with an empty home. The index of packages stays as it is set."""
    kept = {name: os.environ[name] for name in os.environ if re.match("PIP_|UV_|SSL_|LANG", name)}
    home = folder / "home"
    home.mkdir()
    path = f"{home}/venv/bin:{home}/.local/bin:/usr/local/bin:/usr/bin:/bin"
    return {**kept, "HOME": str(home), "PATH": path}


def checkout(folder: Path, env: dict[str, str]) -> str:
    """The folder `crawlrank` there, as a clone of the last commit; gives the URL it came from."""
    bare = folder / "crawlrank.git"
    shell(f"git clone --quiet --bare {shlex.quote(str(ROOT))} {bare}", folder, env)
    shell(f"git clone --quiet {bare} crawlrank", folder, env)
    return bare.as_uri()


def size(folder: Path) -> float:
    """MB on the disk."""
    return sum(path.lstat().st_blocks for path in folder.rglob("*")) * 512 / 1e6


def installed(way: str, folder: Path, env: dict[str, str]) -> tuple[float, Path]:
    """Install; seconds, and the folder with what was installed."""
    line, installer = WAYS[way]
    url, venv = checkout(folder, env), folder / "home" / "venv"
    if way == "image":
        return build_image(folder / "crawlrank", folder, env)
    python = shlex.quote(sys.executable)
    shell(f"{python} -m venv {venv}", folder, env)
    if installer:
        shell(f"{venv}/bin/pip install --quiet {installer}", folder, env)
    if way == "lowest":
        shell(f"{python} {ROOT}/scripts/lowest > lowest.txt", folder, env)
    if way == "wheel":
        shell("pip wheel --quiet --no-deps --wheel-dir dist ./crawlrank", folder, env)
    if way == "compiled":
        shell(f"{python} crawlrank/scripts/install/make_wheels.py", folder, env)
        shell("rm dist/*-none-any.whl", folder, env)
    line = line.partition(",")[0].replace("URL", url).replace("FILE.whl", "dist/crawlrank-*.whl")
    seconds = shell(line.replace("tool install", f"tool install --python {python}"), folder, env)
    if installer == "uv":
        return seconds, folder / "home/.local/share/uv/tools/crawlrank"
    if installer:
        return seconds, next(folder.glob("home/.local/**/venvs/crawlrank"))
    return seconds, venv


def attempt(way: str) -> Outcome:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        env = stranger(folder)
        seconds, place = installed(way, folder, env)
        data = folder / "data"
        data.mkdir()
        if way == "image":
            folder.chmod(0o755)
            data.chmod(0o777)
        (data / "crawl.warc.gz").write_bytes((ROOT / ARCHIVE).read_bytes())
        mb = size(place)
        first, second = (
            shell(lines_of(way, f"crawlrank run crawl.warc.gz --work {work}"), data, env)
            for work in ("first", "second")
        )
        shell("crawlrank status first", data, env)
        shell(f"crawlrank --version | grep -q '{extraction_of(way)}$'", data, env)
        if way == "compiled" and (made := [*place.rglob("__pycache__/*.native")]):
            sys.exit(f"{way}: the wheel lacks the code of {', '.join(path.name for path in made)}")
        if WAYS[way][1] != "uv" and not has_manual(env["PATH"]):
            sys.exit(f"{way}: no manual page where `man` looks")
        export = "crawlrank export first --format jsonl --output pages.jsonl"
        shell(lines_of(way, export), data, env)
        results = (data / name for name in ("first/precedence.txt", "pages.jsonl"))
        return Outcome(seconds, mb, first, second, b"".join(it.read_bytes() for it in results))


def extraction_of(way: str) -> str:
    """As the command names it."""
    return "compiled" if way in {"compiled", "image"} else "Python"


def has_manual(path: str) -> bool:
    """Whether `man` finds the page of a command: it looks beside the folders of PATH. uv puts the
    pages elsewhere."""
    pages = [Path(folder).parent / "share/man/man1/crawlrank-run.1" for folder in path.split(":")]
    return any(page.exists() for page in pages)


def lines_of(way: str, line: str) -> str:
    return as_another_user(line) if way == "image" else line


def row(way: str, outcome: Outcome) -> str:
    numbers = f"{outcome.seconds:7.0f} {outcome.mb:7.0f}"
    return f"{WAYS[way][0]:57}{numbers}{outcome.first:13.1f}{outcome.second:12.1f}"


def with_rows(page: str, rows: Mapping[str, str]) -> str:
    """The page with these rows by way in its table. Rows of other ways stay."""
    (table,) = re.findall(BLOCK, page)
    lines = {line[:57].rstrip(): line for line in table.splitlines()} | {
        WAYS[way][0]: line for way, line in rows.items()
    }
    known = [lines[name] for name, _ in WAYS.values() if name in lines]
    return BLOCK.sub("\n".join(["", HEADER, *known, ""]), page)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("ways", nargs="*", choices=[*WAYS, []], metavar="WAY")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    print(HEADER, flush=True)
    rows, files = dict[str, str](), set[bytes]()
    for way in given.ways or WAYS:
        outcome = attempt(way)
        files.add(outcome.results)
        rows[way] = row(way, outcome)
        print(rows[way], flush=True)
    if len(files) > 1:
        sys.exit("the precedence files or the lists of pages differ")
    if given.write:
        PAGE.write_text(with_rows(PAGE.read_text(), rows))


if __name__ == "__main__":
    main()
