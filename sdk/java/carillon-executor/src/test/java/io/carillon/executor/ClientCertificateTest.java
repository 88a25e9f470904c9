package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nats.client.Connection;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Connects to a NATS server that asks for a client certificate. */
class ClientCertificateTest {
  private static final byte[] INFO = ("INFO {\"server_id\":\"x\",\"server_name\":\"x\",\"version\":\"2.12.0\",\"headers\":true,\"max_payload\":1048576,"
      + "\"proto\":1,\"tls_required\":true,\"tls_verify\":true}\r\n").getBytes(StandardCharsets.UTF_8);

  @TempDir Path folder;
  private final List<String> admitted = new CopyOnWriteArrayList<>();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private Certificates files;
  private ServerSocket server;

  @BeforeEach
  void serve() throws Exception {
    files = Certificates.in(folder);
    SSLContext own = new Tls(files.cert(), files.cert(), files.key()).context();
    server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    threads.submit(() -> {
      while (!server.isClosed()) {
        Socket client = server.accept();
        threads.submit(() -> admit(client, own));
      }
      return null;
    });
  }

  @AfterEach
  void close() throws IOException {
    server.close();
    threads.shutdownNow();
  }

  private Void admit(Socket client, SSLContext own) throws IOException {
    try (client) {
      client.getOutputStream().write(INFO);
      SSLSocket secure = (SSLSocket) own.getSocketFactory().createSocket(client, null, client.getPort(), true);
      secure.setUseClientMode(false);
      secure.setNeedClientAuth(true);
      secure.startHandshake();
      admitted.add(secure.getSession().getPeerPrincipal().getName());
      BufferedReader in = new BufferedReader(new InputStreamReader(secure.getInputStream(), StandardCharsets.UTF_8));
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.startsWith("PING")) {
          secure.getOutputStream().write("PONG\r\n".getBytes(StandardCharsets.UTF_8));
        }
      }
    }
    return null;
  }

  /** Connects as an executor does; at the first trouble it stops, and returns no connection. */
  private Connection connect(Map<String, String> environment, List<String> trouble) throws InterruptedException {
    CountDownLatch stopping = new CountDownLatch(1);
    Settings settings = Settings.of(Options.fromEnvironment().group("g").nats("tls://127.0.0.1:" + server.getLocalPort()), environment);
    return new Connector(settings, stopping, (connection, event) -> { }, why -> {
      trouble.add(why);
      stopping.countDown();
    }).connect();
  }

  @Test
  void anExecutorConnectsWithAClientCertificate() throws Exception {
    List<String> trouble = new CopyOnWriteArrayList<>();
    Connection nc = connect(Map.of("CARILLON_NATS_CA", files.cert().toString(), "CARILLON_NATS_CERT", files.cert().toString(),
        "CARILLON_NATS_KEY", files.key().toString()), trouble);
    assertEquals(List.of(), trouble);
    nc.close();
    assertEquals(List.of("CN=test"), admitted);
  }

  @Test
  void withoutOneItSaysThatNatsAsksForOne() throws Exception {
    List<String> trouble = new CopyOnWriteArrayList<>();
    assertNull(connect(Map.of("CARILLON_NATS_CA", files.cert().toString()), trouble));
    assertTrue(trouble.get(0).contains("asks for a client certificate: set CARILLON_NATS_CERT and CARILLON_NATS_KEY"), trouble.get(0));
    assertEquals(List.of(), admitted);
  }
}
