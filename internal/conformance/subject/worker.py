"""A worker process for `carillon conformance -- carillon executor --worker`: the handlers of the
cases, with nothing but the standard library. See docs/reference/worker-processes.md."""

import json
import queue
import sys
import threading

output = threading.Lock()
cancelled = {}  # by the id of a run
started = {}  # by the id of a run: answers to its starts


def say(**message):
    # A NaN in a result makes no JSON: the executor leaves it out and says so.
    line = json.dumps(message)
    with output:
        print(line, flush=True)


def echo(run, params):
    return params


def item(run, params):
    return run["piece"]["item"]


def fail(run, params):
    raise RuntimeError(params["message"])


def sleep(run, params):
    left = params["seconds"]
    while left > 0:
        say(type="progress", id=run["id"], percent=50, text="asleep")
        if cancelled[run["id"]].wait(min(0.2, left)):
            raise RuntimeError("it is cancelled")
        left -= 0.2


def lines(run, params):
    for i in range(params["count"]):
        say(type="log", id=run["id"], text=f"line {i + 1}")


def long(run, params):
    say(type="log", id=run["id"], text="x" * 100_000)


def large(run, params):
    text = "x" * params["bytes"]
    say(type="progress", id=run["id"], percent=50, text=text)
    threading.Event().wait(params["seconds"])
    return text


def stubborn(run, params):
    threading.Event().wait(params["seconds"])


def start(run, params):
    ids = []
    for job in params["jobs"]:
        say(type="start", id=run["id"], request={"job": job, "params": {"n": 1}})
        answer = started[run["id"]].get()
        if "error" in answer:
            raise RuntimeError(answer["error"]["message"])
        ids.append(answer["run_id"])
    return ids


def nan(run, params):
    return {"ratio": float("nan")}


handlers = {f.__name__: f for f in (echo, item, fail, sleep, lines, long, large, stubborn, start, nan)}


def work(run):
    try:
        result = handlers[run["handler"]](run, run["params"])
    except Exception as e:
        say(type="error", id=run["id"], message=str(e))
    else:
        say(type="result", id=run["id"], result=result)
    finally:
        del cancelled[run["id"]], started[run["id"]]


def main():
    names = [{"name": name, "params_schema": {"type": ["object", "null"]}} for name in handlers]
    names[0]["params_schema"] = {}
    say(type="register", slots=4, handlers=names)
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "run":
            cancelled[message["id"]] = threading.Event()
            started[message["id"]] = queue.Queue()
            threading.Thread(target=work, args=[message], daemon=True).start()
        elif message["type"] == "cancel" and message["id"] in cancelled:
            cancelled[message["id"]].set()
        elif message["type"] == "started" and message["id"] in started:
            started[message["id"]].put(message)
        elif message["type"] == "shutdown":
            return


if __name__ == "__main__":
    main()
