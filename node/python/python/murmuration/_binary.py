"""The program `murmur`, which comes with the wheel."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from ._errors import MurmurError


def path() -> str:
    """Where the program is: what ``MURMUR`` names, the one installed with this package, or the one on the path."""
    beside = Path(sysconfig.get_path("scripts")) / ("murmur.exe" if os.name == "nt" else "murmur")
    found = os.environ.get("MURMUR") or (str(beside) if beside.is_file() else shutil.which("murmur"))
    if not found:
        raise MurmurError("the program `murmur` is not installed", "install the wheel, or name the program in MURMUR")
    return found


def murmur(options: Sequence[str], accept: Sequence[int] = (0,)) -> str:
    """Runs the program; its complaints are exceptions. ctrl-c ends it too."""
    with subprocess.Popen([path(), *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            out, err = process.communicate()
        except BaseException:
            process.kill()
            raise
    if process.returncode in accept:
        return out.decode()
    message, _, hint = err.decode(errors="replace").removeprefix("error: ").partition("\nhint: ")
    raise MurmurError(" ".join(message.split()), hint.strip() or None)
