"""What torch's libraries need of CUDA's: names of libraries, and symbols with their versions."""

import collections
import os
import re
import subprocess


def lines_of(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines()


def libraries_in(folder):
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if ".so" in name]


def needed_by(path):
    """The libraries that a library needs, and from which of them it needs which versions of symbols."""
    names, versions, name = set(), collections.defaultdict(set), None
    for line in lines_of("objdump", "-p", path):
        if found := re.match(r"\s+NEEDED\s+(\S+)", line):
            names.add(found[1])
        elif found := re.match(r"\s+required from (\S+):", line):
            name = found[1]
        elif name and (found := re.match(r"\s+0x\w+ 0x\w+ \d+ (\S+)", line)):
            versions[name].add(found[1])
    return names, versions


def defined_by(path):
    return {line.split()[-1].partition("@")[0] for line in lines_of("nm", "-D", "--defined-only", path)}


def undefined_in(path):
    """Pairs of a symbol and its version, or an empty one."""
    fields = (line.split() for line in lines_of("nm", "-D", "--undefined-only", path))
    return {(symbol.partition("@")[0], symbol.partition("@")[2]) for kind, symbol in fields if kind == "U"}
