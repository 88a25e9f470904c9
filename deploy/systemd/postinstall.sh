#!/bin/sh
# What the packages do after they were installed: make the user of carillon-server.service.
set -e
getent group carillon >/dev/null || groupadd --system carillon
getent passwd carillon >/dev/null ||
  useradd --system --gid carillon --home-dir /var/lib/carillon --no-create-home --shell /usr/sbin/nologin carillon
chgrp carillon /etc/carillon
chmod 750 /etc/carillon
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
