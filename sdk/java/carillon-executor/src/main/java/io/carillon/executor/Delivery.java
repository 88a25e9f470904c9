package io.carillon.executor;

/**
 * What the reply subject of a trigger says of its delivery.
 *
 * @param count how often the trigger has been delivered, from 1
 * @param sequence its sequence on TRIG
 */
record Delivery(int count, long sequence) {
  static Delivery of(String reply) throws Garbage {
    String[] parts = reply == null ? new String[0] : reply.split("\\.", -1);
    int at = parts.length >= 11 ? 6 : 4;
    try {
      if (parts.length == 9 || parts.length >= 11) {
        return new Delivery(Integer.parseUnsignedInt(parts[at]), Long.parseUnsignedLong(parts[at + 1]));
      }
    } catch (NumberFormatException e) {
      // said below
    }
    throw new Garbage("the reply subject \"" + reply + "\" is not one of JetStream's");
  }

  /** Returns the delivery after this one. */
  Delivery later() {
    return new Delivery(count + 1, sequence);
  }

  long fence() {
    return sequence << 16 | Math.min(count, 65535);
  }
}
