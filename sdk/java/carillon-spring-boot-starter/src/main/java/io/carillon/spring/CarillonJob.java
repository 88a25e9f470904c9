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
 * Jackson makes of the job's parameters. What it returns becomes the run's result.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface CarillonJob {
  /** The name of the handler. */
  String value();

  /** What the handler does, for those who write jobs. */
  String description() default "";
}
