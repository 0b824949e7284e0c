"""The steps of the Dockerfile, made without a container: for machines that have no Docker.

What they show: the context holds all that the steps need, the steps run, and a user other than the
one who built can run the command. What they cannot show: the base image, and the command `docker`.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path


def build_image(source: Path, folder: Path, env: dict[str, str]) -> tuple[float, Path]:
    """Follow COPY, RUN and ENV; seconds, and the folder of the environment.

    source: the checkout. env: gets the image's PATH. Raises SystemExit for a step that fails, and
    for an instruction that it does not know.
    """
    context = folder / "context"
    copy_context(source, context)
    image = folder / "image"
    place = {"/opt/": f"{image}/opt/", "/source": f"{image}/source", "/tmp/warm": f"{image}/warm"}
    begin = time.monotonic()
    here = image
    for word, rest in instructions((source / "Dockerfile").read_text()):
        for path, own in place.items():
            rest = rest.replace(path, own)
        if word == "WORKDIR":
            here = Path(rest)
            if here.is_relative_to(image):
                here.mkdir(parents=True)
        elif word == "COPY" and not rest.startswith("--from"):
            *sources, target = rest.split()
            for each in sources:
                copy(context / each, here / target, target.endswith("/"))
        elif word == "RUN":
            run(rest, here if here.exists() else image, env)
        elif word == "ENV" and "PATH=" in rest:
            env["PATH"] = f"{image}/opt/crawlrank/bin:{env['PATH']}"
        elif word not in {"FROM", "COPY", "ENV", "USER", "ENTRYPOINT", "CMD"}:
            sys.exit(f"Dockerfile: {word} is not known here")
    return time.monotonic() - begin, image / "opt" / "crawlrank"


def instructions(text: str) -> list[tuple[str, str]]:
    """The word and the rest of each instruction, continued lines joined."""
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ")
    pairs = [line.partition(" ") for line in text.splitlines() if line.strip()]
    return [(word, rest.strip()) for word, _, rest in pairs]


def copy_context(source: Path, context: Path) -> None:
    """The files that .dockerignore lets through: of two rules that name a path, the later one."""
    rules = (source / ".dockerignore").read_text().split()
    for path in (each for each in source.rglob("*") if each.is_file()):
        name = path.relative_to(source).as_posix()
        kept = True
        for rule in rules:
            if any(_matches(part, rule.lstrip("!")) for part in _parts(name)):
                kept = rule.startswith("!")
        if kept:
            (context / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, context / name)


def _parts(name: str) -> list[str]:
    """A path and the folders above it."""
    words = name.split("/")
    return ["/".join(words[:end]) for end in range(1, len(words) + 1)]


def _matches(name: str, rule: str) -> bool:
    if rule.startswith("**/"):
        return fnmatch.fnmatch(name.rpartition("/")[2], rule[3:])
    return "/" not in name.removeprefix(rule) and fnmatch.fnmatch(name, rule)


def copy(path: Path, target: Path, into: bool) -> None:
    if path.is_dir():
        shutil.copytree(path, target, dirs_exist_ok=True)
        return
    target = target / path.name if into else target
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)


def run(line: str, here: Path, env: dict[str, str]) -> None:
    """A step, by the user who builds; the image's Python is the one that runs this program."""
    line = line.replace("python -m venv", f"{shlex.quote(sys.executable)} -m venv")
    version = f"py{sys.version_info[0]}{sys.version_info[1]}"
    line = re.sub(r"constraints/py\d+\.txt", f"constraints/{version}.txt", line)
    done = subprocess.run(line, shell=True, cwd=here, env=env, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{line}\n{done.stdout}{done.stderr}")


def as_another_user(line: str) -> str:
    """The line as the image's user, where this one may become another."""
    return line if os.geteuid() else f"setpriv --reuid=1000 --regid=1000 --clear-groups {line}"
