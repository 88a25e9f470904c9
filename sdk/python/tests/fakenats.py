"""As much of a NATS server as the tests of the connection need."""

import asyncio
import json


class Nats:
    """Keeps what clients publish, stores it like JetStream, and answers pings."""

    def __init__(self):
        self.subjects = {}  # of subscriptions, by their id
        self.published = []  # subject, reply subject and data
        self.verbs = []  # of all that clients sent
        self.on_unsubscribe = lambda sid: None
        self.clients = []

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = "nats://127.0.0.1:%d" % self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_):
        self._server.close()
        for writer in self.clients:
            writer.close()

    def send(self, text):
        self.clients[-1].write(text.encode())

    def deliver(self, subject, reply, headers, data):
        """Send a message to the client that has subscribed to its subject."""
        sid = next(sid for sid, s in self.subjects.items() if s == subject or s.endswith("*") and subject.startswith(s[:-1]))
        head = "NATS/1.0\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items()) + "\r\n"
        self.send(f"HMSG {subject} {sid} {reply + ' ' if reply else ''}{len(head)} {len(head) + len(data)}\r\n{head}{data}\r\n")

    async def _serve(self, reader, writer):
        self.clients.append(writer)
        info = {"server_id": "fake", "version": "2.10.0", "proto": 1, "headers": True, "max_payload": 1 << 20, "client_id": 1}
        self.send(f"INFO {json.dumps(info)}\r\n")
        while line := (await reader.readline()).decode().strip():
            verb, *words = line.split()
            self.verbs.append(verb)
            if verb == "PING":
                self.send("PONG\r\n")
            elif verb == "SUB":
                self.subjects[words[-1]] = words[0]
            elif verb == "UNSUB":
                self.on_unsubscribe(words[0])
                self.subjects.pop(words[0], None)
            elif verb in ("PUB", "HPUB"):
                body = (await reader.readexactly(int(words[-1]) + 2))[:-2]
                reply = words[1] if len(words) == (3 if verb == "PUB" else 4) else ""
                self.published.append((words[0], reply, body[int(words[-2]):] if verb == "HPUB" else body))
                if reply and not words[0].startswith("$JS.API."):
                    self.deliver(reply, "", {}, '{"stream":"S","seq":1}')
