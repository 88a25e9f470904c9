package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TlsTest {
  @TempDir Path folder;
  private Path cert;
  private Path key;

  @BeforeEach
  void write() throws Exception {
    Certificates made = Certificates.in(folder);
    cert = made.cert();
    key = made.key();
  }

  @Test
  void withoutFilesTheJvmDecides() {
    assertNull(new Tls(null, null, null).context());
  }

  @Test
  void authoritiesAndAClientCertificateMakeAContext() {
    assertNotNull(new Tls(cert, null, null).context());
    SSLContext both = new Tls(cert, cert, key).context();
    assertEquals("TLS", both.getProtocol());
  }

  @Test
  void wrongFilesAreNamed() throws Exception {
    Path other = Files.writeString(folder.resolve("other.pem"), "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n");
    assertSays("CARILLON_NATS_KEY " + other + " must be a private key in PEM that begins with BEGIN PRIVATE KEY: convert it with `openssl pkcs8 -topk8 -nocrypt`",
        new Tls(null, cert, other));
    assertSays("CARILLON_NATS_KEY " + cert + " must be a private key", new Tls(null, cert, cert));
    assertSays("CARILLON_NATS_CERT " + key + " must be a certificate in PEM", new Tls(null, key, key));
    assertSays("CARILLON_NATS_CA /nowhere must be certificates in PEM", new Tls(Path.of("/nowhere"), null, null));
    assertSays("CARILLON_NATS_KEY /nowhere cannot be read", new Tls(null, cert, Path.of("/nowhere")));
  }

  private static void assertSays(String text, Tls tls) {
    var e = assertThrows(ConfigurationException.class, tls::context);
    assertTrue(e.getMessage().startsWith(text), e.getMessage());
  }
}
