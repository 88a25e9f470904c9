package io.carillon.executor;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

/** A handler and what executors announce of it. */
public final class Registration {
  private final String name;
  private final JavaType paramsType;
  private final Handler<Object, ?> handler;
  private final ObjectMapper mapper;
  private final JsonNode resultSchema;
  private String description = "";
  private JsonNode paramsSchema;
  private final JsonNode paramsFit; // the schema of the type; null if it has none
  private int slots = Integer.MAX_VALUE;

  Registration(String name, JavaType paramsType, JavaType resultType, Handler<Object, ?> handler, ObjectMapper mapper) {
    this.name = name;
    this.paramsType = paramsType;
    this.handler = handler;
    this.mapper = mapper;
    this.paramsFit = Schemas.ofParams(paramsType, mapper);
    this.paramsSchema = paramsFit;
    this.resultSchema = Schemas.ofResult(resultType, mapper);
  }

  /** Says what the handler does, for those who write jobs. */
  public Registration description(String text) {
    description = text;
    return this;
  }

  /** Bounds the runs of the handler that are done at once here. Others go to other instances, or wait. */
  public Registration slots(int most) {
    if (most < 1) {
      throw new ConfigurationException("slots of handler " + name + " must be 1 or more, and is " + most);
    }
    slots = most;
    return this;
  }

  int slots() {
    return slots;
  }

  /** A JSON schema for the parameters, in the place of the one that is made of their type. */
  public Registration paramsSchema(String json) {
    try {
      paramsSchema = Json.parse(json.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new ConfigurationException("handler " + name + " has a schema that is not JSON: " + e.getMessage(), e);
    }
    return this;
  }

  /** What the group's executors publish of the handler. */
  JsonNode about(Settings settings) {
    var about = Json.object().put("executor_group", settings.group()).put("handler", name);
    if (!description.isEmpty()) {
      about.put("description", description);
    }
    if (paramsSchema != null) {
      about.set("params_schema", paramsSchema);
    }
    if (resultSchema != null) {
      about.set("result_schema", resultSchema);
    }
    if (!settings.version().isEmpty()) {
      about.put("version", settings.version());
    }
    return about.put("instance", settings.instance()).put("at", Wire.instant(Instant.now()));
  }

  /** Reads the parameters and calls the handler. */
  Object call(Run run) throws Exception {
    return handler.handle(run, read(run.params()));
  }

  private Object read(JsonNode params) {
    if (paramsType.hasRawClass(Void.class)) {
      return null;
    }
    try {
      if (params == null || params.isNull()) {
        return empty();
      }
      checkFit(params);
      String place = Json.tooLarge(params, "params");
      if (!place.isEmpty()) {
        throw new RunFailedException(place + " of handler " + name + " is a number that is too large for a double; send it as text");
      }
      return mapper.readerFor(paramsType).readValue(params);
    } catch (JsonProcessingException e) {
      throw new RunFailedException("params of handler " + name + ": " + e.getOriginalMessage(), e);
    } catch (IOException e) {
      throw new RunFailedException("params of handler " + name + ": " + e.getMessage(), e);
    }
  }

  /** Refuses parameters that the schema of their type does not allow. A schema of the program's own takes its place. */
  private void checkFit(JsonNode params) {
    String problem = paramsFit == null || paramsSchema != paramsFit ? "" : Fit.problem(params, paramsFit, "");
    if (!problem.isEmpty()) {
      throw new RunFailedException("params of handler " + name + ": " + problem);
    }
  }

  /** What a handler gets of a job without parameters: an object with nothing set, or null. */
  private Object empty() throws IOException {
    boolean isObject = paramsSchema != null || paramsType.isMapLikeType();
    if (isObject) {
      checkFit(Json.object());
    }
    return isObject ? mapper.readerFor(paramsType).readValue(Json.object()) : null;
  }
}
