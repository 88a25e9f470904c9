package chserver

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// user is whom the server lets in, and reader who may only read, within limits.
const (
	user   = "carillon"
	reader = "reports"
)

// serverConfig has few pools for merges, as this is for small machines, but enough
// timers: with as many as there are cores, merges lag behind.
const serverConfig = `<clickhouse>
  <log-level>error</log-level>
  <logger><console>1</console></logger>
  <users_config>%s</users_config>
  <max_server_memory_usage>4000000000</max_server_memory_usage>
  <mark_cache_size>268435456</mark_cache_size>
  <background_pool_size>2</background_pool_size>
  <background_schedule_pool_size>32</background_schedule_pool_size>
  <background_common_pool_size>4</background_common_pool_size>
</clickhouse>
`

// usersConfig makes the settings in which clickhouse-local differs what they are on a
// server. clickhouse-local's own session is always that of the user default, who has
// no password. It may do what starting takes, which lets whoever is on this machine
// read files as this user, and see no table. The reader is deploy/clickhouse's, for a
// database of the user's name.
const usersConfig = `<clickhouse>
  <profiles><default>
    <max_memory_usage>2000000000</max_memory_usage>
    <implicit_select>0</implicit_select>
    <async_insert>0</async_insert>
  </default>
  <reports>
    <readonly>2</readonly><allow_ddl>0</allow_ddl><allow_introspection_functions>0</allow_introspection_functions>
    <max_execution_time>60</max_execution_time><timeout_overflow_mode>throw</timeout_overflow_mode>
    <max_rows_to_read>2000000000</max_rows_to_read><read_overflow_mode>throw</read_overflow_mode>
    <max_result_rows>1000000</max_result_rows><result_overflow_mode>throw</result_overflow_mode>
    <max_memory_usage>1000000000</max_memory_usage><max_memory_usage_for_user>2000000000</max_memory_usage_for_user>
    <max_temporary_data_on_disk_size_for_query>5000000000</max_temporary_data_on_disk_size_for_query>
    <max_concurrent_queries_for_user>20</max_concurrent_queries_for_user><max_threads>2</max_threads>
    <use_top_k_dynamic_filtering>0</use_top_k_dynamic_filtering>
    <constraints>
      <allow_ddl><const/></allow_ddl><allow_introspection_functions><const/></allow_introspection_functions>
      <max_execution_time><min>1</min><max>60</max></max_execution_time><timeout_overflow_mode><const/></timeout_overflow_mode>
      <max_rows_to_read><min>1</min><max>2000000000</max></max_rows_to_read><read_overflow_mode><const/></read_overflow_mode>
      <max_result_rows><min>1</min><max>1000000</max></max_result_rows><result_overflow_mode><const/></result_overflow_mode>
      <max_memory_usage><min>1</min><max>1000000000</max></max_memory_usage>
      <max_memory_usage_for_user><min>1</min><max>2000000000</max></max_memory_usage_for_user>
      <max_temporary_data_on_disk_size_for_query><min>1</min><max>5000000000</max></max_temporary_data_on_disk_size_for_query>
      <max_concurrent_queries_for_user><min>1</min><max>20</max></max_concurrent_queries_for_user><max_threads><min>1</min><max>2</max></max_threads>
    </constraints>
  </reports></profiles>
  <users>
    <default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota>
      <grants><query>GRANT SYSTEM LISTEN ON *.*</query><query>GRANT CREATE TEMPORARY TABLE ON *.*</query><query>GRANT READ ON FILE</query></grants></default>
    <%[3]s><password_sha256_hex>%[1]s</password_sha256_hex><networks><ip>127.0.0.1</ip></networks><profile>reports</profile><quota>default</quota>
      <grants><query>GRANT SELECT ON %[2]s.run*</query><query>GRANT SELECT ON %[2]s.report_*</query><query>GRANT SELECT ON %[2]s.v_*</query>
      <query>GRANT SELECT ON %[2]s.facts</query></grants></%[3]s>
    <%[2]s><password_sha256_hex>%[1]s</password_sha256_hex><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></%[2]s>
  </users>
  <quotas><default></default></quotas>
</clickhouse>
`

// writeConfig writes the server's files into dir, and returns the path of the first.
func writeConfig(dir, password string) (string, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", fmt.Errorf("make folder of ClickHouse: %w", err)
	}
	sum := sha256.Sum256([]byte(password))
	config, users := filepath.Join(dir, "config.xml"), filepath.Join(dir, "users.xml")
	for path, text := range map[string]string{
		config: fmt.Sprintf(serverConfig, users),
		users:  fmt.Sprintf(usersConfig, hex.EncodeToString(sum[:]), user, reader),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return "", fmt.Errorf("write configuration of ClickHouse: %w", err)
		}
	}
	return config, nil
}
