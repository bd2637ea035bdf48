"""Writes the folders wandb and trackio of this folder byte by byte, as the sources of the two tools describe them.

Needs Python only: W&B's log is LevelDB's format (wandb/sdk/internal/datastore.py) with messages of
wandb/proto/wandb_internal.proto; trackio's tables are those of trackio/sqlite_storage.py. No text or code of them is
used. Run it in this folder:  python make_encoded.py
"""
import json
import pathlib
import shutil
import sqlite3
import struct
import zlib

here = pathlib.Path(__file__).parent
START = 1_700_000_000


def losses():
    return [1.0 / (step + 1) for step in range(20)]


# --- protocol buffers ---

def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    data = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(data)) + data


def item(key, value, nested=False):
    names = b"".join(text(2, part) for part in key) if nested else text(1, key)
    return names + text(16, json.dumps(value))


def timestamp(seconds):
    whole = int(seconds)
    return number(1, whole) + number(2, round((seconds - whole) * 1e9))


# --- W&B ---

class Log:
    def __init__(self, path):
        self.data = struct.pack("<4sHB", b":W&B", 0xBEE1, 0)
        self.path = path
        self.count = 0

    def write(self, field, message):
        self.count += 1
        record = number(1, self.count) + text(field, message)
        kind = b"\x01"  # a whole record; all of it fits into the first block
        self.data += struct.pack("<IH", zlib.crc32(kind + record), len(record)) + kind + record
        assert len(self.data) < 32768

    def close(self):
        self.path.write_bytes(self.data)


def row(step, seconds, values):
    items = dict(values, _step=step, _runtime=seconds, _timestamp=START + seconds)
    return b"".join(text(1, item(key, value)) for key, value in items.items()) + text(2, number(1, step))


def wandb():
    folder = here / "wandb"
    shutil.rmtree(folder, ignore_errors=True)
    run = folder / "offline-run-20231114_221320-abc123xy"
    (run / "files").mkdir(parents=True)
    log = Log(run / "run-abc123xy.wandb")
    log.write(21, b"")
    config = {"lr": 0.003, "batch_size": 16, "optimizer": "adam", "model": {"depth": 3, "width": [8, 16]}}
    log.write(17, text(1, "abc123xy") + text(3, "digits")
              + text(4, b"".join(text(1, item(key, value)) for key, value in config.items())
                     + text(1, item("_wandb", {"t": {"1": [1]}})))
              + text(6, "night") + text(8, "steady-sea-7") + text(9, "a note\nof two lines") + text(10, "baseline")
              + text(10, "gpu") + text(17, timestamp(START)))
    log.write(12, text(2, "val/*") + text(4, "optimizer_step"))
    log.write(5, text(1, item(["model", "depth"], 4, nested=True)))  # changed while it ran
    for step, loss in enumerate(losses()):
        log.write(2, row(step, 0.5 * step, {"train/loss": loss, "optimizer_step": 10 * step}))
        if step in (4, 9):
            sample = {"gpu.0.memoryAllocatedBytes": 1000.0 * step, "cpu": 50.0}
            log.write(7, text(2, timestamp(START + 0.5 * step + 0.1))
                      + b"".join(text(3, text(1, key) + text(16, json.dumps(value))) for key, value in sample.items()))
    log.write(2, row(20, 10, {"val/acc": 0.75, "optimizer_step": 190, "odd": float("nan"),
                              "image": {"_type": "image-file", "size": 3}, "nested": {"f1": 0.5}}))
    log.write(3, text(1, item("val/acc", 0.75)) + text(1, item("test_score", 0.7)))
    log.write(13, number(1, 1) + text(3, "a line of the log\n"))
    log.write(18, number(2, 12))
    log.close()
    (run / "files" / "config.yaml").write_text(
        "_wandb:\n    value:\n        cli_version: 0.19.1\nlr:\n    value: 0.003\nonly_here:\n    desc: null\n"
        "    value:\n        - 1\n        - 'it''s'\n")
    (run / "files" / "wandb-summary.json").write_text(json.dumps(
        {"val/acc": 0.75, "test_score": 0.7, "_step": 20, "_runtime": 12, "_wandb": {"runtime": 12}}))
    (run / "files" / "wandb-metadata.json").write_text(json.dumps(
        {"os": "Linux-6.1-x86_64", "python": "CPython 3.11.2", "codePath": "train.py", "gpu": "NVIDIA L40S",
         "gpu_count": 2, "cpu_count_logical": 16, "git": {"remote": "none", "commit": "0123abcd"}}))
    (run / "files" / "output.log").write_text("epoch 1\nepoch 2\ndone\n")
    # One that ended with an error, and of which no log was kept but what the server shows.
    failed = folder / "run-20231114_230000-broken"
    failed.mkdir()
    log = Log(failed / "run-broken.wandb")
    log.write(17, text(1, "broken") + text(17, timestamp(START + 3000)))
    log.write(2, row(0, 1, {"train_loss": 3.5}))
    log.write(18, number(1, -9 & (1 << 64) - 1))
    log.close()
    shown = folder / "run-20231114_235959-shown" / "files"
    shown.mkdir(parents=True)
    (shown / "config.yaml").write_text("wandb_version: 1\n\nlearning_rate:\n  desc: null\n  value: 0.01\n")
    (shown / "wandb-summary.json").write_text('{"loss": 0.25, "_step": 99, "text": "x"}')


# --- trackio ---

TABLES = """
CREATE TABLE metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, timestamp TEXT NOT NULL,
                      run_name TEXT NOT NULL, step INTEGER NOT NULL, metrics TEXT NOT NULL);
CREATE TABLE configs (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, run_name TEXT NOT NULL,
                      config TEXT NOT NULL, created_at TEXT NOT NULL, UNIQUE(run_id));
CREATE TABLE system_metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, timestamp TEXT NOT NULL,
                             run_name TEXT NOT NULL, metrics TEXT NOT NULL);
"""


def trackio():
    folder = here / "trackio"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    database = sqlite3.connect(":memory:")
    database.executescript(TABLES)

    def when(seconds):
        return f"2023-11-14T22:13:{20 + int(seconds):02}.{round(seconds % 1 * 1e6):06}+00:00"

    def packed(values):
        return json.dumps(values).encode()  # bytes, as orjson makes them

    for step, loss in enumerate(losses()):
        for run in ("id-1", "id-2"):  # two runs of one name
            values = {"train/loss": loss if run == "id-1" else 2 * loss}
            if step == 19:
                values.update(val_acc=0.75, odd="NaN", table={"_type": "trackio.table"})
            database.execute("INSERT INTO metrics (timestamp, run_id, run_name, step, metrics) VALUES (?, ?, ?, ?, ?)",
                             (when(0.25 * step), run, "steady", step, packed(values)))
    for seconds in (0.6, 30):
        database.execute("INSERT INTO system_metrics (timestamp, run_id, run_name, metrics) VALUES (?, ?, ?, ?)",
                         (when(seconds), "id-1", "steady", packed({"gpu/0/utilization": 90 + seconds})))
    database.execute("INSERT INTO configs (run_id, run_name, config, created_at) VALUES (?, ?, ?, ?)",
                     ("id-1", "steady", packed({"batch_size": 16, "model": {"depth": 3}, "_Username": "me",
                                                "_Group": "night"}), when(0)))
    (folder / "trackio.sql").write_text("\n".join(database.iterdump()) + "\n")


wandb()
trackio()
