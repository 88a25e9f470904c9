package io.carillon.executor;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/** Files in PEM for the connection to NATS. Any of them may be null; a certificate needs its key. */
record Tls(Path ca, Path cert, Path key) {
  private static final Pattern PKCS8 = Pattern.compile("-----BEGIN PRIVATE KEY-----([^-]*)-----END PRIVATE KEY-----");
  private static final char[] NO_PASSWORD = {};

  Tls {
    if ((cert == null) != (key == null)) {
      throw new ConfigurationException("CARILLON_NATS_CERT and CARILLON_NATS_KEY belong together: set both, or none");
    }
  }

  /** The context of connections; null if the JVM's own will do. */
  SSLContext context() {
    if (ca == null && cert == null) {
      return null;
    }
    TrustManager[] trusted = ca == null ? null : trusted();
    KeyManager[] own = cert == null ? null : own();
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(own, trusted, null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("set up TLS for NATS", e);
    }
  }

  private TrustManager[] trusted() {
    try {
      KeyStore store = empty();
      int n = 0;
      for (Certificate c : certificates(ca)) {
        store.setCertificateEntry("ca" + n++, c);
      }
      TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(store);
      return trust.getTrustManagers();
    } catch (IOException | GeneralSecurityException e) {
      throw new ConfigurationException("CARILLON_NATS_CA " + ca + " must be certificates in PEM: " + e, e);
    }
  }

  private KeyManager[] own() {
    PrivateKey privateKey = privateKey();
    try {
      KeyStore store = empty();
      store.setKeyEntry("client", privateKey, NO_PASSWORD, certificates(cert).toArray(new Certificate[0]));
      KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(store, NO_PASSWORD);
      return keys.getKeyManagers();
    } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
      throw new ConfigurationException("CARILLON_NATS_CERT " + cert + " must be a certificate in PEM: " + e, e);
    }
  }

  private PrivateKey privateKey() {
    try {
      Matcher pem = PKCS8.matcher(Files.readString(key));
      if (pem.find()) {
        PKCS8EncodedKeySpec spec = new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(pem.group(1)));
        for (String algorithm : new String[] {"RSA", "EC", "EdDSA"}) {
          try {
            return KeyFactory.getInstance(algorithm).generatePrivate(spec);
          } catch (InvalidKeySpecException e) {
            // it is of another kind
          }
        }
      }
    } catch (IOException e) {
      throw new ConfigurationException("CARILLON_NATS_KEY " + key + " cannot be read: " + e, e);
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      throw new ConfigurationException("CARILLON_NATS_KEY " + key + " is not a private key in PEM", e);
    }
    throw new ConfigurationException("CARILLON_NATS_KEY " + key + " must be a private key in PEM that begins with BEGIN PRIVATE KEY:"
        + " convert it with `openssl pkcs8 -topk8 -nocrypt`");
  }

  private static KeyStore empty() throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    return store;
  }

  private static Collection<? extends Certificate> certificates(Path file) throws IOException, GeneralSecurityException {
    try (InputStream in = Files.newInputStream(file)) {
      Collection<? extends Certificate> all = CertificateFactory.getInstance("X.509").generateCertificates(in);
      if (all.isEmpty()) {
        throw new IOException("there is none");
      }
      return all;
    }
  }
}
