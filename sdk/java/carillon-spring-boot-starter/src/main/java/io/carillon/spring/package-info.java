/**
 * Carillon in Spring Boot: methods of beans with {@link io.carillon.spring.CarillonJob} do runs, with
 * the settings {@code carillon.*}. The executor starts when the context has started, and stops before
 * any other bean does.
 */
package io.carillon.spring;
