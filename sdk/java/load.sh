#!/bin/sh
# The executor for load, after `mvn verify`: see internal/e2e/load/main.go.
cd "$(dirname "$0")/carillon-executor/target" &&
  exec java -cp "test-classes:classes:$(cat test.classpath)" io.carillon.executor.Load
