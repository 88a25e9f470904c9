#!/bin/sh
# The executor for `carillon conformance`, after `mvn verify`. Small, because many run side by side.
cd "$(dirname "$0")/carillon-executor/target" &&
  exec java -Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto \
    -cp "test-classes:classes:$(cat test.classpath)" io.carillon.executor.Subject
