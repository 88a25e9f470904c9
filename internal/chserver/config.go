package chserver

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// user is the only one that the server lets in.
const user = "carillon"

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
// read files as this user, and see no table.
const usersConfig = `<clickhouse>
  <profiles><default>
    <max_memory_usage>2000000000</max_memory_usage>
    <implicit_select>0</implicit_select>
    <async_insert>0</async_insert>
  </default></profiles>
  <users>
    <default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota>
      <grants><query>GRANT SYSTEM LISTEN ON *.*</query><query>GRANT CREATE TEMPORARY TABLE ON *.*</query><query>GRANT READ ON FILE</query></grants></default>
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
		users:  fmt.Sprintf(usersConfig, hex.EncodeToString(sum[:]), user),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return "", fmt.Errorf("write configuration of ClickHouse: %w", err)
		}
	}
	return config, nil
}
