package io.carillon.spring;

import io.carillon.executor.Executor;
import java.util.LinkedHashMap;
import java.util.Map;

/** The health of an executor: a status that Spring Boot knows, and details. */
record CarillonHealth(String code, Map<String, Object> details) {
  static CarillonHealth of(Executor.Status s) {
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("state", s.state());
    if (!s.problem().isEmpty()) {
      details.put("problem", s.problem());
    }
    details.put("slots", s.slots());
    details.put("running", s.running());
    boolean isUp = s.problem().isEmpty() && s.state().equals("online");
    return new CarillonHealth(isUp ? "UP" : s.problem().isEmpty() ? "OUT_OF_SERVICE" : "DOWN", details);
  }
}
