package io.carillon.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A server that expects requests, and has an answer for each. */
final class Player implements AutoCloseable {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  final Deque<JsonNode> left = new ArrayDeque<>();
  final List<String> wrong = Collections.synchronizedList(new ArrayList<>());
  private final Map<String, String> ids = new HashMap<>();
  private final String token;
  private final Instant now;
  private final ServerSocket server;
  private final Thread thread;

  Player(JsonNode exchanges, String token, Instant now) throws IOException {
    exchanges.forEach(left::add);
    this.token = token;
    this.now = now;
    server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    thread = new Thread(this::serve);
    thread.start();
  }

  String address() {
    return "http://127.0.0.1:" + server.getLocalPort();
  }

  @Override
  public void close() throws IOException, InterruptedException {
    server.close();
    thread.join();
  }

  private void serve() {
    while (!server.isClosed()) {
      try (Socket socket = server.accept()) {
        play(socket);
      } catch (IOException e) {
        if (!server.isClosed()) {
          throw new UncheckedIOException(e);
        }
      }
    }
  }

  private void play(Socket socket) throws IOException {
    InputStream in = new BufferedInputStream(socket.getInputStream());
    String[] first = line(in).split(" ");
    Map<String, String> headers = new HashMap<>();
    for (String line = line(in); !line.isEmpty(); line = line(in)) {
      String[] parts = line.split(": ", 2);
      headers.put(parts[0].toLowerCase(java.util.Locale.ROOT), parts[1]);
    }
    String text = new String(in.readNBytes(Integer.parseInt(headers.getOrDefault("content-length", "0"))), StandardCharsets.UTF_8);
    JsonNode exchange = left.poll();
    if (exchange == null) {
      wrong.add(first[0] + " " + first[1] + " came, and nothing more was expected");
      return;
    }
    check(first[0], first[1], headers, text, exchange.path("request"));
    JsonNode answer = exchange.path("answer");
    if (answer.path("cut").asBoolean()) {
      return;
    }
    byte[] body = (answer.has("body") ? answer.path("body").toString() : answer.path("text").asText()).getBytes(StandardCharsets.UTF_8);
    StringBuilder head = new StringBuilder("HTTP/1.1 " + answer.path("status").asInt() + " Status\r\nConnection: close\r\n");
    head.append("Content-Length: ").append(body.length).append("\r\n");
    if (!answer.path("headers").has("Content-Type")) {
      head.append("Content-Type: application/json\r\n");
    }
    answer.path("headers").properties().forEach(h -> head.append(h.getKey()).append(": ").append(h.getValue().asText()).append("\r\n"));
    socket.getOutputStream().write(head.append("\r\n").toString().getBytes(StandardCharsets.UTF_8));
    socket.getOutputStream().write(body);
    socket.getOutputStream().flush();
  }

  private static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int b = in.read(); b >= 0 && b != '\n'; b = in.read()) {
      line.append((char) b);
    }
    return line.toString().strip();
  }

  private void check(String method, String target, Map<String, String> headers, String text, JsonNode want) throws IOException {
    String[] url = target.split("[?]", 2);
    ObjectNode query = MAPPER.createObjectNode();
    for (String field : url.length < 2 ? new String[0] : url[1].split("&")) {
      String[] parts = field.split("=", 2);
      query.put(parts[0], URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
    }
    JsonNode body = text.isEmpty() ? MAPPER.missingNode() : MAPPER.readTree(text);
    JsonNode expected = want.path("body").deepCopy();
    setIds(expected, body);
    List<Object> got = List.of(method, url[0], query, body, headers.getOrDefault("authorization", ""), headers.getOrDefault("content-type", ""));
    List<Object> wanted = List.of(want.path("method").asText(), want.path("path").asText(), want.has("query") ? want.path("query") : MAPPER.createObjectNode(),
        expected, "Bearer " + token, text.isEmpty() ? "" : "application/json");
    if (!got.equals(wanted)) {
      wrong.add("the request is " + got + ", not " + wanted);
    }
  }

  /** Replaces the placeholders for ids in a body, and in the entries of a batch. */
  private void setIds(JsonNode expected, JsonNode body) {
    if (expected.has("run_id")) {
      ((ObjectNode) expected).put("run_id", id(expected.path("run_id").asText(), body.path("run_id").asText()));
    }
    for (int i = 0; i < expected.path("runs").size(); i++) {
      setIds(expected.path("runs").path(i).path("run"), body.path("runs").path(i).path("run"));
    }
  }

  /** The id for which a placeholder stands: that of the first request that has it. */
  private String id(String placeholder, String sent) {
    return ids.computeIfAbsent(placeholder, p -> {
      Instant at = p.contains(" at ") ? Instant.parse(p.split(" at ")[1]) : now;
      if (!sent.matches("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
          || Long.parseLong(sent.substring(0, 8) + sent.substring(9, 13), 16) != at.toEpochMilli()) {
        wrong.add("run_id " + sent + " is no UUIDv7 of " + at);
      }
      return sent;
    });
  }
}
