package carillon.xxl;

import com.xxl.job.core.context.XxlJobHelper;
import com.xxl.job.core.executor.impl.XxlJobSimpleExecutor;
import com.xxl.job.core.handler.annotation.XxlJob;
import java.util.List;

/** The executor of version 2.3 and later: handlers are methods, and report their outcome. */
public final class Peer {
    private final Handlers handlers;

    private Peer(Handlers handlers) {
        this.handlers = handlers;
    }

    static Runnable start(Main.Settings settings, Handlers handlers) {
        XxlJobSimpleExecutor executor = new XxlJobSimpleExecutor();
        executor.setAdminAddresses(settings.admin());
        executor.setAppname(settings.appname());
        executor.setIp(settings.ip());
        executor.setPort(settings.port());
        executor.setLogPath(settings.logs());
        executor.setAccessToken(settings.token());
        executor.setXxlJobBeanList(List.of(new Peer(handlers)));
        executor.start();
        return executor::destroy;
    }

    @XxlJob("success")
    public void success() throws Exception {
        handle("success");
    }

    @XxlJob("failure")
    public void failure() throws Exception {
        handle("failure");
    }

    @XxlJob("exception")
    public void exception() throws Exception {
        handle("exception");
    }

    @XxlJob("slow")
    public void slow() throws Exception {
        handle("slow");
    }

    @XxlJob("stubborn")
    public void stubborn() throws Exception {
        handle("stubborn");
    }

    @XxlJob("log")
    public void log() throws Exception {
        handle("log");
    }

    @XxlJob("shard")
    public void shard() throws Exception {
        handle("shard");
    }

    private void handle(String name) throws Exception {
        String param = XxlJobHelper.getJobParam();
        try {
            XxlJobHelper.handleSuccess(handlers.handle(name, new Run23(param == null ? "" : param)));
        } catch (Handlers.Failed e) {
            XxlJobHelper.handleFail(e.getMessage());
        }
    }

    private record Run23(String param) implements Handlers.Run {
        @Override
        public int index() {
            return XxlJobHelper.getShardIndex();
        }

        @Override
        public int total() {
            return XxlJobHelper.getShardTotal();
        }

        @Override
        public void log(String line) {
            XxlJobHelper.log("{}", line);
        }
    }
}
