package io.carillon.client;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;

/** The API of a server. It can be used from several threads. */
public final class Client {
  /** Where {@code carillon dev} listens. */
  public static final String DEFAULT_SERVER = "http://127.0.0.1:8822";

  // How often a run is looked up while somebody waits for its end, in seconds, after pauses that double.
  private static final double WAIT_FIRST = 0.25;
  private static final double WAIT_MOST = 5;
  /** The seconds that the history may need to show a run. */
  private static final double NEW_FOR = 30;

  private static final SecureRandom RANDOM = new SecureRandom();
  private static final ObjectMapper MAPPER = JsonMapper.builder().addModule(new JavaTimeModule()).addModule(new Jdk8Module())
      .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS).disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

  private final ObjectMapper mapper;
  final Sender sender;

  /** A client of a server with an API token; "" is none. Nothing is sent yet. */
  public Client(String server, String token) {
    this(server, token, null, null);
  }

  /**
   * The same with what sends requests and what writes JSON.
   *
   * @param http such as one with certificates of your own. It must not follow redirects. null is the default
   * @param mapper for parameters and results. null is the default
   */
  public Client(String server, String token, HttpClient http, ObjectMapper mapper) {
    this.mapper = mapper == null ? MAPPER : mapper;
    String address = addressOf(server);
    if (http != null && http.followRedirects() != HttpClient.Redirect.NEVER) {
      throw ClientException.invalid("http", "must not follow redirects: the token would go to other servers");
    }
    HttpClient client = http != null ? http
        : HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(10)).build();
    this.sender = new Sender(address, Sender.http(address, token == null ? "" : token, client), this.mapper);
  }

  Client(Sender.Transport transport) {
    this.mapper = MAPPER;
    this.sender = new Sender("http://memory", transport, MAPPER);
  }

  /** A client for the server in CARILLON_SERVER with the token in CARILLON_TOKEN. */
  public static Client fromEnvironment() {
    return new Client(System.getenv("CARILLON_SERVER"), System.getenv("CARILLON_TOKEN"));
  }

  private static String addressOf(String server) {
    String address = server == null || server.isEmpty() ? DEFAULT_SERVER : server;
    address = address.contains("://") ? address : "http://" + address;
    if (!address.matches("https?://[^/\\s]+(/\\S*)?") || URI.create(address).getAuthority() == null) {
      throw ClientException.invalid("server", "must be an address such as https://carillon.example.com");
    }
    return address.replaceFirst("/$", "");
  }

  /** Makes a run of a job now, as {@link #run(String, Object, RunOptions)} does. */
  public Run run(String job, Object params) {
    return run(job, params, RunOptions.now());
  }

  /**
   * Makes a run of a job, {@code group/name}. It is stored when this returns, and goes on without this program.
   *
   * @param params anything that Jackson can write, instead of the parameters of the job; null keeps those
   */
  public Run run(String job, Object params, RunOptions options) {
    String path = pathOf(job) + "/run";
    ObjectNode wish = wish(params, options);
    try {
      return new Run(sender.ask("POST", path, wish, false), this);
    } catch (ClientException.InvalidParams e) {
      if (!e.field().equals("run_id") || e.date() == null) {
        throw e;
      }
      wish.put("run_id", newRunId(e.date())); // the clock of this machine is wrong
      return new Run(sender.ask("POST", path, wish, false), this);
    }
  }

  /** The body of a request for a run, with a random id. */
  ObjectNode wish(Object params, RunOptions options) {
    ObjectNode wish = mapper.createObjectNode();
    if (params != null) {
      wish.set("params", mapper.valueToTree(params));
    }
    options.write(wish);
    return wish.put("run_id", newRunId(sender.clock.now()));
  }

  /**
   * Makes up to 500 runs with one request, and returns what became of each, in that order.
   *
   * @throws ClientException no server answered for any of them
   */
  public List<RunResult> runMany(List<RunRequest> requests) {
    return new Batch(this, requests).run();
  }

  /** What the run with an id is like now. */
  public State status(String id) {
    return new State(sender.ask("GET", pathOfRun(id), null, false), mapper);
  }

  /**
   * Waits for the end of the run with an id. It goes on while servers are away.
   *
   * @throws ClientException.WaitTimeout it has not ended after the timeout, and goes on
   */
  public State join(String id, Duration timeout) {
    double begun = sender.clock.elapsed();
    double limit = timeout.toMillis() / 1000.0;
    for (double next = WAIT_FIRST;; next = Math.min(2 * next, WAIT_MOST)) {
      double wait = next;
      try {
        State state = new State(sender.send("GET", pathOfRun(id), null, false), mapper);
        if (state.status().ended()) {
          return state;
        }
      } catch (ClientException e) {
        double again = Sender.repeatAfter(e, next);
        if (again < 0 && !(e instanceof ClientException.NotFound && sender.clock.elapsed() - begun < NEW_FOR)) {
          throw e;
        }
        wait = Math.max(again, next);
      }
      double left = limit - (sender.clock.elapsed() - begun);
      if (left <= 0) {
        throw new ClientException.WaitTimeout(ClientException.Details.of("run " + id + " has not ended after " + limit + " s"));
      }
      sender.pause(Math.min(wait, left));
    }
  }

  /** Cancels the run with an id, which waits or runs. */
  public void cancel(String id) {
    cancel(id, "", "");
  }

  /** Cancels the run with an id, which waits or runs. The reason is for the audit log. */
  public void cancel(String id, String reason) {
    cancel(id, "", reason);
  }

  /**
   * Cancels the run of a job that has a key. The reason is for the audit log, and may be "".
   *
   * @throws ClientException.NotFound no run has it
   */
  public void cancelKey(String job, String key, String reason) {
    ObjectNode body = mapper.createObjectNode().put("key", key);
    if (reason != null && !reason.isEmpty()) {
      body.put("reason", reason);
    }
    sender.ask("POST", pathOf(job) + "/cancel", body, true);
  }

  /** Cancels a run. With its job, that works before the history has the run. */
  void cancel(String id, String job, String reason) {
    ObjectNode body = mapper.createObjectNode();
    if (!job.isEmpty()) {
      body.put("job", job);
    }
    if (reason != null && !reason.isEmpty()) {
      body.put("reason", reason);
    }
    sender.ask("POST", pathOfRun(id) + "/cancel", body, true);
  }

  /** Lists the runs of a job that wait for their time, the latest first. Pages are asked for as they are needed. */
  public Iterable<Run> waiting(String job) {
    pathOf(job);
    return () -> new Pages("/api/v1/runs?waiting=true&job=" + encode(job));
  }

  /** The runs of pages. */
  private final class Pages implements Iterator<Run> {
    private final String path;
    private Iterator<JsonNode> page;
    private String cursor = "";

    Pages(String path) {
      this.path = path;
    }

    @Override
    public boolean hasNext() {
      while (page == null || !page.hasNext() && !cursor.isEmpty()) {
        JsonNode answer = sender.ask("GET", cursor.isEmpty() ? path : path + "&cursor=" + encode(cursor), null, false);
        page = answer.path("items").elements();
        cursor = answer.path("next").asText();
      }
      return page.hasNext();
    }

    @Override
    public Run next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      return new Run(page.next(), Client.this);
    }
  }

  /** Where the API has a job. */
  static String pathOf(String job) {
    String[] parts = job.split("/", -1);
    if (parts.length != 2 || parts[0].isEmpty() || parts[1].isEmpty()) {
      throw ClientException.invalid("job", "must be group/name, such as mail/welcome");
    }
    return "/api/v1/jobs/" + encode(parts[0]) + "/" + encode(parts[1]);
  }

  private static String pathOfRun(String id) {
    return "/api/v1/runs/" + encode(id);
  }

  private static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /** A random UUIDv7 of an instant, in milliseconds. */
  private static String newRunId(long at) {
    long high = at << 16 | 0x7000 | RANDOM.nextInt(0x1000);
    long low = RANDOM.nextLong() & 0x3fffffffffffffffL | 0x8000000000000000L;
    return new java.util.UUID(high, low).toString();
  }
}
