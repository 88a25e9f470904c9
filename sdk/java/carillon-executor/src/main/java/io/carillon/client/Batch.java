package io.carillon.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Runs that are asked for by one request. */
final class Batch {
  private final Client client;
  private final List<RunRequest> requests;
  private final ObjectNode[] entries;
  private final RunResult[] results;

  Batch(Client client, List<RunRequest> requests) {
    this.client = client;
    this.requests = requests;
    this.entries = new ObjectNode[requests.size()];
    this.results = new RunResult[requests.size()];
  }

  /** Asks for all runs, again for those that no server could make, and returns what became of each. */
  List<RunResult> run() {
    List<Integer> open = new ArrayList<>();
    for (int i = 0; i < entries.length; i++) {
      RunRequest r = requests.get(i);
      try {
        Client.pathOf(r.job());
        entries[i] = JsonNodeFactory.instance.objectNode().put("job", r.job());
        entries[i].set("run", client.wish(r.params(), r.options()));
        open.add(i);
      } catch (ClientException e) {
        results[i] = new RunResult(null, e);
      }
    }
    open = accept(open);
    Sender sender = client.sender;
    double begun = sender.clock.elapsed();
    try {
      for (double next = Sender.AGAIN_FIRST; !open.isEmpty() && sender.clock.elapsed() - begun + next <= Sender.AGAIN_FOR;
          next = Math.min(2 * next, Sender.AGAIN_MOST)) {
        sender.pause(next);
        open = accept(open);
      }
    } catch (ClientException e) {
      // The errors from before stand.
    }
    for (int i = 0; i < results.length; i++) {
      if (results[i].error() instanceof ClientException.InvalidParams e && e.status() != 0 && e.field().equals("run_id")) {
        results[i] = one(requests.get(i));
      }
    }
    return Arrays.asList(results);
  }

  /** Asks for one run, with the time of the server. */
  private RunResult one(RunRequest r) {
    try {
      return new RunResult(client.run(r.job(), r.params(), r.options()), null);
    } catch (ClientException e) {
      return new RunResult(null, e);
    }
  }

  /** Asks for the runs that are open, and returns those to ask for again. */
  private List<Integer> accept(List<Integer> open) {
    List<Integer> away = new ArrayList<>();
    if (open.isEmpty()) {
      return away;
    }
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    var runs = body.putArray("runs");
    open.forEach(i -> runs.add(entries[i]));
    JsonNode items = client.sender.ask("POST", "/api/v1/runs/batch", body, false).path("items");
    if (items.size() != open.size()) {
      throw new ClientException(ClientException.Details.of(client.sender.server() + " did not answer for each run"));
    }
    for (int n = 0; n < items.size(); n++) {
      int i = open.get(n);
      JsonNode item = items.get(n);
      results[i] = item.has("accepted") ? new RunResult(new Run(item.path("accepted"), client), null)
          : new RunResult(null, client.sender.problemIn(item.path("problem")));
      if (results[i].error() instanceof ClientException.Unavailable) {
        away.add(i);
      }
    }
    return away;
  }
}
