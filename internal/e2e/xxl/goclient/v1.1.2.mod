module github.com/carillon-scheduler/carillon/internal/e2e/xxl/goclient

go 1.26.0

require github.com/xxl-job/xxl-job-executor-go v1.1.2

require github.com/go-basic/ipv4 v1.0.0 // indirect
