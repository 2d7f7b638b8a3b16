"""What the tests share: the program beside which the package must stand."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def program() -> str:
    found = os.environ.get("MURMUR")
    if not found or not Path(found).is_file():
        pytest.skip("MURMUR names no program to compare with")
    return found


@pytest.fixture(scope="session")
def cli(program: str) -> Callable[..., Any]:
    """JSON of a command."""

    def run(*arguments: str) -> Any:
        done = subprocess.run([program, *arguments, "--format", "json"], capture_output=True, check=True)
        return json.loads(done.stdout)

    return run
