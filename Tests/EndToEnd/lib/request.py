"""A step with a request, and the results of a run."""

import json
import pathlib


class Ended:
    """The results of a run."""

    def __init__(self, folder, code, output):
        self.folder, self.code, self.output = folder, code, output
        events = pathlib.Path(folder, "events")
        self.events = [json.loads(line) for line in events.read_text().splitlines()] if events.exists() else []

    def finish(self, step):
        return next(e for e in self.events if e["type"] == "step.finished" and e["step"] == step)

    def file(self, name):
        return pathlib.Path(self.folder, name).read_bytes()


def request(**http):
    return {"id": "a", "http": http}
