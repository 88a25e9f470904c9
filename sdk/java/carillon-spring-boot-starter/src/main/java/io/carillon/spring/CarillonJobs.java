package io.carillon.spring;

import io.carillon.executor.ConfigurationException;
import io.carillon.executor.Handlers;
import io.carillon.executor.Registration;
import io.carillon.executor.Run;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.lang.reflect.Type;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;

/** Registers the methods of beans that have {@link CarillonJob}, once all beans are there. */
final class CarillonJobs implements SmartInitializingSingleton {
  private final ConfigurableListableBeanFactory beans;
  private final Handlers handlers;

  CarillonJobs(ConfigurableListableBeanFactory beans, Handlers handlers) {
    this.beans = beans;
    this.handlers = handlers;
  }

  @Override
  public void afterSingletonsInstantiated() {
    BeanMethods.forEach(beans, CarillonJob.class, this::register);
  }

  private void register(Object bean, Method method, CarillonJob job) {
    boolean isAsync = AnnotatedElementUtils.hasAnnotation(method, Async.class) || AnnotatedElementUtils.hasAnnotation(method.getDeclaringClass(), Async.class);
    if (isAsync && method.getReturnType() == void.class) {
      throw new ConfigurationException("@CarillonJob method " + method
          + " is @Async and returns nothing, so its run would succeed before it ends: return a CompletableFuture, or remove @Async");
    }
    Registration registration = handlers.registerGeneric(job.value(), paramsType(method), method.getGenericReturnType(), (run, params) -> call(bean, method, run, params))
        .description(job.description());
    if (job.slots() != 0) {
      registration.slots(job.slots());
    }
  }

  /** The type of the one argument that is no run. */
  private static Type paramsType(Method method) {
    Type type = Void.class;
    int runs = 0;
    for (Parameter p : method.getParameters()) {
      if (p.getType() == Run.class) {
        runs++;
      } else {
        type = p.getParameterizedType();
      }
    }
    if (method.getParameterCount() - runs > 1 || runs > 1) {
      throw new ConfigurationException("@CarillonJob method " + method + " may take a Run and one more argument, for the parameters");
    }
    return type;
  }

  private static Object call(Object bean, Method method, Run run, Object params) throws Exception {
    Class<?>[] types = method.getParameterTypes();
    Object[] arguments = new Object[types.length];
    for (int i = 0; i < types.length; i++) {
      arguments[i] = types[i] == Run.class ? run : params;
    }
    try {
      return method.invoke(bean, arguments);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
  }
}
