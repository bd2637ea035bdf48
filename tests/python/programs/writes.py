"""Writes, replaces, moves and removes files in its folder in many ways, and looks whether it sees what it did.

usage: writes.py [torch]     in a folder made by before()
"""

import glob
import json
import logging
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile


def before(folder):
    """What lies there before."""
    folder = pathlib.Path(folder)
    (folder / "old" / "deep").mkdir(parents=True)
    (folder / "old" / "deep" / "kept.txt").write_text("kept")
    (folder / "old" / "best.txt").write_text("best")
    (folder / "log.txt").write_text("line 1\n")
    (folder / "config.json").write_text('{"a": 1}')
    (folder / "link.txt").symlink_to("log.txt")
    with sqlite3.connect(folder / "runs.db") as database:
        database.execute("create table runs (name)")
    database.close()


def text(name):
    with open(name) as file:
        return file.read()


def check(condition, what):
    if not condition:
        sys.exit(f"it does not see {what}")


def write_files():
    with open("new.txt", "w") as file:
        file.write("new")
    check(text("new.txt") == "new" and os.path.getsize("new.txt") == 3, "what it wrote")
    with open("log.txt", "a") as file:
        file.write("line 2\n")
    check(pathlib.Path("log.txt").read_text() == "line 1\nline 2\n", "a line at the end of a file")
    pathlib.Path("config.json").write_text(json.dumps({"a": 2}))
    check(json.loads(pathlib.Path("config.json").read_bytes()) == {"a": 2}, "a file that it replaced")
    with open("old/best.txt", "r+") as file:
        file.seek(2)
        file.write("ast")
    check(text("old/best.txt") == "beast"[:2] + "ast", "a change within a file")
    with open("link.txt", "a") as file:
        file.write("line 3\n")
    check(text("log.txt").endswith("line 3\n"), "what it wrote through a link")
    try:
        with open("config.json", "x"):
            sys.exit("a file that is there was made anew")
    except FileExistsError:
        pass
    try:
        with open("nowhere/file", "w"):
            sys.exit("a file was written into a folder that is not there")
    except FileNotFoundError:
        pass
    descriptor = os.open("raw.bin", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    os.write(descriptor, b"raw")
    os.close(descriptor)
    check(os.path.exists("raw.bin"), "a file that it opened by its descriptor")
    handler = logging.FileHandler("training.log")
    handler.emit(logging.makeLogRecord({"msg": "begins"}))
    handler.close()
    check(os.path.isfile("training.log"), "a log")


def change_folders():
    for step in range(1, 4):
        os.makedirs(f"out/checkpoint-{step}", exist_ok=True)
        pathlib.Path(f"out/checkpoint-{step}/weights.bin").write_bytes(bytes(step))
    check(sorted(glob.glob("out/checkpoint-*")) == [f"out/checkpoint-{step}" for step in (1, 2, 3)], "its folders")
    shutil.rmtree("out/checkpoint-1")
    check(sorted(os.listdir("out")) == ["checkpoint-2", "checkpoint-3"], "that it removed a folder")
    os.rename("out/checkpoint-3", "out/best")
    check(os.path.getsize("out/best/weights.bin") == 3 and not os.path.exists("out/checkpoint-3"), "a folder it moved")
    os.replace("new.txt", "old/best.txt")
    check(text("old/best.txt") == "new" and not os.path.exists("new.txt"), "a file that it moved")
    shutil.move("config.json", "old/config.json")
    check(os.path.exists("old/config.json") and not os.path.exists("config.json"), "a file of the user that it moved")
    shutil.copytree("old", "copy")
    check(text("copy/deep/kept.txt") == "kept" and text("copy/best.txt") == "new", "a copied folder")
    shutil.rmtree("old")
    check(not os.path.exists("old/deep/kept.txt") and "old" not in os.listdir(), "that it removed a folder of the user")
    os.makedirs("old")
    check(os.listdir("old") == [], "an empty folder in the place of one that it removed")
    os.remove("log.txt")
    check(not os.path.exists("log.txt") and "log.txt" not in [entry.name for entry in os.scandir()], "a removed file")
    check(not pathlib.Path("log.txt").exists() and not list(pathlib.Path().glob("log*")), "a removed file, by its path")
    check([name for _, _, names in os.walk("out") for name in names] == ["weights.bin"] * 2, "its tree")
    with tempfile.NamedTemporaryFile("w", dir=".", delete=False) as file:
        file.write("temporary")
    os.replace(file.name, "whole.txt")
    check(text("whole.txt") == "temporary", "a file that was written beside it first")


def use_libraries():
    with sqlite3.connect("runs.db") as database:
        database.execute("insert into runs values ('one')")
    database.close()
    database = sqlite3.connect("runs.db")
    check(database.execute("select count(*) from runs").fetchone() == (1,), "its row")
    database.close()


def use_torch():
    import torch
    from safetensors.torch import load_file, save_file

    torch.save({"weight": torch.ones(3)}, "model.pt")
    check(torch.equal(torch.load("model.pt")["weight"], torch.ones(3)), "its weights")
    torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), "scripted.pt")
    save_file({"weight": torch.ones(3)}, "model.safetensors")
    check(torch.equal(load_file("model.safetensors")["weight"], torch.ones(3)), "its safe weights")


def main():
    write_files()
    change_folders()
    use_libraries()
    if "torch" in sys.argv:
        use_torch()
    if "child" not in sys.argv:  # another program of Python is held back, too
        subprocess.run([sys.executable, "-c", "open('of_child.txt', 'w').write('child')"], check=True)
        check(text("of_child.txt") == "child", "what its child wrote")
    print(os.environ.get("WANDB_MODE"), os.path.exists(os.path.expanduser("~")))


if __name__ == "__main__":
    main()
