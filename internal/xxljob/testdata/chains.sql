-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)
/*!40101 SET NAMES utf8mb4 */;
INSERT INTO `xxl_job_group` (`id`,`app_name`,`title`) VALUES (1,'billing','账务'),(2,'reports','报表');
INSERT INTO `xxl_job_info` (`id`,`job_group`,`job_desc`,`author`,`schedule_type`,`schedule_conf`,`executor_handler`,`executor_block_strategy`,`glue_type`,`child_jobid`,`trigger_status`) VALUES
(1,1,'每晚抽取','Chen Yu','CRON','0 0 3 * * ?','extract','SERIAL_EXECUTION','BEAN','2',1),
(2,1,'清洗','Chen Yu','NONE','','clean','SERIAL_EXECUTION','BEAN','3',0),
(3,1,'入库','Chen Yu','NONE','','load','SERIAL_EXECUTION','BEAN','',0),
(4,1,'Close the day','ops','CRON','0 30 2 ? * MON-SAT','closeDay','DISCARD_LATER','BEAN','5,6',1),
(5,1,'All rows','ops','NONE','','full','SERIAL_EXECUTION','BEAN','7',0),
(6,1,'New rows','ops','NONE','','delta','SERIAL_EXECUTION','BEAN','7',0),
(7,2,'Publish','ops','NONE','','publish','SERIAL_EXECUTION','BEAN','',0),
(8,1,'Poll','ops','CRON','0 0/5 * * * ?','poll','SERIAL_EXECUTION','BEAN','9',1),
(9,1,'Poll again','ops','NONE','','pollAgain','SERIAL_EXECUTION','BEAN','8',0),
(10,1,'Early','ops','CRON','0 0 6 * * ?','early','SERIAL_EXECUTION','BEAN','12',1),
(11,1,'Often','ops','FIX_RATE','600','often','COVER_EARLY','BEAN','12',1),
(12,2,'Index','ops','NONE','','index','SERIAL_EXECUTION','BEAN','',0),
(13,1,'Stopped','ops','CRON','0 0 4 * * ?','stopped','SERIAL_EXECUTION','BEAN','14,17',0),
(14,1,'Stopped child','ops','CRON','0 0 0 * * ? *','sync','SERIAL_EXECUTION','BEAN','',0),
(15,1,'By hand','ops','NONE','','byHand','SERIAL_EXECUTION','BEAN','2,16',0),
(16,1,'In Ruby','ops','NONE','','','SERIAL_EXECUTION','GLUE_RUBY','3',0),
(17,2,'Fires itself','ops','FIX_DELAY','300','sync','SERIAL_EXECUTION','BEAN','',1);
