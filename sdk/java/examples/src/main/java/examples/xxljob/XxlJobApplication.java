package examples.xxljob;

import com.xxl.job.core.context.XxlJobHelper;
import com.xxl.job.core.handler.annotation.XxlJob;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.stereotype.Component;

@SpringBootApplication
public class XxlJobApplication {
  public static void main(String[] args) {
    SpringApplication.run(XxlJobApplication.class, args);
  }

  @Component
  static class SampleJobs {
    @XxlJob("demoJobHandler")
    public void demo() {
      XxlJobHelper.log("begun {}", XxlJobHelper.getJobParam());
    }

    @XxlJob("shardingJobHandler")
    public void sharding() {
      XxlJobHelper.log("piece {} of {}", XxlJobHelper.getShardIndex(), XxlJobHelper.getShardTotal());
      if (XxlJobHelper.getShardTotal() < 2) {
        XxlJobHelper.handleFail("this job needs two executors");
      }
    }
  }
}
