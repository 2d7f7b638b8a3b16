"""Long calls: the interpreter is free, ctrl-c ends them, progress is told, forks are refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import murmuration as mm

# A minute of work, in hundreds of pieces: whoever stops waits for the piece at hand only.
LONG = {"rounds": 2000, "analysis": "contractive"}


def test_a_thread_of_python_advances_during_a_call():
    counted, running = 0, True

    def count() -> None:
        nonlocal counted
        while running:
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    seen: list[int] = []
    mm.pairwise("regular:400,degree=4", rounds=600, analysis="contractive", progress=lambda done, all: seen.append(counted))
    running = False
    thread.join()
    # Between two reports of progress the interpreter is the other thread's.
    assert len(seen) > 1 and seen[-1] - seen[0] > 1000


def test_progress_ends_with_all_and_what_it_raises_ends_the_call():
    told = []
    mm.pairwise("ring:50", analysis="local", progress=lambda done, all: told.append((done, all)))
    assert told[-1] == (50, 50)

    def refuse(done: int, all: int) -> None:
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        mm.pairwise("regular:2000,degree=4", **LONG, progress=refuse)


SAY = "lambda done, all: print('working', flush=True)"
FLAT = "lambda node: mm.Function({'w': (2,)}, 100, rows=lambda records, params, seed: [[1.0, 1.0]] * len(records))"


@pytest.mark.parametrize(
    "call",
    [
        f"mm.pairwise('regular:2000,degree=4', rounds=2000, analysis='contractive', progress={SAY})",
        f"mm.simulate(set={{'rounds': 4000, 'nodes': 32}}, progress={SAY})",
        f"mm.simulate(set={{'rounds': 400000, 'nodes': 3, 'batch_size': 20, 'privacy.epsilon': 8}}, trainer={FLAT}, progress={SAY})",
    ],
)
def test_ctrl_c_ends_a_call_long_before_its_end(call):
    # Whoever runs the tests in the background may have told all below it to ignore ctrl-c.
    heeded = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    program = [sys.executable, "-c", f"{heeded}import murmuration as mm\n{call}\nprint('at its end')"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        # The call has begun: its first report of progress says so.
        assert process.stdout.readline() == "working\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert "KeyboardInterrupt" in err and "at its end" not in out


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_is_told_that_it_cannot_compute():
    mm.pairwise("ring:5", analysis="local")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            mm.pairwise("ring:5", analysis="local")
        except mm.MurmurError as error:
            code = 0 if "fork" in str(error) and "spawn" in (error.hint or "") else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_the_number_of_threads_changes_nothing():
    options = {"rounds": 8, "analysis": "linear"}
    one, two = (mm.pairwise("karate", **options, threads=threads) for threads in (1, 2))
    assert one.mu2.tobytes() == two.mu2.tobytes()


def test_the_package_is_imported_without_numpy():
    # Nor with what only a node needs.
    code = "import murmuration; print([name for name in ('numpy', 'asyncio', 'subprocess') if name in sys.modules]); murmuration.Node"
    # -S: where packages are installed, some of them load modules at every start.
    paths = [str(Path(mm.__file__).parents[1])]
    code = f"import sys; sys.path[:0] = {paths!r}; {code}"
    assert subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
