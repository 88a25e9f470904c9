package io.carillon.client;

/**
 * What became of a {@link RunRequest}.
 *
 * @param run the run, or null
 * @param error why there is no run, or null
 */
public record RunResult(Run run, ClientException error) {}
