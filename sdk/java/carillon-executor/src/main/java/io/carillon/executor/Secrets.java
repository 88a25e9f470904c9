package io.carillon.executor;

import com.fasterxml.jackson.databind.JsonNode;
import io.nats.client.Message;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.TreeMap;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/** Secrets of tasks: fetched and opened here. */
final class Secrets {
  private static final int NONCE = 12;

  private Secrets() {}

  /** The key of a group's secrets. It does not show itself. */
  static final class Key {
    private final String group;
    private final byte[] key;

    private Key(String group, byte[] key) {
      this.group = group;
      this.key = key;
    }

    /** The key in what {@code carillon secret key} prints. */
    static Key of(String text, String group) {
      String[] parts = text.split("\\.", 3);
      if (parts.length != 3 || !parts[0].equals("carillon-group-1") || !parts[1].equals(group)) {
        throw new ConfigurationException("the key for secrets is not one of group " + group + ": take what `carillon secret key -g " + group + "` prints");
      }
      try {
        return new Key(group, Base64.getUrlDecoder().decode(parts[2]));
      } catch (IllegalArgumentException e) {
        throw new ConfigurationException("the key for secrets is not whole: take what `carillon secret key -g " + group + "` prints", e);
      }
    }

    /** The value of a sealed secret. */
    String open(String name, String sealed) throws GeneralSecurityException {
      byte[] data = Base64.getDecoder().decode(sealed);
      Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
      cipher.init(Cipher.DECRYPT_MODE, new SecretKeySpec(key, "AES"), new GCMParameterSpec(128, data, 0, NONCE));
      cipher.updateAAD((group + "/" + name).getBytes(StandardCharsets.UTF_8));
      return new String(cipher.doFinal(data, NONCE, data.length - NONCE), StandardCharsets.UTF_8);
    }
  }

  /** The secrets that a task asks for, by variable. A run that cannot have one must fail. */
  static Map<String, String> fetch(Broker broker, Settings settings, JsonNode task) throws InterruptedException {
    Map<String, String> values = new TreeMap<>();
    for (Map.Entry<String, JsonNode> wanted : task.path("secrets").properties()) {
      if (settings.secretKey() == null) {
        throw new RunFailedException("the task asks for secrets, and this executor has no key for them: set CARILLON_SECRET_KEY_FILE");
      }
      values.put(wanted.getKey(), fetch(broker, settings, wanted.getValue().asText()));
    }
    return values;
  }

  private static String fetch(Broker broker, Settings settings, String name) throws InterruptedException {
    String group = settings.group();
    try {
      Message m = broker.request("$JS.API.DIRECT.GET.KV_SECRET.$KV.SECRET." + group + "." + name, null, new byte[0], Duration.ofSeconds(5));
      if (m.getData() == null || m.getData().length == 0) {
        throw new RunFailedException("there is no secret \"" + name + "\" in group " + group + ": create it with `carillon secret set`");
      }
      return settings.secretKey().open(name, Json.parse(m.getData()).path("sealed").asText());
    } catch (IOException e) {
      throw new RunFailedException("secret \"" + name + "\" cannot be read from NATS: " + e.getMessage(), e);
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      throw new RunFailedException("secret \"" + name + "\" cannot be opened with this executor's key: is CARILLON_SECRET_KEY_FILE the latest?", e);
    }
  }
}
