package carillon.xxl;

import com.xxl.job.core.biz.model.ReturnT;
import com.xxl.job.core.executor.XxlJobExecutor;
import com.xxl.job.core.handler.IJobHandler;
import com.xxl.job.core.log.XxlJobLogger;
import com.xxl.job.core.util.ShardingUtil;

/** The executor of version 2.2: handlers are objects, and return their outcome. */
final class Peer extends IJobHandler {
    private final Handlers handlers;
    private final String name;

    private Peer(Handlers handlers, String name) {
        this.handlers = handlers;
        this.name = name;
    }

    static Runnable start(Main.Settings settings, Handlers handlers) throws Exception {
        XxlJobExecutor executor = new XxlJobExecutor();
        executor.setAdminAddresses(settings.admin());
        executor.setAppname(settings.appname());
        executor.setIp(settings.ip());
        executor.setPort(settings.port());
        executor.setLogPath(settings.logs());
        executor.setAccessToken(settings.token());
        for (String name : handlers.names()) {
            XxlJobExecutor.registJobHandler(name, new Peer(handlers, name));
        }
        executor.start();
        return executor::destroy;
    }

    @Override
    public ReturnT<String> execute(String param) throws Exception {
        try {
            return new ReturnT<>(ReturnT.SUCCESS_CODE, handlers.handle(name, new Run22(param == null ? "" : param)));
        } catch (Handlers.Failed e) {
            return new ReturnT<>(ReturnT.FAIL_CODE, e.getMessage());
        }
    }

    private record Run22(String param) implements Handlers.Run {
        @Override
        public int index() {
            return ShardingUtil.getShardingVo().getIndex();
        }

        @Override
        public int total() {
            return ShardingUtil.getShardingVo().getTotal();
        }

        @Override
        public void log(String line) {
            XxlJobLogger.log("{}", line);
        }
    }
}
