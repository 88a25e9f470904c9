package io.carillon.spring;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.carillon.client.Client;
import io.carillon.executor.Options;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * The settings {@code carillon.*}. What is absent is read from the variables {@code CARILLON_*}.
 *
 * @param enabled whether there is an executor. Defaults to true
 * @param group the executor group
 * @param nats URLs of NATS, with commas between. Defaults to nats://127.0.0.1:4222
 * @param credentialFile the file of {@code carillon credential create}
 * @param caFile certificate authorities for NATS, in PEM
 * @param certFile a client certificate for NATS, in PEM
 * @param keyFile the key of the client certificate, in PEM (PKCS #8)
 * @param instance a name that no other instance of the group has. Defaults to a random one
 * @param slots how many runs may be here at once. Defaults to 32
 * @param labels what tells this instance from others
 * @param grace how long live runs may go on when the application stops. Defaults to 30s
 * @param spool a folder for ends that NATS has not stored, so that they outlive a restart
 * @param secretKeyFile the file with what {@code carillon secret key} prints
 * @param maxLogLines how many lines an attempt may log. Defaults to 1,000,000
 * @param maxLogBytes how many bytes an attempt may log. Defaults to 64 MiB
 * @param version the version of the application
 * @param server the address of the HTTP API, for the client. Defaults to http://127.0.0.1:8822
 * @param token an API token, for the client
 */
@ConfigurationProperties("carillon")
record CarillonProperties(Boolean enabled, String group, String nats, Path credentialFile, Path caFile, Path certFile, Path keyFile,
    String instance, Integer slots, Map<String, String> labels, Duration grace, Path spool, Path secretKeyFile, Long maxLogLines, Long maxLogBytes,
    String version, String server, String token) {

  Options options() {
    Options o = Options.fromEnvironment();
    set(group, o::group);
    set(nats, o::nats);
    set(credentialFile, o::credentialFile);
    set(caFile, o::caFile);
    set(certFile, o::certFile);
    set(keyFile, o::keyFile);
    set(instance, o::instance);
    set(slots, o::slots);
    set(labels, o::labels);
    set(grace, o::grace);
    set(spool, o::spool);
    set(secretKeyFile, o::secretKeyFile);
    set(maxLogLines, o::maxLogLines);
    set(maxLogBytes, o::maxLogBytes);
    set(version, o::version);
    return o;
  }

  Client client(ObjectMapper mapper) {
    return new Client(server != null ? server : System.getenv("CARILLON_SERVER"), token != null ? token : System.getenv("CARILLON_TOKEN"), null,
        mapper);
  }

  private static <T> void set(T value, Consumer<T> to) {
    if (value != null) {
      to.accept(value);
    }
  }
}
