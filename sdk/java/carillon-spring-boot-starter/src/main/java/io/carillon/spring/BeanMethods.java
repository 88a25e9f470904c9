package io.carillon.spring;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.Map;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;

/** Finds methods of beans by an annotation, also of lazy beans and behind proxies. */
public final class BeanMethods {
  private BeanMethods() {}

  /** Takes one method. */
  @FunctionalInterface
  public interface Taker<A extends Annotation> {
    /** Takes a method that can be called on the bean. */
    void take(Object bean, Method method, A annotation);
  }

  /** Finds all methods with the annotation. Beans that have none are not created for it. */
  public static <A extends Annotation> void forEach(ConfigurableListableBeanFactory beans, Class<A> annotation, Taker<A> taker) {
    for (String name : beans.getBeanDefinitionNames()) {
      Class<?> type = AutoProxyUtils.determineTargetClass(beans, name);
      if (type != null && !ScopedProxyUtils.isScopedTarget(name) && AnnotationUtils.isCandidateClass(type, annotation)) {
        methods(type, annotation).forEach((declared, found) -> {
          Object bean = beans.getBean(name);
          Method method = AopUtils.selectInvocableMethod(declared, bean.getClass());
          method.setAccessible(true);
          taker.take(bean, method, found);
        });
      }
    }
  }

  private static <A extends Annotation> Map<Method, A> methods(Class<?> type, Class<A> annotation) {
    return MethodIntrospector.selectMethods(type,
        (MethodIntrospector.MetadataLookup<A>) m -> AnnotatedElementUtils.findMergedAnnotation(m, annotation));
  }
}
