package io.carillon.executor;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The handlers of a program, by name. They need no broker: give them to an {@link Executor}, or to a
 * {@link HandlerTest}.
 */
public final class Handlers {
  private final ObjectMapper mapper;
  private ObjectMapper results; // guarded by this
  private final Map<String, Registration> all = new TreeMap<>();
  private final List<Interceptor> interceptors = new ArrayList<>();

  /** Handlers whose parameters and results are read and written by a mapper with all modules; instants are texts. */
  public Handlers() {
    this(mapper());
  }

  static ObjectMapper mapper() {
    return JsonMapper.builder().findAndAddModules().disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
        .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS, SerializationFeature.WRITE_DURATIONS_AS_TIMESTAMPS).build();
  }

  /** Handlers whose parameters and results are read and written by a mapper of yours. */
  public Handlers(ObjectMapper mapper) {
    this.mapper = mapper;
    if (isPresent("io.opentelemetry.api.GlobalOpenTelemetry")) {
      interceptors.add(new Tracing());
    }
  }

  /** Whether the program has a class. */
  static boolean isPresent(String name) {
    try {
      Class.forName(name, false, Handlers.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  /** Registers a handler for jobs with {@code task: {handler: NAME}}. */
  @SuppressWarnings("unchecked") // Jackson reads a P
  public <P, R> Registration register(String name, Class<P> params, Class<R> result, Handler<P, R> handler) {
    return registerGeneric(name, params, result, (Handler<Object, R>) handler);
  }

  /**
   * Registers a handler whose parameters or result have a type with arguments, such as a list of
   * records. {@code Void.class} stands for none.
   */
  public Registration registerGeneric(String name, Type params, Type result, Handler<Object, ?> handler) {
    if (name.isEmpty() || name.length() > 255 || all.containsKey(name)) {
      throw new ConfigurationException("handler \"" + name + "\" must have a name of 1 to 255 characters that no other has");
    }
    Registration registration = new Registration(name, mapper.constructType(params), mapper.constructType(result), handler, mapper);
    all.put(name, registration);
    return registration;
  }

  /** Checks that a heartbeat has room for all names. */
  void checkNames() {
    ArrayNode names = JsonNodeFactory.instance.arrayNode();
    all.keySet().forEach(names::add);
    int bytes = Json.bytes(names).length;
    if (bytes > Wire.MAX_HANDLER_NAMES) {
      throw new ConfigurationException("the names of all handlers have " + bytes + " bytes; a heartbeat has " + Wire.MAX_HANDLER_NAMES
          + " for them: use shorter names, or several groups");
    }
  }

  /** Calls an interceptor around every handler. The first one that is added is the outermost. */
  public Handlers intercept(Interceptor interceptor) {
    interceptors.add(interceptor);
    return this;
  }

  /** Writes results. It is made of the mapper once that is as the program wants it. */
  private synchronized ObjectMapper results() {
    if (results == null) {
      results = Unfinished.refusing(mapper);
    }
    return results;
  }

  Map<String, Registration> all() {
    return all;
  }

  /** Calls the run's handler, within all interceptors, awaits what it returns, and makes JSON of it. */
  Results.Result call(LiveRun run) throws Exception {
    Registration registration = all.get(run.handler());
    Interceptor.Call call = () -> Unfinished.await(registration.call(run));
    for (int i = interceptors.size() - 1; i >= 0; i--) {
      Interceptor.Call inner = call;
      Interceptor outer = interceptors.get(i);
      call = () -> outer.intercept(run, inner);
    }
    Interceptor.Call outermost = call;
    return Results.of(CurrentRun.with(run, () -> Unfinished.await(outermost.call())), results(), run::masked);
  }
}
