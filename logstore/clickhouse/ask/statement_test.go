package ask

import (
	"errors"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/job"
)

func TestAStatementThatReadsTheHistoryIsTaken(t *testing.T) {
	take := func(statement, want string) {
		t.Helper()
		if got, err := readStatement(statement); got != want || err != nil {
			t.Errorf("%q is taken as %q, with %v; want %q", statement, got, err, want)
		}
	}
	as := func(statement string) { t.Helper(); take(statement, statement) }
	as("SELECT job FROM runs")
	as("(SELECT 1) UNION ALL (SELECT 2)")
	as("FROM runs SELECT count()")
	as("with x AS (SELECT 1 AS a) SELECT a FROM x")
	as("/* a comment's */ -- it's one too\n # and this 'one\n SELECT 1")
	as("EXPLAIN SELECT 1")
	as("DESCRIBE v_runs")
	as("SHOW TABLES LIKE 'v%'")
	as("SHOW CREATE VIEW v_runs")
	as("SELECT 'it''s system.one', '\\' system.one; --', 'file', 'größe'")
	as(`SELECT job AS "it's", 1 AS "größe", count() FROM runs GROUP BY ALL`)
	as("SELECT system, x.settings FROM (SELECT 1 AS system, 2 AS settings) AS x WHERE settings = 1")
	as("SELECT filesystem FROM (SELECT 1 AS filesystem)")
	as("SELECT count() FROM runs SETTINGS max_execution_time = 5, `max_threads`=1, join_use_nulls = true, session_timezone = 'Europe/Paris'")
	as("SELECT count() FROM runs SETTINGS max_execution_time = 0.5 FORMAT CSV")
	as("SELECT count() FROM runs FORMAT CSV SETTINGS max_execution_time = 5 -- short")
	take("SELECT 1; ;\n -- that is all", "SELECT 1")
}

func TestAStatementThatDoesMoreIsRefused(t *testing.T) {
	refused := func(statement, why string) {
		t.Helper()
		got, err := readStatement(statement)
		if invalid, ok := errors.AsType[*job.InvalidError](err); !ok || invalid.Field != "query" || !strings.Contains(invalid.Reason, why) {
			t.Errorf("%q is taken as %q, with %v; want an error about %q", statement, got, err, why)
		}
	}
	for _, statement := range []string{"", " ", ";", "()", "-- SELECT 1", "DROP TABLE runs", "/* SELECT */ DROP TABLE runs", "SELECTED", "'SELECT' 1", `"SELECT" 1`} {
		refused(statement, "must be a SELECT")
	}
	for _, statement := range []string{"SELECT 1; DROP TABLE runs", "SELECT 1;; SELECT 2", "SELECT 1 -- ;\n ; SELECT 2"} {
		refused(statement, "one statement")
	}
	for _, from := range []string{
		"system.one", "SYSTEM.one", "`system`.one", `"system".one`, "system /* */ . /* */ one", "system\n.one", "information_schema.tables", "INFORMATION_SCHEMA.tables",
		"x, /* ' */ system.settings /* ' */", "x, -- '\n system.settings -- '\n", "x, # '\n system.settings # '\n", "(SELECT * FROM system.one)", "(SELECT 'a\\'b', * FROM system.one)", "(SELECT 'a''b', * FROM system.one)",
	} {
		refused("SELECT * FROM "+from, "tables of the system")
	}
	for _, statement := range []string{
		"SELECT file('/etc/passwd')", "SELECT `file`('/etc/passwd')", "SELECT file /* */ ('/etc/passwd')", "SELECT * APPLY(file) FROM (SELECT '/etc/passwd')", "SELECT * APPLY file FROM (SELECT '/etc/passwd')",
		"SELECT arrayMap(file, ['/etc/passwd'])", "WITH x -> file(x) AS f SELECT f('/etc/passwd')", "SELECT * FROM file('/etc/passwd')", "SELECT catboostEvaluate('/etc/passwd', 1)",
		"SELECT * FROM url('http://h/', CSV)", "SELECT * FROM URL('http://h/', CSV)", "DESCRIBE TABLE url('http://h/', CSV)", "SELECT * FROM s3('http://h/x')", "SELECT * FROM s3Cluster('c', 'http://h/x')", "SELECT * FROM remote('h', x.y)",
		"SELECT * FROM clusterAllReplicas('c', x.y)", "SELECT * FROM mysql('h:1', 'd', 't', 'u', 'p')", "SELECT * FROM icebergS3('x')", "SELECT * FROM deltaLakeLocal('/')", "SELECT * FROM eval('SELECT 1')",
		"SELECT * FROM executable('x', CSV)", "SELECT * FROM dictionary('x')", "SELECT * FROM (SELECT * FROM azureBlobStorage('x'))", "SELECT aiGenerate('x')",
	} {
		refused(statement, "more than the history")
	}
	for _, statement := range []string{"SELECT 1 INTO OUTFILE '/tmp/x'", "SELECT 1 INTO /* */ OUTFILE '/tmp/x' TRUNCATE FORMAT CSV"} {
		refused(statement, "INTO OUTFILE")
	}
	for _, statement := range []string{
		"SELECT * FROM (SELECT 1 SETTINGS max_execution_time = 0)", "WITH x AS (SELECT 1 SETTINGS max_execution_time = 0) SELECT * FROM x", "SELECT * FROM view(SELECT 1 SETTINGS readonly = 0)",
		"SELECT (SELECT 1 settings\n`readonly` /* */ = 0)",
	} {
		refused(statement, "parentheses")
	}
	refused("SELECT 1 SETTINGS max_execution_time = 1 UNION ALL SELECT 2", "before its end")
	refused("SELECT 1 SETTINGS max_threads = 1, max_execution_time = 1 UNION ALL SELECT 2", "before its end")
	for name, value := range map[string]string{"readonly": "0", "profile": "'default'", "allow_experimental_eval_table_function": "1", "param_x": "'system'", "max_untracked_memory": "1", "dialect": "'prql'"} {
		refused("SELECT 1 SETTINGS "+name+" = "+value, "sets "+name)
		refused("SELECT 1 SETTINGS max_threads = 1, \""+name+"\"="+value, "sets "+name)
	}
	refused("SELECT 1 SETTINGS max_threads = DEFAULT", "NAME = VALUE")
	refused("SELECT 1 SETTINGS max_threads = 1 + 1", "before its end")
	refused("SELECT 1 SETTINGS max_threads = (SELECT 1)", "NAME = VALUE")
	for _, statement := range []string{"SHOW PROCESSLIST", "SHOW GRANTS", "SHOW SETTINGS LIKE '%'", "SHOW USERS", "SHOW FUNCTIONS", "SHOW", "SHOW TABLES FROM system", "SHOW COLUMNS FROM x FROM `system`"} {
		refused(statement, "SHOW")
	}
	refused("SELECT 'open", "a ' without")
	refused("SELECT 'open\\'", "a ' without")
	refused("SELECT 1 AS \"open", "a \" without")
	refused("SELECT 1 /* open", "comment")
	refused("SELECT * FROM `sys\\x74em`.one", "backslash")
	refused("SELECT $a$ ' $a$, x", "outside of quotes")
	refused("SELECT ‘system.one’", "outside of quotes")
	refused("SELECT 1 \x00", "outside of quotes")
	refused("SELECT\u00a01", "outside of quotes")
	refused("SELECT #1", "outside of quotes")
}
