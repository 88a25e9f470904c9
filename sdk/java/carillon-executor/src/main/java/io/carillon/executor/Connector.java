package io.carillon.executor;

import io.nats.client.AuthHandler;
import io.nats.client.AuthenticationException;
import io.nats.client.Connection;
import io.nats.client.ConnectionListener;
import io.nats.client.ErrorListener;
import io.nats.client.NKey;
import io.nats.client.Nats;
import io.nats.client.Options.Builder;
import io.nats.client.support.NatsUri;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import org.slf4j.Logger;

/** Connects to NATS, and keeps trying while it is away or refuses the credential. */
final class Connector {
  private static final int ASK = 2000; // milliseconds
  private static final Logger LOG = Log.of(Executor.class);

  private final Settings settings;
  private final CountDownLatch stopping;
  private final ConnectionListener listener;
  private final Consumer<String> trouble;
  private final io.nats.client.Options options;
  private volatile Exception last; // that the client heard of; what connect throws has no cause
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
        last = null;
        return Nats.connect(options);
      } catch (AuthenticationException e) {
        trouble.accept("NATS at " + settings.nats() + " " + refusal(settings));
        tries.warn("NATS at {} {} (trying again)", settings.nats(), refusal(settings));
      } catch (IOException e) {
        String why = whyNot(e, last);
        trouble.accept(why);
        tries.warn("{} (trying again)", why);
      }
      pause = Math.min(2 * pause, 5000);
    } while (!stopping.await(pause, TimeUnit.MILLISECONDS));
    return null;
  }

  /** Why there is no connection, and what to do. */
  private String whyNot(IOException e, Exception heard) {
    String at = settings.nats();
    Throwable cause = heard == null ? e : heard;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    String why = cause.getMessage() == null ? e.getMessage() : cause.getMessage();
    if (cause instanceof CertPathBuilderException || cause instanceof CertificateException) {
      return "cannot connect to NATS at " + at + " by TLS: " + why + "; CARILLON_NATS_CA must name the file of its certificate authority";
    }
    if (asksForCertificate()) {
      return "NATS at " + at + (settings.tls().cert() == null ? " asks for a client certificate: set CARILLON_NATS_CERT and CARILLON_NATS_KEY"
          : " refuses the client certificate " + settings.tls().cert() + ": is it valid, and of an authority that NATS trusts?") + " (" + why + ")";
    }
    return "cannot connect to NATS at " + at + ": " + why + "; is it running, and is CARILLON_NATS right?";
  }

  /** Whether NATS asks for a client certificate. By TLS 1.3 it refuses one after the handshake, of which its client says nothing. */
  private boolean asksForCertificate() {
    for (NatsUri server : options.getNatsServerUris()) {
      try (Socket socket = new Socket()) {
        socket.connect(new InetSocketAddress(server.getHost(), server.getPort()), ASK);
        socket.setSoTimeout(ASK);
        String info = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8)).readLine();
        if (info != null && info.startsWith("INFO ")) {
          return Json.parse(info.substring("INFO ".length()).getBytes(StandardCharsets.UTF_8)).path("tls_verify").asBoolean();
        }
      } catch (IOException e) {
        LOG.debug("ask {} for its settings: {}", server, e.toString()); // the next one may answer
      }
    }
    return false;
  }

  /** Hears what NATS says of a connection. */
  ErrorListener errors() {
    return new Errors(settings, new Doubling(), () -> foreign = true, e -> last = e);
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

  private record Errors(Settings settings, Doubling others, Runnable foreign, Consumer<Exception> exceptions) implements ErrorListener {
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
      exceptions.accept(e);
      LOG.debug("NATS: {}", e.toString()); // the connection breaks, which its listener hears
    }
  }
}
