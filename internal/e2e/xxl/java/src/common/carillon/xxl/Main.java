package carillon.xxl;

/**
 * An XXL-JOB executor without a framework. The environment configures it: XXL_ADMIN, XXL_APPNAME,
 * XXL_PORT, XXL_LOGS, XXL_TOKEN and XXL_WITNESS. It listens on 127.0.0.1. SIGTERM stops it.
 */
public final class Main {
    private Main() {}

    public static void main(String[] args) throws Exception {
        Settings settings = new Settings(
                of("XXL_ADMIN"), of("XXL_APPNAME"), "127.0.0.1", Integer.parseInt(of("XXL_PORT")), of("XXL_LOGS"), of("XXL_TOKEN"));
        Runnable stop = Peer.start(settings, new Handlers(of("XXL_WITNESS")));
        Runtime.getRuntime().addShutdownHook(new Thread(stop));
        Thread.currentThread().join(); // the threads of the library do not keep the process alive
    }

    private static String of(String variable) {
        String value = System.getenv(variable);
        if (value == null) {
            throw new IllegalArgumentException(variable + " is not set");
        }
        return value;
    }

    /** What an executor of any version is told. */
    record Settings(String admin, String appname, String ip, int port, String logs, String token) {}
}
