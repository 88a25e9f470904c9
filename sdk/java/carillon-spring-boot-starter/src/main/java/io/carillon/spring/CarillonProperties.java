package io.carillon.spring;

import io.carillon.executor.Options;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.PropertyMapper;

/**
 * The settings {@code carillon.*}. What is absent is read from the variables {@code CARILLON_*}.
 *
 * @param enabled whether there is an executor. Defaults to true
 * @param group the executor group
 * @param nats URLs of NATS, with commas between. Defaults to nats://127.0.0.1:4222
 * @param credentialFile the file of {@code carillon credential create}
 * @param caFile certificate authorities for NATS, in PEM
 * @param instance a name that no other instance of the group has. Defaults to a random one
 * @param slots how many runs may be here at once. Defaults to 32
 * @param labels what tells this instance from others
 * @param grace how long live runs may go on when the application stops. Defaults to 30s
 * @param spool a folder for ends that NATS has not stored, so that they outlive a restart
 * @param secretKeyFile the file with what {@code carillon secret key} prints
 * @param version the version of the application
 */
@ConfigurationProperties("carillon")
record CarillonProperties(Boolean enabled, String group, String nats, Path credentialFile, Path caFile, String instance, Integer slots,
    Map<String, String> labels, Duration grace, Path spool, Path secretKeyFile, String version) {

  Options options() {
    Options o = Options.fromEnvironment();
    PropertyMapper map = PropertyMapper.get().alwaysApplyingWhenNonNull();
    map.from(group).to(o::group);
    map.from(nats).to(o::nats);
    map.from(credentialFile).to(o::credentialFile);
    map.from(caFile).to(o::caFile);
    map.from(instance).to(o::instance);
    map.from(slots).to(o::slots);
    map.from(labels).to(o::labels);
    map.from(grace).to(o::grace);
    map.from(spool).to(o::spool);
    map.from(secretKeyFile).to(o::secretKeyFile);
    map.from(version).to(o::version);
    return o;
  }
}
