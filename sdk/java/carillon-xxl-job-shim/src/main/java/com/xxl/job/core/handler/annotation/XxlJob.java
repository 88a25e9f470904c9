package com.xxl.job.core.handler.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Has a method do the runs of jobs with {@code task: {handler: NAME}}. */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface XxlJob {
  /** The name of the handler. */
  String value();

  /** A method without arguments of the same object, which is called once, before the first run. */
  String init() default "";

  /** A method without arguments of the same object, which is called once, when the program ends. */
  String destroy() default "";
}
