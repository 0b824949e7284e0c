"""A network namespace that has loopback and nothing else: made, set up and entered.

root makes one as it is; another user, where the system lets him, inside a user namespace.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import subprocess
from pathlib import Path

from fetching import Unavailable, program

SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1  # linux/sockios.h, linux/if.h
LOOPBACK = b"lo"


def unsharing() -> list[str]:
    """Put before a command: it runs in a new namespace. Raises Unavailable."""
    unshare, said = program("unshare"), ""
    for options in ["--net"], ["--user", "--map-root-user", "--net"]:
        tried = subprocess.run([unshare, *options, "true"], capture_output=True, text=True)
        if tried.returncode == 0:
            return [unshare, *options]
        said = tried.stderr.strip()
    raise Unavailable(
        f"no network namespace can be made here ({said}): run as root, or let users make them "
        "(sysctl kernel.unprivileged_userns_clone=1; Ubuntu: "
        "kernel.apparmor_restrict_unprivileged_userns=0; Docker: --privileged)"
    )


def entering(pid: int) -> list[str]:
    """Put before a command: it runs in the namespace of a process."""
    options = ["--target", str(pid), "--net"]
    if _of(pid, "user") != _of(os.getpid(), "user"):
        options += ["--user", "--preserve-credentials"]
    return [program("nsenter"), *options, "--"]


def inside(pid: int) -> bool:
    """Whether this process is in the network namespace of another."""
    return _of(pid, "net") == _of(os.getpid(), "net")


def loopback_up() -> None:
    """In a new namespace even loopback is down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH14x", LOOPBACK, 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, request))[1]
        up = struct.pack("16sH14x", LOOPBACK, flags | IFF_UP)
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, up)


def _of(pid: int, kind: str) -> str:
    return str(Path(f"/proc/{pid}/ns/{kind}").readlink())
