#!/usr/bin/env python3
"""Writes the first cases of the corpus: a valid example of every kind, and the edges of each format.

The bytes are made here by hand from the formats' descriptions, not by the program, so the readers are tried on what others may write.
Cases that the fuzzer found are beside them, under names that begin with `found-`.
"""
import gzip, hashlib, io, json, pathlib, struct, zipfile

ROOT = pathlib.Path(__file__).parent / "corpus"


def put(target, name, content):
    folder = ROOT / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


# Frames: bincode's variable-length integers behind a length of four bytes.
def number(n):
    if n < 251:
        return bytes([n])
    for mark, form, most in [(251, "<H", 1 << 16), (252, "<I", 1 << 32), (253, "<Q", 1 << 64)]:
        if n < most:
            return bytes([mark]) + struct.pack(form, n)


def text(t):
    t = t if isinstance(t, bytes) else t.encode()
    return number(len(t)) + t


def many(items):
    return number(len(items)) + b"".join(items)


def frame(content, values=(), version=5, kind="f"):
    """A frame; behind it numbers: `f` real, `I` modulo 2^32, `Q` modulo 2^64."""
    announced = number(" fIQ".index(kind)) + number(len(values)) if values else number(0)
    header = bytes([version]) + announced + content
    return struct.pack("<I", len(header)) + header + struct.pack(f"<{len(values)}{kind}", *values)


def message(said, values=(), run=7, round=3, step=1, kind="f"):
    return frame(number(9) + number(run) + number(round) + number(step) + said, values, kind=kind)


def rounds(which, *said):
    return number(2) + number(which) + b"".join(said)


def walk(which, *said):
    return number(4) + number(which) + b"".join(said)


NUDGE, NOT_YET, STATE = number(0), number(1), number(3) + number(0)


PEER = bytes.fromhex("0024080112") + b"\x20" + bytes(range(32))
OTHER = bytes.fromhex("0024080112") + b"\x20" + bytes(range(1, 33))
CONFIG = "rounds = 1\n[privacy]\nepsilon = 4.0\n"
DIGEST = hashlib.sha256(CONFIG.encode()).digest()[:16]
SCHEMA = hashlib.sha256(b"features 2\ntarget classes\nclasses 2\n").digest()[:16]


def card(run="digits", digest=DIGEST, standing=number(0), addresses=("/ip4/127.0.0.1/tcp/7000",), schema=SCHEMA, name="north"):
    about = text(run) + digest + schema + number(1 << 40)
    return frame(number(2) + about + standing + many([text(a) for a in addresses]) + text(name))


def names(*words):
    return b"\1" + bytes(16) + many([text(word) for word in words])


def schema(features=2, target="classes", classes=b"\1\2", columns=b"\0", class_names=b"\0"):
    return frame(number(10) + number(features) + text(target) + classes + columns + class_names)


running = number(1) + many([text(PEER), text(OTHER)]) + number(1) + many([text(bytes(64)), text(bytes(64))])
# Messages of the agreement, little-endian behind the number of their kind: which decisions come after epoch 5; stop before round 9.
ASK = b"\x09\x02" + struct.pack("<I", 5)
BOUNDARY = b"\x0a" + struct.pack("<II", 1, 9)
FRAMES = {
    "greeting": frame(number(0) + bytes(32)),
    "proof": frame(number(1) + bytes(range(32))),
    "card": card(),
    "card-running": card(standing=running),
    "config": frame(number(3) + text(CONFIG)),
    "schema": schema(columns=names("a", "b"), class_names=names("no", "yes")),
    "refuse": frame(number(4) + number(1) + text("somebody else is here")),
    "members": frame(number(5) + many([text(PEER) + many([text("/dns4/a.example/tcp/7000")])])),
    "confirm": frame(number(6) + number(1) + many([text(PEER), text(OTHER)]) + text(bytes(64))),
    "finished": frame(number(7)),
    "alive": frame(number(8) + b"\1"),
    "sum": message(rounds(0, number(0), number(2), DIGEST, b"\0"), (1.0, -2.5, 0.0)),
    "sum-not-finite": message(rounds(0, number(0), number(2), DIGEST, b"\0"), (float("nan"), float("inf"))),
    "sum-modulo-32": message(rounds(0, number(0), number(2), DIGEST, b"\0"), (1, 1 << 31, (1 << 32) - 1), kind="I"),
    "sum-modulo-64": message(rounds(0, number(0), number(2), DIGEST, b"\0"), (1, 1 << 63, (1 << 64) - 1), kind="Q"),
    "state": message(STATE, (0.5,) * 64),
    "token": message(walk(0, number(0), number(300), number(1)), (0.5, 0.25)),
    "token-here": message(walk(1, number(0), number(70000), number(1))),
    "token-safe": message(walk(2, number(1), number(0), number(1))),
    "nudge": message(NUDGE),
    "not-yet": message(NOT_YET, run=(1 << 64) - 1, round=(1 << 32) - 1),
    "sum-signed": message(rounds(0, number(0), number(2), DIGEST, b"\1", text(bytes(64))), (1.0,)),
    "ask": message(rounds(1, text(ASK))),
    "boundary": message(rounds(1, text(BOUNDARY))),
    "fetch": message(rounds(2, text("ab" * 32))),
    "model": message(rounds(3, number(5)), (1.0, 2.0)),
    "key": message(rounds(4, bytes(range(32)), b"\1")),
    "over": message(walk(3, number(0))),
    "other-version": frame(number(7), version=2),
    "forged-length": struct.pack("<I", 0xFFFFFFFF) + b"\1\0\7",
    "forged-list": frame(number(5) + number((1 << 64) - 1)),
    "forged-numbers": message(STATE, (0.5,)).replace(b"\1\1\t", b"\1\xfa\t", 1),
    "forged-width": message(STATE, (0.5, 0.25)).replace(b"\5\1\2\t", b"\5\3\2\t", 1),
    "forged-kind": message(STATE, (0.5,)).replace(b"\5\1\1\t", b"\5\4\1\t", 1),
    "forged-none": frame(number(7)).replace(b"\5\0\7", b"\5\1\0\7", 1).replace(b"\3\0\0\0", b"\4\0\0\0", 1),
    "empty": b"",
}
for name, content in FRAMES.items():
    put("frame", name, content)

put("hello", "card", FRAMES["card"])
put("hello", "card-running", FRAMES["card-running"])
put("hello", "other-run", card(run="else"))
put("hello", "other-config", card(digest=bytes(16)) + frame(number(3) + text("rounds = 2\n[privacy]\nepsilon = 8.0\nlist = [1]\n")))
put("hello", "config-is-no-toml", card(digest=bytes(16)) + frame(number(3) + text("= = =")))
put("hello", "deep-config", card(digest=bytes(16)) + frame(number(3) + text("a = " + "[" * 60 + "]" * 60)))
put("hello", "other-schema", card(schema=bytes(16)) + schema(3, "numbers", b"\0", names("a", "\x1b[31m", "")))
put("hello", "schema-without-names", card(schema=bytes(16)) + schema())
put("hello", "refused", FRAMES["refuse"])
put("hello", "stranger", FRAMES["greeting"] + FRAMES["proof"])
put("hello", "disorder", FRAMES["alive"] + FRAMES["alive"])
put("hello", "roster-of-nobody", card(standing=number(1) + many([text(b""), text(b"\0")]) + number(0) + many([]), addresses=("", "/ip4", "/ip6/::1/tcp/99999")))
put("hello", "long-for-a-stranger", struct.pack("<I", 257) + bytes(257))

# What one hostile member says to another in an assembly: letters behind lengths of two bytes; the first byte says whether it has begun.
def letters(first, *all):
    return bytes([first]) + b"".join(struct.pack("<H", len(letter)) + letter for letter in all)


def far(n):
    return struct.pack("<I", n)


HEARD = b"\x01" + far(1) + far(1) + far(2) + bytes(32)
DECIDED = b"\x08" + far(0)
VOICE = far(1) + bytes(32) + far(1) + bytes(32) + far(3) + bytes(64)
put("agreement", "silent", letters(0))
put("agreement", "asks", letters(1, ASK, b"\x09\x01" + far(1) + far(1), b"\x09\x00" + far(1) + far(0)))
put("agreement", "far", letters(1, BOUNDARY, b"\x0a" + far(1 << 30) + far(1 << 30), b"\x09\x01" + far(1 << 30) + far(1 << 30)))
put("agreement", "heard", letters(1, HEARD, HEARD))
put("agreement", "nothing-decided", letters(0, DECIDED, DECIDED))
put("agreement", "votes", letters(1, b"\x05" + VOICE, b"\x07" + VOICE))
put("agreement", "reserve", letters(0, b"\x0b" + far(3) + bytes(8) + bytes(64), b"\x0c\x00"))
put("agreement", "forged-list", letters(1, b"\x08" + far(0xFFFFFFFF), b"\x03" + far(0xFFFFFFFF) + b"\0"))
put("agreement", "cut", letters(1, ASK)[:-3])


# A script for a node that gathers: what happens, who, by whose signatures, attempt, time.
def script(pinned, *lines):
    return bytes([pinned]) + b"".join(struct.pack("<BBBHB", *line) for line in lines)


LINKS = [(0, 0, 0, 0, 0), (0, 1, 0, 0, 0), (0, 2, 0, 0, 0)]
put("gathering", "nobody", script(0, (4, 0, 0, 0, 255)))
put("gathering", "links", script(0, *LINKS, (4, 0, 0, 0, 1)))
put("gathering", "hostile-pair", script(0, (0, 1, 0, 0, 0), (0, 2, 0, 0, 0), (2, 13, 0x12, 0, 0), (2, 13, 0x23, 0, 0)))
put("gathering", "forged-running", script(0, *LINKS, (3, 7, 1, 0, 0), (3, 7, 2, 0, 0), (3, 15, 2, 0, 0), (3, 14, 2, 0, 0)))
put("gathering", "honest-by-others", script(0, *LINKS, (2, 7, 0x02, 0, 0), (2, 7, 0x03, 0, 0), (2, 7, 0x12, 0, 0), (2, 7, 0x23, 0, 0)))
put("gathering", "last-attempt", script(0, *LINKS, (2, 13, 0x12, 0xFFFF, 0), (4, 0, 0, 0, 70), (2, 7, 0x12, 0xFFFF, 0), (4, 0, 0, 0, 70)))
put("gathering", "comes-and-goes", script(0, *LINKS, (1, 1, 0, 0, 0), (4, 0, 0, 0, 255), (0, 1, 0, 0, 0), (4, 0, 0, 0, 1)))
put("gathering", "pinned", script(1, (0, 0, 0, 0, 0), (4, 0, 0, 0, 61), (4, 0, 0, 0, 61)))
put("gathering", "pinned-other-roster", script(1, *LINKS[2:], (3, 13, 2, 0, 0), (2, 13, 0x12, 0, 0), (4, 0, 0, 0, 255)))
put("gathering", "cut", script(1, *LINKS)[:-2])

# Swarm files: digests that are wrong are put right by the target.
SWARM = 'name = "digits"\nnodes = {nodes}\nsecret = "{secret}"\ndigest = "{digest}"\n'
head = SWARM.format(nodes=3, secret="ab" * 32, digest="00" * 16)
put("swarm_file", "small", head + "\n[config]\nrounds = 20\n\n[config.privacy]\nepsilon = 4.0\n")
put("swarm_file", "one-node", SWARM.format(nodes=1, secret="ab" * 32, digest="00" * 16) + "[config]\n")
put("swarm_file", "short-secret", SWARM.format(nodes=3, secret="ab", digest="00" * 16) + "[config]\n")
put("swarm_file", "secret-of-letters", SWARM.format(nodes=3, secret="é" * 32, digest="00" * 16) + "[config]\n")
put("swarm_file", "bad-digest", SWARM.format(nodes=3, secret="ab" * 32, digest="zz") + "[config]\n")
peer = "12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN"
put("swarm_file", "roster", head.replace("nodes = 3", "nodes = 2") + f'\n[[roster]]\npeer = "{peer}"\naddresses = ["/dns4/a.example/tcp/7000"]\n[[roster]]\npeer = "{peer}"\n[config]\nrounds = 1\n')
put("swarm_file", "roster-of-nobody", head + '[[roster]]\npeer = "x"\naddresses = ["/"]\n[config]\n')
put("swarm_file", "unclosed", 'name = "digits\nsecret = "ab')
put("swarm_file", "negative", head.replace("nodes = 3", "nodes = -3") + "[config]\n")
put("swarm_file", "empty", "")

# Configurations.
put("config", "empty", "")
put("config", "small", 'name = "clinic"\nnodes = 3\nbatch_size = 32\n')
for kind, more in [("rounds", ""), ("gossip", "mixing_steps = 3\naccelerate = true\n"), ("walk", 'kernel = "lazy"\ntokens = 2\n'), ("mean", "message_noise = 0.5\n"), ("fedavg", "")]:
    put("config", kind, f'nodes = 8\n{"" if kind == "mean" else "rounds = 4" + chr(10)}topology = "ring"\n[algorithm]\nkind = "{kind}"\n{more}[privacy]\nepsilon = 4.0\ndelta = 1e-5\n')
put("config", "models", '[model]\nkind = "mlp"\nhidden = [16, 8]\nactivation = "tanh"\n[optimiser]\nkind = "momentum"\nmomentum = 0.9\n[partition]\nkind = "dirichlet"\nalpha = 0.3\n[timeouts]\nsilence = "250ms"\n')
put("config", "faults", 'nodes = 8\n[faults]\ndrop_prob = 0.1\ndelay = "10ms"\n')
put("config", "not-numbers", "nodes = nan\nlearning_rate = inf\nprivacy.epsilon = -0.0\n")
put("config", "large", "nodes = 9223372036854775807\nrounds = -1\nseed = -9223372036854775808\n")
put("config", "unknown-key", "nodez = 3\n")
put("config", "durations", '[timeouts]\nsilence = "99999999999999999999h"\nround = "-1s"\n')
put("config", "topologies", 'topology = "erdos-renyi:100:p=0.1:seed=3"\nweights = "file:"\n')
put("config", "unclosed", "[privacy\nepsilon = ")

# CSV: the first byte gives jobs to columns (see the target).
put("csv", "numbers", b"\0a,b\n1,2\n3.5,-4e3\n")
put("csv", "labelled", b"\1a,b,y\n1,2,yes\n3,4,no\n")
put("csv", "all-jobs", b"\x3fa,word,z,id,split,y\n1,red,x,7,train,0\n,blue,x,8,test,1\n")
put("csv", "classes", b"\x41a,y\n1,0\n2,2\n3,3\n")
put("csv", "threshold", b"\x81a,y\n1,0.4\n2,0.6\n")
put("csv", "real", b"\xc1a,y\n1,1e40\n")
put("csv", "missing", b"\0a,b\n?,NA\n")
put("csv", "missing-filled", b"\x20a,b\n?,NA\n1,nan\n")
put("csv", "quotes", b'\0"a ""x""","b\n"\n"1","2"\n')
put("csv", "ragged", b"\0a,b\n1\n1,2,3\n")
put("csv", "no-rows", b"\0a,b\n")
put("csv", "not-utf8", b"\0a,b\n\xff\xfe,2\n")
put("csv", "twice-a-name", b"\0a,a,\n1,2,3\n")
put("csv", "carriage-returns", b"\0\xef\xbb\xbfa,b\r\n1,2\r\n\r\n")
put("csv", "gzip", b"\0" + gzip.compress(b"a,b\n1,2\n", mtime=0))
put("csv", "gzip-cut", b"\0" + gzip.compress(b"a,b\n1,2\n", mtime=0)[:15])


# IDX: two zero bytes, type, axes, their lengths (big-endian), elements.
def idx(kind, shape, content):
    return bytes([0, 0, kind, len(shape)]) + b"".join(struct.pack(">I", n) for n in shape) + content


put("idx", "bytes", idx(8, [3], b"\0\1\2"))
put("idx", "images", idx(8, [2, 2, 2], bytes(range(8))))
put("idx", "doubles", idx(14, [2, 1], struct.pack(">2d", 1.5, -2)))
put("idx", "floats-not-finite", idx(13, [1, 2], struct.pack(">2f", float("nan"), float("inf"))))
put("idx", "shorts", idx(11, [2], struct.pack(">2h", -1, 300)))
put("idx", "ints", idx(12, [1, 2], struct.pack(">2i", -1, 1 << 30)))
put("idx", "forged-length", idx(8, [0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF], b"\0"))
put("idx", "no-axes", idx(8, [], b""))
put("idx", "empty-axis", idx(8, [0, 4], b""))
put("idx", "cut", idx(8, [9], b"\0\1"))
put("idx", "unknown-type", idx(7, [1], b"\0"))
put("idx", "gzip", gzip.compress(idx(8, [4, 2], bytes(8)), mtime=0))


def npy(descr, shape, content, order="False", version=1):
    head = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}".encode() + b"\n"
    form = "<H" if version == 1 else "<I"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack(form, len(head)) + head + content


table = npy("<f4", "(2, 2)", struct.pack("<4f", 1, 2, 3, 4))
put("npy", "floats", table)
put("npy", "fortran", npy("<f8", "(2, 3)", struct.pack("<6d", *range(6)), order="True"))
put("npy", "big-endian", npy(">i4", "(3,)", struct.pack(">3i", 1, -2, 3), version=2))
put("npy", "bytes", npy("|u1", "(2, 2, 2)", bytes(8), version=3))
put("npy", "bools", npy("|b1", "(2,)", b"\0\2"))
put("npy", "halves", npy("<f2", "(2,)", struct.pack("<2e", 1, float("inf"))))
put("npy", "scalar", npy("<f4", "()", struct.pack("<f", 1)))
put("npy", "forged-shape", npy("<f4", "(4294967296, 4294967296, 16)", b""))
put("npy", "negative-shape", npy("<f4", "(-1, 2)", b""))
put("npy", "empty-shape", npy("<f4", "(0, 18446744073709551615)", b""))
put("npy", "objects", npy("|O", "(1,)", b"\x80\4N."))
put("npy", "long-header", b"\x93NUMPY\2\0" + struct.pack("<I", 0xFFFFFFFF))
put("npy", "cut", table[:40])
archive = io.BytesIO()
with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as z:
    for name, content in {"x_train": table, "y_train": npy("<i8", "(2,)", struct.pack("<2q", 0, 1)), "x_test": table, "y_test": npy("<i8", "(2,)", struct.pack("<2q", 1, 0))}.items():
        z.writestr(zipfile.ZipInfo(name + ".npy"), content, zipfile.ZIP_DEFLATED)
put("npy", "archive", archive.getvalue())
put("npy", "archive-cut", archive.getvalue()[:-30])
put("npy", "archive-empty", b"PK\5\6" + bytes(18))
put("npy", "archive-gzip", gzip.compress(archive.getvalue(), mtime=0))

# Lists of edges.
put("edges", "numbers", "# ring\n0 1\n1 2\n2 0\n")
put("edges", "stated", "5\n0 1\n3 4 0.5\n")
put("edges", "names", "from,to\nada,bob\nbob;cyd\n")
put("edges", "mixed", "ada bob\n1 2\n")
put("edges", "heading", "source target\n1 2\n")
put("edges", "matrix-market", "%%MatrixMarket matrix coordinate pattern symmetric\n%\n3 3 2\n2 1\n3 2\n")
put("edges", "large-numbers", "18446744073709551615 0\n99999999999999999999 1\n")
put("edges", "loops-and-repetitions", "1 1\n1 2\n2 1\n")
put("edges", "beyond-stated", "2\n0 5\n")
put("edges", "not-utf8", b"\xff\xfe 1\n")
put("edges", "one-word", "alone\n")
put("edges", "empty", "")
put("edges", "single", "1\n")


# Run logs.
def lines(*events):
    return "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events)


zero, one = "00" * 16, "01" * 16
gaussian = {"kind": "gaussian", "noise_multiplier": 1.0}


def released(node, round, **more):
    return {"t": 5, "node": node, "event": "released", "round": round, **more}


def done(node, round, start=zero, end=one):
    return {"t": 9, "node": node, "event": "round_done", "round": round, "epoch": 0, "start": start, "end": end, "count": 4}


roster = [{"t": 0, "node": n, "event": "roster", "epoch": 0, "round": 0, "members": [0, 1, 2, 3], "model": zero} for n in range(4)]
clean = [released(n, 0) for n in range(4)] + [done(n, 0) for n in range(4)]
put("log", "rounds", lines(*roster, *clean))
put("log", "broken", lines(*roster, *[released(n, 0) for n in range(3)], {"t": 7, "node": 1, "event": "round_broken", "round": 0, "epoch": 0, "start": zero, "missing": 3, "reason": "silence"}))
put("log", "other-rosters", lines({"t": 0, "node": 0, "event": "roster", "epoch": 4294967295, "round": 4294967295, "members": [0, 0, 9], "model": zero}, *clean))
put("log", "gossip", lines(*[released(n, 0) for n in range(4)], {"t": 8, "node": 0, "event": "mixed", "round": 0, "missing": [[0, 1], [9, 9]], "late": [[0, 0, 3], [9, 9, 9]]}))
put("log", "walk", lines({"t": 1, "node": 0, "event": "held", "token": 0, "hop": 0, "generation": 0, "from": 0}, released(0, 0), {"t": 2, "node": 1, "event": "held", "token": 0, "hop": 1, "generation": 0, "from": 0}, {"t": 3, "node": 1, "event": "token_restarted", "token": 0, "hop": 1, "generation": 1}))
put("log", "forged-rounds", lines(released(0, 4294967295), done(0, 4294967295), {"t": 8, "node": 0, "event": "mixed", "round": 4294967295}, {"t": 1, "node": 3, "event": "held", "token": 4294967295, "hop": 4294967295, "generation": 4294967295, "from": 77}))
put("log", "forged-nodes", lines({"t": 1, "node": 4294967295, "event": "outside", "epoch": 1}, {"t": 18446744073709551615, "event": "late", "peer": 9, "count": 1}))
put("log", "others", lines({"t": 1, "node": 0, "event": "refused", "round": 0, "reason": "spent"}, {"t": 1, "node": 0, "event": "peer_fault", "peer": 1, "fault": "not_finite", "round": 0}, {"t": 9, "node": 0, "event": "finished", "rounds": 1, "model": one, "reason": "all rounds"}))
put("log", "other-releases", lines(*roster, released(0, 0, release=gaussian), released(1, 0, release={"kind": "non_private"}), released(2, 1, release={"kind": "gaussian", "noise_multiplier": 5e-324}, loss=1e308), released(0, 0, release={"kind": "gaussian", "noise_multiplier": -1.0})))
put("log", "cut", lines(*clean)[:-20])
put("log", "empty", "\n\n")

# Questions: one of every kind, and what is refused.
put("question", 'mean', 'SELECT count(*), mean(age), sum(x) FROM swarm WHERE sick = 1 GROUP BY region')
put("question", 'clamp', 'SELECT mean(clamp(age / (x * x), 10, 60)), median(clamp(-x, -0.5, 0.5)) FROM swarm')
put("question", 'where', "select count(*) from swarm where not (age < 3 or age >= 90) and region in ('north', 'x') and x is not null and code <> 'a1'")
put("question", 'between', 'SELECT variance(x), stddev(x) FROM swarm WHERE age NOT BETWEEN 3 AND 50 HAVING nodes() >= 2')
put("question", 'tables', 'SELECT crosstab(region, bin(x, 3)), pairs(region, sick), histogram(age, 7) FROM swarm')
put("question", 'ranks', 'SELECT kendall(age, x), corr(age, x), linreg(x, age), gini(x), auc(x, sick) FROM swarm')
put("question", 'survival', 'SELECT survival(age, sick), accuracy(sick, sick), confusion(sick, sick) FROM swarm GROUP BY region')
put("question", 'frequent', 'SELECT frequent(code, 3) FROM swarm WHERE age > 5')
put("question", 'distinct', 'SELECT count(DISTINCT code) FROM swarm')
put("question", 'describe', 'describe')
put("question", 'declaration', 'age:bounds=0..110,integer,fill=50')
put("question", 'extreme', 'SELECT min(age) FROM swarm')
put("question", 'join', 'SELECT count(*) FROM swarm JOIN other ON 1 = 1')
put("question", 'quotes', 'SELECT count(*) FROM swarm WHERE "age" = 1 AND region = \'it\'\'s\' -- comment')
put("question", 'empty', '')
put("question", 'unicode', "SELECT count(*) FROM swarm WHERE région = 'é'")
put("question", 'large', 'SELECT count(*) FROM swarm GROUP BY bin(age, 60000), bin(x, 60000), bin(age, 999)')
put("question", "deep", "SELECT count(*) FROM swarm WHERE " + "(" * 60 + "age = 1" + ")" * 60)


# Ledgers: places in the file of a small one and what stands there now; also, a file by itself.
def edits(*pairs):
    return b"".join(struct.pack("<IB", place, value) for place, value in pairs)


put("ledger", "whole", b"")
put("ledger", "magic", edits((0, 0)))
put("ledger", "god-byte-primary", edits((9, 1)))
put("ledger", "god-byte-recovery", edits((9, 2)))
put("ledger", "god-byte-all", edits((9, 255)))
put("ledger", "page-size", edits((12, 255), (13, 255)))
put("ledger", "header-zeros", edits(*[(at, 0) for at in range(64, 192)]))
put("ledger", "slots-of-ones", edits(*[(at, 255) for at in range(64, 320)]))
put("ledger", "page-of-zeros", edits(*[(4096 + at, 0) for at in range(0, 4096, 3)]))
put("ledger", "scattered", edits(*[(at * 7919, at % 256) for at in range(200)]))
put("ledger", "only-magic", b"redb\x1a\x0a\xa9\x0d\x0a" + bytes(600))

# Requests of visitors.
def request(line, *headers, body=""):
    return "\r\n".join([line, *headers, "", body])


put("http", "page", request("GET / HTTP/1.1", "Host: localhost"))
put("http", "run", request("GET /api/run HTTP/1.1", "Host: localhost"))
put("http", "bearer", request("GET /api/run HTTP/1.1", "Host: localhost", "Authorization: Bearer wrong"))
put("http", "query", request("GET /api/status?token=%41%zz%&token=b HTTP/1.1", "Host: localhost"))
put("http", "two-hosts", request("GET /metrics HTTP/1.1", "Host: localhost", "Host: evil.example"))
put("http", "post", request("POST /api/run HTTP/1.1", "Host: localhost", "Content-Length: 5", body="hello"))
put("http", "chunked", request("GET / HTTP/1.1", "Host: a", "Transfer-Encoding: chunked", body="5\r\nhello\r\n0\r\n\r\n"))
put("http", "pipelined", request("GET /healthz HTTP/1.1", "Host: a") + request("GET /api/run HTTP/1.1", "Host: a"))
put("http", "traversal", request("GET /../../etc/passwd HTTP/1.1", "Host: localhost"))
put("http", "long-path", request("GET /" + "a" * 9000 + " HTTP/1.1", "Host: localhost"))
put("http", "old", "GET / HTTP/0.9\r\n\r\n")
put("http", "noise", bytes(range(256)))
