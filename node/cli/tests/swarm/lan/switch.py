"""A switch with slow and lossy cables: one TAP device per host, each moved into the host's network namespace.

For kernels without netem. Every frame that a host sends waits, or is lost; it then reaches all other hosts, as on a hub.
Usage: switch.py DELAY_MS LOSS_PERCENT NAMESPACE...; says `ready`, ends when stdin does.
"""
import collections, fcntl, os, random, select, struct, subprocess, sys, time

delay, loss, hosts = float(sys.argv[1]) / 1000, float(sys.argv[2]) / 100, sys.argv[3:]
dice = random.Random(7)
taps = []
for number, host in enumerate(hosts):
    tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    name = "mm%dt%d" % (os.getpid() % 100000, number)
    fcntl.ioctl(tap, 0x400454CA, struct.pack("16sH", name.encode(), 0x0002 | 0x1000))  # IFF_TAP | IFF_NO_PI
    subprocess.run(["ip", "link", "set", name, "netns", host], check=True)
    subprocess.run(["ip", "-n", host, "link", "set", name, "name", "eth0"], check=True)
    taps.append(tap)
print("ready", flush=True)

waiting = collections.deque()
while True:
    now = time.monotonic()
    while waiting and waiting[0][0] <= now:
        _, sender, frame = waiting.popleft()
        for tap in taps:
            if tap != sender:
                try:
                    os.write(tap, frame)
                except OSError:
                    pass  # A full queue, or a device that is down: lost, as on a cable.
    pause = max(0, waiting[0][0] - now) if waiting else None
    readable, _, _ = select.select(taps + [sys.stdin], [], [], pause)
    for source in readable:
        if source is sys.stdin:
            sys.exit(0)
        for _ in range(64):
            try:
                frame = os.read(source, 65600)
            except OSError:
                break
            if dice.random() >= loss:
                waiting.append((time.monotonic() + delay, source, frame))
