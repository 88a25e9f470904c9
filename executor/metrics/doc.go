// Package metrics counts what an executor does, for Prometheus.
package metrics
