package io.carillon.executor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;

/** The files of a certificate for 127.0.0.1 that is its own authority, and of its key. */
record Certificates(Path cert, Path key) {
  private static final String PASSWORD = "changeit";

  static Certificates in(Path folder) throws Exception {
    Path store = folder.resolve("store.p12");
    String keytool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
    Process made = new ProcessBuilder(keytool, "-genkeypair", "-alias", "a", "-keyalg", "EC", "-dname", "CN=test", "-ext", "SAN=ip:127.0.0.1", "-keystore", store.toString(),
        "-storetype", "PKCS12", "-storepass", PASSWORD).inheritIO().start();
    if (made.waitFor() != 0) {
      throw new IOException("keytool made no key");
    }
    KeyStore keys = KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
    return new Certificates(pem(folder, "CERTIFICATE", keys.getCertificate("a").getEncoded()),
        pem(folder, "PRIVATE KEY", keys.getKey("a", PASSWORD.toCharArray()).getEncoded()));
  }

  private static Path pem(Path folder, String kind, byte[] data) throws IOException {
    String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(data);
    return Files.writeString(folder.resolve(kind + ".pem"), "-----BEGIN " + kind + "-----\n" + text + "\n-----END " + kind + "-----\n");
  }
}
