package io.carillon.executor;

import java.lang.reflect.Proxy;

/**
 * SIGTERM and SIGINT. A shutdown hook would do, but then a program that was stopped well exits with
 * 143. The class of the JDK that hears signals is in module jdk.unsupported, hence the reflection.
 */
final class Signals {
  private Signals() {}

  static void onStop(Runnable stop) {
    try {
      Class<?> signal = Class.forName("sun.misc.Signal");
      Class<?> handler = Class.forName("sun.misc.SignalHandler");
      Object stops = Proxy.newProxyInstance(handler.getClassLoader(), new Class<?>[] {handler}, (proxy, method, arguments) -> {
        stop.run();
        return null;
      });
      for (String name : new String[] {"TERM", "INT"}) {
        signal.getMethod("handle", signal, handler).invoke(null, signal.getConstructor(String.class).newInstance(name), stops);
      }
    } catch (ReflectiveOperationException e) { // not there, or the JVM was told to leave signals alone
      Runtime.getRuntime().addShutdownHook(new Thread(stop, "carillon-stop"));
    }
  }
}
