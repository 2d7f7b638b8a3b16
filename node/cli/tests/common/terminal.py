"""Runs a command in a terminal of 80 columns and prints what it wrote, without escape sequences: terminal.py COMMAND...
With INTERRUPT_AT=WORDS somebody presses ctrl-c when these words have appeared."""

import fcntl, os, pty, re, struct, sys, termios

pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm-256color"
    os.environ.pop("COLUMNS", None)
    # The command begins when the terminal has its size.
    sys.stdin.readline()
    os.execvp(sys.argv[1], sys.argv[1:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
os.write(terminal, b"\n")
written, words = b"", os.environ.get("INTERRUPT_AT", "").encode()
while True:
    try:
        piece = os.read(terminal, 65536)
    except OSError:
        break
    if not piece:
        break
    written += piece
    if words and words in written:
        os.write(terminal, b"\x03")
        words = b""
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written.decode("utf-8", "replace"))
sys.stdout.buffer.write("\n".join(re.split(r"[\r\n]+", text)).encode())
sys.exit(code)
