package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.List;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;

class SecretsTest {
  private static final byte[] KEY = new byte[32];

  private static String seal(String about, String value) throws GeneralSecurityException {
    Cipher c = Cipher.getInstance("AES/GCM/NoPadding");
    byte[] nonce = new byte[12];
    c.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(KEY, "AES"), new GCMParameterSpec(128, nonce));
    c.updateAAD(about.getBytes(StandardCharsets.UTF_8));
    byte[] sealed = c.doFinal(value.getBytes(StandardCharsets.UTF_8));
    byte[] all = new byte[12 + sealed.length];
    System.arraycopy(sealed, 0, all, 12, sealed.length);
    return Base64.getEncoder().encodeToString(all);
  }

  @Test
  void aSecretIsOpenedByItsGroupsKeyAndForItsNameOnly() throws Exception {
    String sealed = seal("billing/db", "hunter22");
    var key = Secrets.Key.of("carillon-group-1.billing." + Base64.getUrlEncoder().withoutPadding().encodeToString(KEY), "billing");
    assertEquals("hunter22", key.open("db", sealed));
    assertThrows(GeneralSecurityException.class, () -> key.open("other", sealed));
  }

  @Test
  void secretsAreMaskedAlsoInUrlsAndJson() {
    Masker mask = new Masker(List.of("a b\"c/d", "xyz"));
    assertEquals("*** *** *** *** xyz", mask.apply("a b\"c/d a+b%22c%2Fd a%20b%22c%2Fd a b\\\"c/d xyz"));
  }
}
