"""Writes every frame that passes the interfaces of this network namespace into a file; says `ready`, ends when stdin does.

Usage: capture.py FILE
"""
import select, socket, sys

frames = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))  # ETH_P_ALL
frames.setsockopt(socket.SOL_SOCKET, 33, 1 << 26)  # SO_RCVBUFFORCE: none must be lost
with open(sys.argv[1], "wb") as out:
    print("ready", flush=True)
    while True:
        readable, _, _ = select.select([frames, sys.stdin], [], [])
        if frames in readable:
            out.write(frames.recv(1 << 17))
        elif sys.stdin in readable:
            break
