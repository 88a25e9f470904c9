"""A worker process with the handlers of the executor in main.go, with nothing but the standard
library. See docs/reference/worker-processes.md."""

import json
import os
import sys
import threading
import time

output = threading.Lock()


def say(**message):
    line = json.dumps(message) + "\n"
    with output:
        sys.stdout.write(line)
        sys.stdout.flush()


def journal(run):
    params = run["params"]
    line = f"{run['run_id']} {run['delivery']}\n"
    with open(os.environ["JOURNAL"], "ab", buffering=0) as file:
        file.write(line.encode())
    say(type="log", id=run["id"], text="journal written")
    time.sleep(params["seconds"])
    if run["attempt"] < params["attempts"]:
        say(type="error", id=run["id"], message="this attempt has to fail")
    else:
        say(type="result", id=run["id"], result=None)


def main():
    slots = int(os.environ.get("CARILLON_SLOTS", "32"))
    say(type="register", slots=slots, handlers=[{"name": "noop"}, {"name": "journal"}])
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "shutdown":
            return
        if message["type"] != "run":
            continue
        if message["handler"] == "noop":
            say(type="result", id=message["id"], result=None)
        else:
            threading.Thread(target=journal, args=[message], daemon=True).start()


if __name__ == "__main__":
    main()
