// Package xxljob reads a dump of XXL-JOB's database, as mysqldump and the like write it,
// and makes jobs of what it schedules. It needs the tables xxl_job_info and
// xxl_job_group, of version 2.2 or later; statements about other tables are passed over.
//
//	mysqldump xxl_job xxl_job_group xxl_job_info > xxl-job.sql
//
// What XXL-JOB calls an executor, by its AppName, becomes an executor group. Its jobs have
// no names: one is named after its handler, else after its description, else by its number;
// of several that would be called the same the one with the lowest number has the plain
// name, and the others theirs with their numbers. So a dump can be imported again after jobs
// have come to it.
//
// What changes: a block strategy holds in the whole cluster and no longer for each machine,
// failures are told by alert rules rather than by an e-mail address of each job, and Groovy
// (GLUE in Java), which runs inside of a Java program, needs executors of XXL-JOB: such jobs
// say so.
package xxljob
