package io.carillon.executor;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.nats.client.Message;
import io.nats.client.impl.Headers;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Base64;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;

/** What an instance tells the others: that it lives, and which handlers it has. */
class Heartbeat {
  private static final Logger LOG = Log.of(Executor.class);
  private static final Duration COMPARE_WITHIN = Duration.ofSeconds(1); // a heartbeat that takes longer says too little
  private static final long ANY = -1; // in the place of the sequence that is expected

  private final Instance of;
  private final String secret;
  private final String subject;
  private final Instant began = Instant.now();
  private int refused; // messages of this instance, by servers
  private ObjectNode refusal; // the last of them

  Heartbeat(Instance of, String secret) {
    this.of = of;
    this.secret = secret;
    this.subject = "$KV.INST." + of.settings.group() + "." + of.settings.instance();
  }

  /** Publishes a heartbeat. The loop calls it. */
  void publish() {
    of.broker.publish(subject, null, null, beat());
  }

  /** Says that the instance has left. */
  void remove() {
    of.broker.publish(subject, null, new Headers().put("KV-Operation", "DEL"), new byte[0]);
  }

  /** Has heartbeats say that servers have refused a message of this instance. */
  void refusedBy(ObjectNode why) {
    refused++;
    refusal = why;
  }

  /** Has a heartbeat stored, and reads when that was, by NATS' clock. Without an answer nothing changes. */
  void compareClocks() throws InterruptedException {
    try {
      Instant sent = Instant.now();
      long began = System.nanoTime();
      acknowledged(of.loop.submit(() -> beat(sent)).get());
      boolean isSlow = System.nanoTime() - began > COMPARE_WITHIN.toNanos(); // nobody knows when it was sent
      Message m = of.broker.request("$JS.API.DIRECT.GET.KV_INST." + subject, null, new byte[0], COMPARE_WITHIN);
      String stored = Trigger.header(m.getHeaders(), "Nats-Time-Stamp");
      if (isSlow || stored.isEmpty() || !Json.parse(m.getData()).path("at").asText().equals(Wire.instant(sent))) {
        return;
      }
      if (of.time.compare(sent, Instant.parse(stored))) {
        Duration off = of.time.offset();
        LOG.warn("the clock of this machine is {} NATS' clock, by which times are corrected: check NTP", off.isZero() ? "in line again with"
            : String.format("%.1f s %s", Math.abs(off.toMillis()) / 1000.0, off.isNegative() ? "behind" : "ahead of"));
      }
    } catch (IOException | ExecutionException | RejectedExecutionException | DateTimeParseException e) {
      LOG.debug("clocks not compared: {}", e.toString());
    }
  }

  private void acknowledged(byte[] beat) throws IOException, InterruptedException {
    try {
      of.broker.stored(subject, null, beat);
      of.trouble("");
    } catch (IOException e) {
      of.trouble("the heartbeat is not stored: " + e.getMessage());
      throw e;
    }
  }

  private byte[] beat() {
    return beat(Instant.now());
  }

  private byte[] beat(Instant at) {
    ObjectNode beat = Json.object().put("executor_group", of.settings.group()).put("instance", of.settings.instance());
    beat.putArray("kinds").add("handler");
    of.handlers.all().keySet().forEach(beat.putArray("handlers")::add);
    of.runs.describe(beat);
    of.runs.describeLabels(beat);
    beat.set("load", HostLoad.of());
    if (refusal != null) {
      beat.put("refused", refused).set("refusal", refusal);
    }
    return Json.bytes(beat.put("protocol", Wire.PROTOCOL).put("version", of.settings.version()).put("sdk", Wire.SDK)
        .put("host", Settings.host()).put("pid", ProcessHandle.current().pid()).put("started_at", Wire.instant(began))
        .put("at", Wire.instant(at)).put("control_secret", secret));
  }

  /** The heartbeat that stored last under this name: {@code from} is null if that instance has left. */
  private record Present(long sequence, JsonNode from) {}

  /** Has the first heartbeat stored. Another instance of this name must not live. */
  void introduce() throws InterruptedException {
    long expected = 0;
    long heard = now(); // when one could be read last
    boolean said = false; // that none can
    long seen = -1;
    int looks = 0;
    Doubling tries = new Doubling();
    long since = now();
    while (true) {
      try {
        byte[] beat = of.loop.submit(() -> beat()).get();
        of.broker.stored(subject, expected == ANY ? null : new Headers().put(Wire.EXPECTED, String.valueOf(expected)), beat);
        return;
      } catch (RejectedExecutionException e) {
        throw new InterruptedException("the executor has stopped");
      } catch (ExecutionException e) {
        throw new IllegalStateException("make a heartbeat", e.getCause());
      } catch (IOException e) {
        if (!(e instanceof Refused r && r.isPresent())) {
          String why = of.connector.whyNotStored(e.getMessage());
          of.trouble(why);
          tries.warn("{} (trying again)", why);
          pause(500);
          expected = 0; // meanwhile another may have come
          heard = now();
          continue;
        }
      }
      Present p = present();
      if (p.sequence() != 0) {
        heard = now();
      }
      if (p.sequence() == 0 && now() - heard < Wire.ACK_WAIT.toNanos()) { // a replica that lags behind, or nobody answers
        expected = 0; // it may have been removed meanwhile
        if (!said) {
          said = true;
          LOG.info("waiting: the heartbeat of instance {} cannot be read; if that lasts {} s, the instance counts as gone",
              of.settings.instance(), Wire.ACK_WAIT.toSeconds());
        }
      } else if (p.sequence() == 0) {
        expected = ANY;
        continue;
      } else if (p.from() == null || p.from().path("control_secret").asText().equals(secret)) {
        if (p.sequence() != expected) {
          expected = p.sequence();
          continue;
        }
      } else if (looks++ < 2) { // a replica that lags behind may show an older one first
        if (seen < 0) {
          LOG.info("waiting: a heartbeat of instance {} is there; it may be of one that died", of.settings.instance());
        }
        seen = p.sequence();
        since = now();
      } else if (p.sequence() != seen) {
        throw new InstanceConflictException("instance " + of.settings.instance() + " of group " + of.settings.group() + " lives on host "
            + p.from().path("host").asText() + ", process " + p.from().path("pid").asText() + ": give each instance a name of its own "
            + "(CARILLON_INSTANCE), or none, so that one is made");
      } else if (now() - since > Wire.ACK_WAIT.toNanos()) {
        expected = p.sequence(); // it is gone
        continue;
      }
      pause(1000);
    }
  }

  /** Nanoseconds on a clock that never steps. Tests have their own. */
  long now() {
    return System.nanoTime();
  }

  void pause(long millis) throws InterruptedException {
    Thread.sleep(millis);
  }

  private Present present() throws InterruptedException {
    try {
      Message m = of.broker.request("$JS.API.DIRECT.GET.KV_INST." + subject, null, new byte[0], Duration.ofSeconds(5));
      String sequence = Trigger.header(m.getHeaders(), "Nats-Sequence");
      if (sequence.isEmpty()) {
        return new Present(0, null);
      }
      boolean left = m.getData().length == 0 || !Trigger.header(m.getHeaders(), "KV-Operation").isEmpty();
      return new Present(Long.parseLong(sequence), left ? null : Json.parse(m.getData()));
    } catch (IOException | NumberFormatException e) {
      return new Present(0, null);
    }
  }

  /** Publishes what a handler does and takes, until it is stored; not if NATS would never take it. */
  void announce(String name, Registration handler) {
    String key = Base64.getUrlEncoder().withoutPadding().encodeToString(name.getBytes(StandardCharsets.UTF_8));
    byte[] about = Json.bytes(handler.about(of.settings));
    long most = Math.min(Wire.MAX_ANNOUNCEMENT, of.broker.maxPayload());
    if (about.length > most) {
      LOG.error("handler {} is not announced: its description and schemas make {} bytes, and the bucket or the max_payload of NATS"
          + " allows {}: shorten its schemas", name, about.length, most);
      return;
    }
    try {
      of.broker.untilStored("$KV.HANDLER." + of.settings.group() + "." + key, null, () -> about);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the executor has stopped
    }
  }
}
