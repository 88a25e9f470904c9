package io.carillon.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Has a method of a bean do the runs of jobs with {@code task: {handler: NAME}}.
 *
 * <p>The method may take a {@link io.carillon.executor.Run}, and one more argument of any type, which
 * Jackson makes of the job's parameters. What it returns becomes the run's result. A future that it
 * returns, also as an {@code @Async} method, is awaited.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface CarillonJob {
  /** The name of the handler. */
  String value();

  /** What the handler does, for those who write jobs. */
  String description() default "";

  /** How many runs of the handler may be done at once here. Defaults to 0: as many as {@code carillon.slots} allows. */
  int slots() default 0;
}
