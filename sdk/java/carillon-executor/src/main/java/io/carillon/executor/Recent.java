package io.carillon.executor;

import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/** The newest of some names, each for a while. */
final class Recent<K> {
  private static final int MOST = 16_384; // more than the triggers that can be on their way

  private final long life;
  private final int most;
  private final Map<K, Long> at = new LinkedHashMap<>(); // oldest first

  Recent(Duration life) {
    this(life, MOST);
  }

  Recent(Duration life, int most) {
    this.life = life.toNanos();
    this.most = most;
  }

  void add(K name) {
    at.remove(name);
    at.put(name, System.nanoTime());
    if (at.size() > most) {
      at.remove(at.keySet().iterator().next());
    }
  }

  boolean contains(K name) {
    Long added = at.get(name);
    return added != null && System.nanoTime() - added < life;
  }

  void remove(K name) {
    at.remove(name);
  }

  /** How many there are. It takes as long as there are some to forget. */
  int size() {
    long now = System.nanoTime();
    for (Iterator<Long> it = at.values().iterator(); it.hasNext() && now - it.next() >= life; ) {
      it.remove();
    }
    return at.size();
  }
}
