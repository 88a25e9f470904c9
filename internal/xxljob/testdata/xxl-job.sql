-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)
--
-- Host: 10.4.0.3    Database: xxl_job
/*!40101 SET NAMES utf8mb4 */;
/*!40103 SET TIME_ZONE='+00:00' */;

DROP TABLE IF EXISTS `xxl_job_group`;
CREATE TABLE `xxl_job_group` (
  `id` int NOT NULL AUTO_INCREMENT,
  `app_name` varchar(64) NOT NULL COMMENT 'AppName, as executors register it',
  `title` varchar(12) NOT NULL,
  `address_type` tinyint NOT NULL DEFAULT '0',
  `address_list` text,
  `update_time` datetime DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=4 DEFAULT CHARSET=utf8mb4;
LOCK TABLES `xxl_job_group` WRITE;
INSERT INTO `xxl_job_group` VALUES (1,'xxl-job-executor-sample','示例执行器',0,'http://10.4.1.11:9999/,http://10.4.1.12:9999/','2024-03-18 22:21:31'),(2,'billing','账务',1,NULL,NULL);
UNLOCK TABLES;

DROP TABLE IF EXISTS `xxl_job_info`;
CREATE TABLE `xxl_job_info` (
  `id` int NOT NULL AUTO_INCREMENT,
  `job_group` int NOT NULL,
  `job_desc` varchar(255) NOT NULL,
  `add_time` datetime DEFAULT NULL,
  `update_time` datetime DEFAULT NULL,
  `author` varchar(64) DEFAULT NULL,
  `alarm_email` varchar(255) DEFAULT NULL,
  `schedule_type` varchar(50) NOT NULL DEFAULT 'NONE',
  `schedule_conf` varchar(128) DEFAULT NULL,
  `misfire_strategy` varchar(50) NOT NULL DEFAULT 'DO_NOTHING',
  `executor_route_strategy` varchar(50) DEFAULT NULL,
  `executor_handler` varchar(255) DEFAULT NULL,
  `executor_param` varchar(512) DEFAULT NULL,
  `executor_block_strategy` varchar(50) DEFAULT NULL,
  `executor_timeout` int NOT NULL DEFAULT '0',
  `executor_fail_retry_count` int NOT NULL DEFAULT '0',
  `glue_type` varchar(50) NOT NULL,
  `glue_source` mediumtext,
  `glue_remark` varchar(128) DEFAULT NULL,
  `glue_updatetime` datetime DEFAULT NULL,
  `child_jobid` varchar(255) DEFAULT NULL COMMENT 'ids, parted by commas',
  `trigger_status` tinyint NOT NULL DEFAULT '0',
  `trigger_last_time` bigint NOT NULL DEFAULT '0',
  `trigger_next_time` bigint NOT NULL DEFAULT '0',
  PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=9 DEFAULT CHARSET=utf8mb4;
LOCK TABLES `xxl_job_info` WRITE;
/*!40000 ALTER TABLE `xxl_job_info` DISABLE KEYS */;
INSERT INTO `xxl_job_info` VALUES
(1,1,'测试任务1','2018-11-03 22:21:31','2018-11-03 22:21:31','XXL','','CRON','0 0 0 * * ? *','DO_NOTHING','FIRST','demoJobHandler','','SERIAL_EXECUTION',0,0,'BEAN','','GLUE代码初始化','2018-11-03 22:21:31','',0,0,0),
(2,2,'Close the day\'s invoices','2024-01-02 10:00:00','2024-05-02 10:00:00','Chen Yu','billing@example.com,ops@example.com','CRON','0 30 2 ? * MON-SAT','FIRE_ONCE_NOW','FAILOVER','invoiceClose','{\"audience\": \"high\"}','DISCARD_LATER',600,2,'BEAN','','','2024-01-02 10:00:00','3,7,99',1,1735756200000,1735842600000),
(3,2,'Publish totals','2024-01-02 10:00:00',NULL,'Chen Yu',NULL,'NONE','','DO_NOTHING','ROUND','invoiceClose','publish','COVER_EARLY',0,0,'BEAN','','','2024-01-02 10:00:00','2',0,0,0),
(4,1,'rotate logs',NULL,NULL,'ops','','FIX_RATE','90','DO_NOTHING','SHARDING_BROADCAST','','a b','SERIAL_EXECUTION',30,0,'GLUE_SHELL','#!/bin/bash\r\necho \"index $2 of $3\"; # it''s fine\r\nexit 0\r\n','v2','2024-01-02 10:00:00','',1,0,0),
(5,1,'对账',NULL,NULL,'ops','','FIX_DELAY','300','DO_NOTHING','LEAST_RECENTLY_USED','',NULL,'SERIAL_EXECUTION',0,0,'GLUE_PYTHON2','print \"x\"','',NULL,NULL,1,0,0),
(6,1,'In Java',NULL,NULL,'ops','','CRON','0 0 1 * * ?','DO_NOTHING','FIRST','','','SERIAL_EXECUTION',0,0,'GLUE_GROOVY','package x;','',NULL,'',1,0,0),
(7,2,'no such minute',NULL,NULL,'ops','','CRON','0 75 1 * * ?','DO_NOTHING','SOMEWHERE','late','','SERIAL_EXECUTION',0,0,'BEAN','','',NULL,'',1,0,0),
(8,9,'of nobody',NULL,NULL,'ops','','FIX_RATE','often','DO_NOTHING','FIRST','demoJobHandler','','SERIAL_EXECUTION',0,0,'BEAN','','',NULL,'',1,0,0);
/*!40000 ALTER TABLE `xxl_job_info` ENABLE KEYS */;
UNLOCK TABLES;
INSERT INTO `xxl_job_lock` VALUES ('schedule_lock');
-- Dump completed on 2024-06-01  3:00:00
