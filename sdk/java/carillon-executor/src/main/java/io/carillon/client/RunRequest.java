package io.carillon.client;

/** A run to ask for: the arguments of {@link Client#run(String, Object, RunOptions)}. */
public record RunRequest(String job, Object params, RunOptions options) {}
