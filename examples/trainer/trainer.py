"""A trainer in plain Python: logistic regression on a CSV whose last column is 0 or 1. Nothing of murmur is imported; see docs/TRAINER.md.

    murmur trainer check 'python3 trainer.py points.csv'
"""
import array, csv, json, math, os, struct, sys

# Frames go over stdin and stdout; whatever is printed by mistake goes to stderr.
source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)


def read():
    """One frame: its header, its whole numbers, its reals. Ends the program when the node closes the socket."""
    size = source.read(4)
    if len(size) < 4:
        sys.exit(0)
    header = json.loads(source.read(struct.unpack("<I", size)[0]))
    words, reals = array.array("I"), array.array("f")
    words.frombytes(source.read(4 * header.get("u32", 0)))
    reals.frombytes(source.read(4 * header.get("f32", 0)))
    return header, words, reals


def write(header, reals=()):
    text = json.dumps(dict(header, f32=len(reals))).encode()
    sink.write(struct.pack("<I", len(text)) + text + array.array("f", reals).tobytes())
    sink.flush()


def gradient(record, params):
    """Of the loss of one record, bias last."""
    *features, label = record
    score = sum(w * x for w, x in zip(params, features)) + params[-1]
    error = 1 / (1 + math.exp(-max(-60, min(60, score)))) - label
    return [error * x for x in features] + [error]


def train(params, steps=20, rate=1.0):
    """Any local training at all: here a few steps on all records."""
    now = list(params)
    for _ in range(steps):
        rows = [gradient(record, now) for record in records]
        now = [w - rate * sum(column) / len(rows) for w, column in zip(now, zip(*rows))]
    return [after - before for after, before in zip(now, params)]


with open(sys.argv[1]) as file:
    records = [[float(cell) for cell in line] for line in csv.reader(file) if line and line[0][0] in "-.0123456789"]
width = len(records[0]) - 1
tensors = [{"name": "weight", "shape": [width]}, {"name": "bias", "shape": [1]}]
write({"say": "hello", "protocol": 1, "answers": ["update", "rows"], "records": len(records), "tensors": tensors})
while True:
    job, wanted, params = read()
    if job["ask"] == "rows":
        write({"say": "rows"}, [value for record in wanted for value in gradient(records[record], params)])
    elif job["ask"] == "update":
        write({"say": "update"}, train(params))
    else:
        write({"say": "error", "message": "only rows and updates"})
