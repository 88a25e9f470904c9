package io.carillon.executor;

/**
 * Which part of a run an attempt does.
 *
 * @param index counts from 0
 * @param total how many pieces the run has; 1 in a run without pieces
 */
public record Piece(int index, int total) {}
