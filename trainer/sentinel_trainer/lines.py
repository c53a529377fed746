"""The lines on stdout: one JSON object each, with the name of what happened under `event`."""

import json
import sys


def say(event, **fields):
    # NaN and infinity are no JSON, so a value that is not finite is refused here and not at the reader.
    print(json.dumps({"event": event, **fields}, allow_nan=False, ensure_ascii=False), file=sys.stdout, flush=True)
