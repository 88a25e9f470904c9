#!/bin/sh
# Makes what compose.yaml needs, in ./secrets: keys, the configuration of NATS, and
# certificates of an authority of its own. It needs carillon and openssl in PATH, and
# makes nothing anew that is there.
set -eu
cd "$(dirname "$0")"
mkdir -p secrets/tls
umask 077

[ -e secrets/nats.keys ] || carillon nats keygen > secrets/nats.keys
[ -e secrets/master.key ] || carillon secret keygen > secrets/master.key

if [ ! -e secrets/tls/cert.pem ]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj /CN=carillon-compose-ca \
    -keyout secrets/tls/ca.key -out secrets/tls/ca.pem
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=carillon-compose \
    -keyout secrets/tls/key.pem -out secrets/tls/cert.csr
  printf 'subjectAltName=DNS:localhost,DNS:nats1,DNS:nats2,DNS:nats3,DNS:server1,DNS:server2,IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n' > secrets/tls/ext
  openssl x509 -req -in secrets/tls/cert.csr -CA secrets/tls/ca.pem -CAkey secrets/tls/ca.key -CAcreateserial -days 825 \
    -extfile secrets/tls/ext -out secrets/tls/cert.pem
fi

# The same configuration for all three: what differs is a variable.
carillon nats config --keys secrets/nats.keys --name '$NATS_NAME' --listen 0.0.0.0:4222 --store /data \
  --tls-cert /etc/nats/tls/cert.pem --tls-key /etc/nats/tls/key.pem --tls-ca /etc/nats/tls/ca.pem \
  --cluster carillon --cluster-listen 0.0.0.0:6222 --route nats1:6222,nats2:6222,nats3:6222 > secrets/nats.conf
# The images run as users of their own, so files are readable; the folder lets nobody else
# on this machine reach them. Docker mounts them as root. "carillon credential create" makes the seed of the
# executor readable for its owner alone: jobs run as the executor's user.
chmod 700 secrets
chmod 755 secrets/tls
chmod 644 secrets/nats.conf secrets/tls/*.pem secrets/nats.keys secrets/master.key
echo "secrets are in $(pwd)/secrets; only you and root can reach them"
