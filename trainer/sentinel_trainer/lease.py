"""One trainer for a folder at a time, and none that has been followed by another.

A trainer holds a lock of the folder while it lives. Whoever may follow one that stands still says a higher attempt; the
trainer before it then gives nothing its name any more, however late it wakes up.
"""

import fcntl
import os
import time
from contextlib import contextmanager
from pathlib import Path

from sentinel_trainer.disk import rename_over, replace_file
from sentinel_trainer.failures import TrainerFailure
from sentinel_trainer.read_json import read_json

PUBLISH_SECONDS_MAX = 60


class Lease:
    """`attempt` None: the next number, unless another trainer of the folder is alive."""

    def __init__(self, folder, attempt=None):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.life = os.open(self.folder / "trainer.lock", os.O_RDWR | os.O_CREAT, 0o600)
        # Whether no other trainer of the folder is alive, stopped or not.
        self.is_alone = is_alone = self.try_lock(self.life)
        with self.gate():
            last = self.last_attempt()
            if not is_alone and (attempt is None or attempt <= last):
                raise TrainerFailure("OUT_TAKEN", f"Another trainer works in {self.folder}.")
            if attempt is not None and attempt <= last:
                raise TrainerFailure("LEASE_LOST", f"Attempt {attempt} is over: attempt {last} works in {self.folder}.")
            self.attempt = last + 1 if attempt is None else attempt
            replace_file(self.folder / "attempt.json", b'{"attempt": %d}' % self.attempt)

    def rename(self, source, target):
        """Gives a folder its name, in the place of one that has it, if no later attempt has begun."""
        with self.publishing():
            rename_over(source, target)

    @contextmanager
    def publishing(self):
        """Names are given and taken away in here. Fails with LEASE_LOST where a later attempt has begun; none begins meanwhile."""
        with self.gate():
            last = self.last_attempt()
            if last != self.attempt:
                raise TrainerFailure("LEASE_LOST", f"Attempt {last} has taken over; attempt {self.attempt} writes nothing more.")
            yield

    def last_attempt(self):
        return (read_json(self.folder / "attempt.json") or {"attempt": 0})["attempt"]

    @contextmanager
    def gate(self):
        """One process at a time: between a look at the attempt and what follows from it nobody else begins one."""
        gate = os.open(self.folder / "publish.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            until = time.monotonic() + PUBLISH_SECONDS_MAX
            while not self.try_lock(gate):
                if time.monotonic() > until:
                    raise TrainerFailure("OUT_TAKEN", f"Another trainer stands still while it writes to {self.folder}; end it.")
                time.sleep(0.05)
            yield
        finally:
            os.close(gate)

    @staticmethod
    def try_lock(handle):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def close(self):
        os.close(self.life)
