package io.carillon.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Sends requests to a server, and repeats them while that may help. */
final class Sender {
  private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(10);
  private static final int MAX_ANSWER = 16 << 20; // bytes
  // A request is repeated for so many seconds, after pauses that double.
  static final double AGAIN_FOR = 30;
  static final double AGAIN_FIRST = 1;
  static final double AGAIN_MOST = 8;

  /** An answer. The names of headers are in lower case. */
  record Answer(int status, Map<String, String> headers, byte[] body) {}

  /** What sends a request. */
  interface Transport {
    Answer send(String method, String path, byte[] body) throws IOException, InterruptedException;
  }

  /** The time, which tests replace. */
  interface Clock {
    /** Milliseconds since 1970. */
    long now();

    /** Seconds, for how long something took. */
    double elapsed();

    void pause(double seconds) throws InterruptedException;
  }

  private static final class RealClock implements Clock {
    @Override
    public long now() {
      return System.currentTimeMillis();
    }

    @Override
    public double elapsed() {
      return System.nanoTime() / 1e9;
    }

    @Override
    public void pause(double seconds) throws InterruptedException {
      Thread.sleep(Math.round(seconds * 1000));
    }
  }

  private final String server;
  private final Transport transport;
  private final ObjectMapper mapper;
  Clock clock = new RealClock();

  Sender(String server, Transport transport, ObjectMapper mapper) {
    this.server = server;
    this.transport = transport;
    this.mapper = mapper;
  }

  /** A transport by HTTP. It follows no redirect, so that the token goes to no other server. */
  static Transport http(String server, String token, HttpClient client) {
    return (method, path, body) -> {
      HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server + path)).timeout(REQUEST_TIMEOUT)
          .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body));
      if (body != null) {
        request.header("Content-Type", "application/json");
      }
      if (!token.isEmpty()) {
        request.header("Authorization", "Bearer " + token);
      }
      // The timeout of a request ends with the headers of its answer.
      var pending = client.sendAsync(request.build(), info -> new Bounded(MAX_ANSWER));
      try {
        var response = pending.get(REQUEST_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        Map<String, String> headers = new HashMap<>();
        response.headers().map().forEach((name, values) -> headers.put(name.toLowerCase(Locale.ROOT), values.get(0)));
        return new Answer(response.statusCode(), headers, response.body());
      } catch (ExecutionException e) {
        throw e.getCause() instanceof IOException io ? io : new IOException(e.getCause());
      } catch (TimeoutException e) {
        throw new IOException("the answer did not come in " + REQUEST_TIMEOUT.toSeconds() + " s", e);
      } finally {
        pending.cancel(true);
      }
    };
  }

  String server() {
    return server;
  }

  /** Sends a request, and repeats it while that may help: it must do no harm when it is done twice. */
  JsonNode ask(String method, String path, JsonNode body, boolean cancel) {
    double begun = clock.elapsed();
    for (double next = AGAIN_FIRST;; next = Math.min(2 * next, AGAIN_MOST)) {
      double wait;
      try {
        return send(method, path, body, cancel);
      } catch (ClientException e) {
        wait = repeatAfter(e, next);
        if (wait < 0 || clock.elapsed() - begun + wait > AGAIN_FOR) {
          throw e;
        }
      }
      pause(wait);
    }
  }

  /** The seconds after which to repeat a request, at least next; negative if that does not help. */
  static double repeatAfter(ClientException e, double next) {
    boolean helps = e instanceof ClientException.Unavailable || e instanceof ClientException.TooMany && e.after() > 0;
    return helps && !Thread.currentThread().isInterrupted() ? Math.max(next, e.after()) : -1;
  }

  void pause(double seconds) {
    try {
      clock.pause(seconds);
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  private static ClientException interrupted(InterruptedException e) {
    Thread.currentThread().interrupt();
    return new ClientException.Unavailable(new ClientException.Details(0, "", "the thread was interrupted", "", 0, "", null, e));
  }

  /** Sends a request once. */
  JsonNode send(String method, String path, JsonNode body, boolean cancel) {
    Answer answer;
    try {
      answer = transport.send(method, path, body == null ? null : mapper.writeValueAsBytes(body));
    } catch (JsonProcessingException e) {
      throw ClientException.invalid("params", "have no form in JSON: " + e.getOriginalMessage());
    } catch (IOException e) {
      String why = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
      throw new ClientException.Unavailable(new ClientException.Details(0, "", "no answer from " + server + ": " + why, "", 0, "", null, e));
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
    if (answer.status() >= 300) {
      throw problem(answer, cancel);
    }
    if (answer.body().length > MAX_ANSWER) {
      throw plain(answer, "the answer of " + server + " is longer than " + MAX_ANSWER + " bytes");
    }
    JsonNode decoded = parse(answer.body());
    if (decoded == null || !decoded.isObject()) {
      throw plain(answer, server + " did not answer in JSON: is a Carillon server listening there?");
    }
    return decoded;
  }

  private static ClientException plain(Answer answer, String message) {
    return new ClientException(new ClientException.Details(answer.status(), "", message, "", 0, "", null, null));
  }

  /** The error in an answer. */
  private ClientException problem(Answer answer, boolean cancel) {
    String kind = answer.headers().getOrDefault("content-type", "").split(";", 2)[0].strip();
    JsonNode body = kind.equals("application/problem+json") ? parse(answer.body()) : null;
    boolean known = body != null && !body.path("code").asText().isEmpty();
    String message = server + " answered " + answer.status() + ": is a Carillon server listening there?";
    if (known) {
      message = body.path("detail").asText(body.path("title").asText());
    }
    String after = answer.headers().getOrDefault("retry-after", "");
    var details = new ClientException.Details(answer.status(), known ? body.path("code").asText() : "", message,
        known ? body.path("errors").path(0).path("field").asText() : "", after.matches("[0-9]{1,7}") ? Long.parseLong(after) : 0,
        known ? body.path("request_id").asText() : "", date(answer.headers().get("date")), null);
    if (details.code().equals("key_in_use")) {
      String fields = body.path("reason").path("params").path("fields").asText();
      return new ClientException.KeyInUse(details, body.path("run_id").asText(), fields.isEmpty() ? List.of() : List.of(fields.split(", ")));
    }
    return ClientException.of(details, known, cancel);
  }

  /** The error of one entry of a batch. */
  ClientException problemIn(JsonNode body) {
    byte[] text = body.toString().getBytes(StandardCharsets.UTF_8);
    return problem(new Answer(body.path("status").asInt(), Map.of("content-type", "application/problem+json"), text), false);
  }

  private static Long date(String text) {
    try {
      return text == null ? null : Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(text)).toEpochMilli();
    } catch (DateTimeException e) {
      return null;
    }
  }

  private JsonNode parse(byte[] text) {
    try {
      return mapper.readTree(text);
    } catch (IOException e) {
      return null;
    }
  }
}
