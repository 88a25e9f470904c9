package carillon.xxl;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * What the executor can do, whatever the version. Where a parameter begins with a number, that is
 * how long (milliseconds) or how much; the rest tells runs apart.
 */
final class Handlers {
    /** One run, as a handler sees it. */
    interface Run {
        String param();

        int index();

        int total();

        void log(String line);
    }

    /** A handler says with it that it failed, and why; any other exception is a mistake in it. */
    static final class Failed extends Exception {
        private static final long serialVersionUID = 1;

        Failed(String message) {
            super(message);
        }
    }

    private interface Handler {
        String handle(Run run) throws Exception;
    }

    private final Path witness;
    private final Map<String, Handler> byName = Map.of(
            "success", Handlers::succeed,
            "failure", Handlers::fail,
            "exception", Handlers::blunder,
            "slow", Handlers::sleep,
            "stubborn", Handlers::sleepWhateverHappens,
            "log", Handlers::print,
            "shard", Handlers::takeShard);

    Handlers(String witness) {
        this.witness = Path.of(witness);
    }

    Iterable<String> names() {
        return byName.keySet();
    }

    /** Runs a handler and returns its message. Its start and its end become lines of the witness. */
    String handle(String name, Run run) throws Exception {
        String about = "\t" + name + "\t" + run.index() + "\t" + run.param() + "\t";
        witness("start" + about);
        String outcome = "died";
        try {
            String message = byName.get(name).handle(run);
            outcome = "succeeded";
            return message;
        } catch (Failed e) {
            outcome = "failed";
            throw e;
        } catch (InterruptedException e) {
            outcome = "interrupted";
            throw e;
        } finally {
            witness("end" + about + outcome);
        }
    }

    /** Appends a line by one write, so that lines of several processes do not mix. */
    private void witness(String line) throws IOException {
        boolean interrupted = Thread.interrupted(); // else the channel would be closed
        try (FileChannel file = FileChannel.open(witness, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            file.write(ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8)));
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static String succeed(Run run) {
        run.log("param: " + run.param());
        return "echo: " + run.param();
    }

    private static String fail(Run run) throws Failed {
        run.log("about to fail");
        throw new Failed("failed: " + run.param());
    }

    private static String blunder(Run run) {
        throw new IllegalStateException("blunder: " + run.param());
    }

    private static String sleep(Run run) throws InterruptedException {
        run.log("asleep");
        Thread.sleep(number(run));
        run.log("awake");
        return "slept";
    }

    private static String sleepWhateverHappens(Run run) {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(number(run));
        for (long left; (left = until - System.nanoTime()) > 0; ) {
            try {
                TimeUnit.NANOSECONDS.sleep(left);
            } catch (InterruptedException e) {
                run.log("not now");
            }
        }
        return "slept";
    }

    private static String print(Run run) {
        for (long i = 1, n = number(run); i <= n; i++) {
            run.log("line " + i + " of " + n);
        }
        return "printed";
    }

    /** Fails in the piece whose index its parameter begins with. */
    private static String takeShard(Run run) throws Failed {
        run.log("piece " + run.index() + " of " + run.total());
        if (!run.param().isEmpty() && run.index() == number(run)) {
            throw new Failed("piece " + run.index() + " failed");
        }
        return "piece " + run.index() + " of " + run.total();
    }

    private static long number(Run run) {
        return Long.parseLong(run.param().split(" ", 2)[0]);
    }
}
