"""``python -m murmuration.bridge PATH``: the process that a node starts for a trainer that lives in another Python process.

It hands its own socket, stdin, over to that process and waits; no number passes through it. Ended by the node when the trainer is given up.
"""

from __future__ import annotations

import socket
import sys


def main(path: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as near:
        near.connect(path)
        socket.send_fds(near, [b"trainer"], [0])
        # Until the other side has nothing more to answer.
        near.recv(1)


if __name__ == "__main__":
    main(sys.argv[1])
