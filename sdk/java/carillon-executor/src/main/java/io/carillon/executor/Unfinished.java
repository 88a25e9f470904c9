package io.carillon.executor;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.BeanDescription;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationConfig;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.jsontype.TypeSerializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.BeanSerializerModifier;
import com.fasterxml.jackson.databind.ser.impl.UnknownSerializer;
import com.fasterxml.jackson.databind.ser.std.BeanSerializerBase;
import java.io.InputStream;
import java.io.Reader;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.BaseStream;

/** A handler returned something whose code has not run, or not to its end: the run fails. */
final class Unfinished extends RunFailedException {
  private static final long serialVersionUID = 1;
  private static final List<String> LAZY = List.of("org.reactivestreams.Publisher", "kotlinx.coroutines.flow.Flow");

  private Unfinished(String place, String what) {
    super("the handler returned unfinished work: " + place + " is " + what + "; finish it in the handler, and return its value");
  }

  /** What a handler returned; if it is a future, then what that gives. An interrupt cancels the future. */
  static Object await(Object returned) throws Exception {
    Object value = returned;
    while (value instanceof Future<?> || value instanceof CompletionStage<?>) {
      Future<?> future = value instanceof CompletionStage<?> stage ? stage.toCompletableFuture() : (Future<?>) value;
      value = get(future);
    }
    return value;
  }

  private static Object get(Future<?> future) throws Exception {
    try {
      return future.get();
    } catch (InterruptedException e) {
      future.cancel(true);
      throw e;
    } catch (CancellationException e) {
      throw new IllegalStateException("the future that the handler returned was cancelled", e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
  }

  /** A mapper like another one, which refuses to write what is not done. */
  static ObjectMapper refusing(ObjectMapper mapper) {
    SimpleModule module = new SimpleModule("carillon-unfinished");
    module.setSerializerModifier(new Modifier());
    return mapper.copy().registerModule(module);
  }

  /** What Jackson wraps around an Unfinished, unwrapped; null of any other problem. */
  static Unfinished in(Throwable thrown) {
    for (Throwable t = thrown; t != null; t = t.getCause()) {
      if (t instanceof Refusal r) {
        return new Unfinished(place(thrown), r.what);
      }
    }
    return null;
  }

  private static String place(Throwable thrown) {
    Deque<JsonMappingException.Reference> path = new ArrayDeque<>();
    for (Throwable t = thrown; t != null; t = t.getCause()) {
      if (t instanceof JsonMappingException e) {
        path.addAll(e.getPath());
        break;
      }
    }
    StringBuilder place = new StringBuilder("result");
    path.forEach(r -> place.append(r.getFieldName() == null ? "[" + r.getIndex() + "]" : "." + r.getFieldName()));
    return path.isEmpty() ? "the result" : place.toString();
  }

  /** What is not done yet of values of a class, in words; "" of one whose values are what they are. */
  private static String what(Class<?> c) {
    if (Future.class.isAssignableFrom(c) || CompletionStage.class.isAssignableFrom(c)) {
      return "a future (" + c.getSimpleName() + ")";
    }
    if (InputStream.class.isAssignableFrom(c) || Reader.class.isAssignableFrom(c) || BaseStream.class.isAssignableFrom(c)) {
      return "a stream (" + c.getSimpleName() + ")";
    }
    if (Flow.Publisher.class.isAssignableFrom(c) || isLazy(c)) {
      return "a publisher (" + c.getSimpleName() + ")";
    }
    return "";
  }

  private static boolean isLazy(Class<?> c) {
    for (Class<?> k = c; k != null; k = k.getSuperclass()) {
      for (Class<?> i : k.getInterfaces()) {
        if (LAZY.contains(i.getName()) || isLazy(i)) {
          return true;
        }
      }
    }
    return false;
  }

  private static final class Refusal extends JsonMappingException {
    private static final long serialVersionUID = 1;
    private final String what;

    Refusal(JsonGenerator to, String what) {
      super(to, what);
      this.what = what;
    }
  }

  /** Replaces what Jackson makes of the getters of a future or stream; serializers of modules stay. */
  private static final class Modifier extends BeanSerializerModifier {
    private static final long serialVersionUID = 1;

    @Override
    public JsonSerializer<?> modifySerializer(SerializationConfig config, BeanDescription about, JsonSerializer<?> serializer) {
      boolean isGuess = serializer instanceof BeanSerializerBase || serializer instanceof UnknownSerializer;
      String what = what(about.getBeanClass());
      return isGuess && !what.isEmpty() ? new Refusing(what) : serializer;
    }
  }

  private static final class Refusing extends JsonSerializer<Object> {
    private final String what;

    Refusing(String what) {
      this.what = what;
    }

    @Override
    public void serialize(Object value, JsonGenerator to, SerializerProvider by) throws JsonMappingException {
      throw new Refusal(to, what);
    }

    @Override
    public void serializeWithType(Object value, JsonGenerator to, SerializerProvider by, TypeSerializer type) throws JsonMappingException {
      throw new Refusal(to, what);
    }
  }
}
