package io.carillon.executor;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import java.util.function.UnaryOperator;

/** Replaces secrets of four characters and more by ***, also as they look in URLs and in JSON. */
final class Masker implements UnaryOperator<String> {
  private final List<String> forms;

  Masker(Collection<String> secrets) {
    var all = new TreeSet<>(Comparator.comparing(String::length).reversed().thenComparing(Comparator.naturalOrder()));
    for (String secret : secrets) {
      for (String line : secret.split("\n")) {
        String part = line.strip();
        if (part.length() >= 4) {
          String url = URLEncoder.encode(part, StandardCharsets.UTF_8);
          all.addAll(List.of(part, url, url.replace("+", "%20"), new String(JsonStringEncoder.getInstance().quoteAsString(part))));
        }
      }
    }
    forms = List.copyOf(all);
  }

  @Override
  public String apply(String text) {
    for (String form : forms) {
      text = text.replace(form, "***");
    }
    return text;
  }
}
