"""Prints the seconds that TensorBoard's own reader takes for the event files in a folder: tensorboard_twin.py FOLDER

All scalars are read as the Scalars page does it, with none left out. Needs tensorboard from PyPI.
"""
import sys
import time

from tensorboard.backend.event_processing import plugin_event_multiplexer, tag_types

begin = time.perf_counter()
multiplexer = plugin_event_multiplexer.EventMultiplexer(tensor_size_guidance={"scalars": 0})
multiplexer.AddRunsFromDirectory(sys.argv[1])
multiplexer.Reload()
points = 0
for run, tags in multiplexer.Runs().items():
    for tag in tags[tag_types.TENSORS]:
        points += len(multiplexer.Tensors(run, tag))
seconds = time.perf_counter() - begin
print(seconds)
print(f"{points} points of {len(multiplexer.Runs())} runs", file=sys.stderr)
