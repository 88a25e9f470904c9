/**
 * Runs methods that were written for XXL-JOB. The packages {@code com.xxl.job.core} hold classes of
 * the names that such methods import, made for Carillon from XXL-JOB's documented behaviour; nothing
 * of XXL-JOB is in them. Do not put its own jar into the class path, too.
 */
package io.carillon.xxljob;
