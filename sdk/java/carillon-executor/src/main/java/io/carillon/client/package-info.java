/**
 * Runs jobs from the code of an application, by the HTTP API.
 *
 * <p>A call of {@link io.carillon.client.Client#run(String, Object) run} makes one run. It sends a random
 * {@code run_id} and repeats the request with it, for 30 s, while servers are away or the connection breaks;
 * servers remember a {@code run_id} for five minutes. {@link io.carillon.client.ClientException.Unavailable}
 * leaves open whether there is a run. After other errors there is none.
 */
package io.carillon.client;
