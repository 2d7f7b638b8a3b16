"""Reference values for tests/parquet.rs, by pyarrow (24.0 was used; any will do).

    python3 parquet_reference.py ../testdata

Writes patients.parquet, with a codec for each column and nulls, and patients.csv.gz: the same table twice.
"""
import datetime as dt, decimal, gzip, sys, csv
import pyarrow as pa, pyarrow.parquet as pq
out = sys.argv[1]
n = 1500  # two blocks, in two row groups
def null(i, v): return None if i % 7 == 3 else v
age = [null(i, 20 + (i * 37) % 700 / 10) for i in range(n)]
visits = [i * i % 11 for i in range(n)]
sex = [null(i + 1, "fm"[i * 5 % 3 % 2]) for i in range(n)]
note = ['"quoted", %d; ä' % i if i % 50 == 0 else "n%d" % (i % 9) for i in range(n)]
born = [null(i + 2, dt.date(1931, 1, 1) + dt.timedelta(days=(i * 101) % 30000)) for i in range(n)]
seen = [dt.datetime(1969, 12, 30) + dt.timedelta(seconds=i * 86399 + i % 60) for i in range(n)]
fee = [null(i + 3, decimal.Decimal((i * 7919) % 100000 - 50000) / 100) for i in range(n)]
smoker = [i % 3 == 0 for i in range(n)]
code = [(i * 2654435761) % 2**32 for i in range(n)]
sick = ["yes" if i * 13 % 5 < 2 else "no" for i in range(n)]
table = pa.table({
    "age": pa.array(age, pa.float64()), "visits": pa.array(visits, pa.int8()), "sex": pa.array(sex).dictionary_encode(),
    "note": pa.array(note), "born": pa.array(born, pa.date32()), "seen": pa.array(seen, pa.timestamp("ns")),
    "fee": pa.array([None if v is None else v.quantize(decimal.Decimal("0.01")) for v in fee], pa.decimal128(9, 2)),
    "smoker": pa.array(smoker), "code": pa.array(code, pa.uint32()), "sick": pa.array(sick)})
pq.write_table(table, out + "/patients.parquet", row_group_size=1100,
    compression=dict(zip(table.column_names, ["snappy", "zstd", "gzip", "zstd", "lz4", "none", "snappy", "zstd", "none", "gzip"])))
with gzip.open(out + "/patients.csv.gz", "wt", newline="", encoding="utf-8") as f:
    w = csv.writer(f, lineterminator="\n"); w.writerow(table.column_names)
    cell = lambda v: "" if v is None else str(int(v)) if isinstance(v, bool) else v.isoformat() if isinstance(v, (dt.date, dt.datetime)) else ("%g" % v if isinstance(v, float) else str(v))
    for i in range(n):
        row = [age[i], visits[i], sex[i], note[i], born[i], seen[i].replace(microsecond=0), table["fee"][i].as_py(), smoker[i], code[i], sick[i]]
        w.writerow([cell(v) for v in row])
