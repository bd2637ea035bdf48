"""A loader that only pretends: sizes without torch. For the programs of tests, which import it."""

import batchscope


class Sizes(batchscope.Loader):
    def __init__(self, run, batch, examples):
        self._run, self._batch, self._accumulate, self.examples, self.drop_last = run, batch, 1, examples, False
        self.epoch = self.seen = self.seen_in_epoch = self.last_size = self._promised = 0
        self._stepped, self._window, self._source = (0, 0, 0), (batch, 1), None
        self.last_window = lambda: None
        run._loader = self
        run._describe(can=("batch", "accumulate", "rate"), examples=examples, batch=batch, accumulate=1)

    def fetch(self):
        """The sizes of the next step's batches."""
        self._run._before_fetch()
        sizes = self._next_sizes()
        if not sizes:
            self._end_epoch()
            sizes = self._next_sizes()
        self._took(sizes)
        return sizes
