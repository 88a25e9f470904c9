package io.carillon.executor;

import io.nats.client.AuthHandler;
import io.nats.client.AuthenticationException;
import io.nats.client.Connection;
import io.nats.client.ConnectionListener;
import io.nats.client.ErrorListener;
import io.nats.client.NKey;
import io.nats.client.Nats;
import io.nats.client.Options.Builder;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Connects to NATS, and keeps trying while it is away or refuses the credential. */
final class Connector {
  private static final Logger LOG = LoggerFactory.getLogger(Executor.class);

  private final Settings settings;
  private final CountDownLatch stopping;
  private final ConnectionListener listener;
  private final Consumer<String> trouble;
  private final io.nats.client.Options options;
  private volatile boolean foreign; // NATS let the last connection in, but not do what an executor of the group does

  /** The listener hears what becomes of connections, and trouble why there is none; the latch opens when there shall be none. */
  Connector(Settings settings, CountDownLatch stopping, ConnectionListener listener, Consumer<String> trouble) {
    this.trouble = trouble;
    this.settings = settings;
    this.stopping = stopping;
    this.listener = listener;
    this.options = options();
  }

  /** A connection; null if the executor was stopped before there was one. */
  Connection connect() throws InterruptedException {
    long pause = 250;
    Doubling tries = new Doubling();
    do {
      try {
        foreign = false;
        return Nats.connect(options);
      } catch (AuthenticationException e) {
        trouble.accept("NATS at " + settings.nats() + " " + refusal(settings));
        tries.warn("NATS at {} {} (trying again)", settings.nats(), refusal(settings));
      } catch (IOException e) {
        trouble.accept("cannot connect to NATS at " + settings.nats() + ": " + e.getMessage());
        tries.warn("cannot connect to NATS at {}: {}; is CARILLON_NATS right, and NATS there? trying again", settings.nats(), e.getMessage());
      }
      pause = Math.min(2 * pause, 5000);
    } while (!stopping.await(pause, TimeUnit.MILLISECONDS));
    return null;
  }

  /** Hears what NATS says of a connection. */
  ErrorListener errors() {
    return new Errors(settings, new Doubling(), () -> foreign = true);
  }

  /** Why a heartbeat is not stored, in view of what NATS has said besides. */
  String whyNotStored(String error) {
    return foreign ? notOfGroup(settings) : "the heartbeat is not stored (" + error + "): is a Carillon server running on this NATS?";
  }

  private static String notOfGroup(Settings settings) {
    return "the credential is not one of group " + settings.group() + ": each credential is for one group; make one with: carillon credential create NAME -g "
        + settings.group() + " --file FILE";
  }

  private io.nats.client.Options options() {
    Builder b = new Builder().servers(settings.nats().split("\\s*,\\s*")).connectionName("carillon executor " + settings.group())
        .inboxPrefix("_INBOX_" + settings.group() + ".").maxReconnects(-1).reconnectWait(Duration.ofMillis(250))
        .reconnectJitter(Duration.ofMillis(100)).connectionTimeout(Duration.ofSeconds(10)).pingInterval(Duration.ofSeconds(2))
        .maxPingsOut(2).connectionListener(listener).errorListener(errors());
    if (!settings.credential().isEmpty()) {
      b.authHandler(new Seed(settings.credential()));
    }
    try {
      SSLContext tls = settings.tls().context();
      if (tls != null) {
        b.sslContext(tls);
      }
      return b.build();
    } catch (IllegalArgumentException e) {
      throw new ConfigurationException("CARILLON_NATS " + settings.nats() + " must be URLs such as nats://nats.example.com:4222: " + e.getMessage(), e);
    }
  }

  /** What NATS does that refuses an executor, and what to do. */
  static String refusal(Settings settings) {
    String make = "make one with: carillon credential create NAME -g " + settings.group() + " --file FILE";
    return settings.credential().isEmpty() ? "wants a credential: set CARILLON_CREDENTIAL_FILE; " + make
        : "refuses the credential: is it for group " + settings.group() + ", and not revoked? Else " + make;
  }

  /** Hides the secret in the subject of requests. */
  static String withoutSecret(String error) {
    return error.replaceAll("(?i)(exec\\.[^.\"]*)\\.[^\"]*", "$1.…");
  }

  /** Signs in with the seed of an nkey. */
  private record Seed(String seed) implements AuthHandler {
    @Override
    public byte[] sign(byte[] nonce) {
      try {
        return NKey.fromSeed(seed.toCharArray()).sign(nonce);
      } catch (IOException | GeneralSecurityException e) {
        throw new IllegalStateException("sign in to NATS", e);
      }
    }

    @Override
    public char[] getID() {
      try {
        return NKey.fromSeed(seed.toCharArray()).getPublicKey();
      } catch (IOException | GeneralSecurityException e) {
        throw new IllegalStateException("sign in to NATS", e);
      }
    }

    @Override
    public char[] getJWT() {
      return null;
    }

    @Override
    public String toString() {
      return "an nkey";
    }
  }

  private record Errors(Settings settings, Doubling others, Runnable foreign) implements ErrorListener {
    @Override
    public void errorOccurred(Connection connection, String error) {
      String shown = withoutSecret(error);
      if (error.toLowerCase(Locale.ROOT).contains("permissions violation")) {
        foreign.run();
        others.warn("NATS: {}; {}", shown, notOfGroup(settings));
      } else if (error.toLowerCase(Locale.ROOT).contains("authorization")) {
        others.warn("NATS: it {} ({})", refusal(settings), shown);
      } else {
        others.warn("NATS: {}", shown);
      }
    }

    @Override
    public void exceptionOccurred(Connection connection, Exception e) {
      LOG.debug("NATS: {}", e.toString()); // the connection breaks, which its listener hears
    }
  }
}
