package clickhouse_test

import (
	"encoding/binary"
	"net"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/chserver/chtest"
	"github.com/carillon-scheduler/carillon/job"
)

// answering listens until the test ends, and answers whatever is said to it first.
func answering(t *testing.T, with []byte) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if _, err := c.Read(make([]byte, 1024)); err == nil {
				_, _ = c.Write(with)
			}
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}

// helloOf is how a server of a version greets whose protocol has a revision.
func helloOf(major, minor, revision uint64) []byte {
	const name = "ClickHouse"
	hello := append([]byte{0, byte(len(name))}, name...)
	for _, n := range []uint64{major, minor, revision} {
		hello = binary.AppendUvarint(hello, n)
	}
	return append(hello, 3, 'U', 'T', 'C', 2, 'c', 'h', 1) // its zone, its name, and the third number of its version
}

func TestAServerThatCannotDoIsRefusedWithWhatWouldBeRight(t *testing.T) {
	refused := func(what, address, option, text string) {
		t.Helper()
		t.Run(what, func(t *testing.T) {
			wantPrepareError(t, "clickhouse://u:guess@"+address+"/d"+option, job.ErrInvalid, text)
		})
	}
	const now, longAgo = 54460, 54000
	refused("an old version", answering(t, helloOf(25, 8, now)), "", "its ClickHouse is 25.8; 26.2 or newer is needed")
	refused("a version that the driver knows no more", answering(t, helloOf(1, 1, longAgo)), "", "its ClickHouse is too old; 26.2 or newer is needed")
	refused("the port of HTTP", answering(t, []byte("HTTP/1.1 400 Bad Request\r\n\r\n")), "", "is that of HTTP: give that of the native protocol")
	refused("a port that wants TLS", answering(t, []byte{21, 3, 1, 0, 2, 2, 10}), "", "wants TLS: add secure=true")
	refused("a port without TLS", answering(t, helloOf(26, 7, now)), "?secure=true", "takes no TLS: leave out secure=true")
	wantPrepareError(t, withOption(chtest.Database(t), "nonsense=1"), job.ErrInvalid, "Unknown setting 'nonsense'")
}
