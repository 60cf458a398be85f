package live

import (
	"fmt"
	"net"
	"os"
	"strconv"
)

// freePort finds P such that P and P plus each offset are free. It stays below
// the range from which the kernel takes ports for outgoing connections.
func freePort(offsets ...int) (int, error) {
	const first, step, tries = 20000, 300, 30
	for i := range tries {
		p := first + (os.Getpid()+i)%tries*step
		if portsFree(p, offsets) {
			return p, nil
		}
	}
	return 0, fmt.Errorf("no free ports P and P+%v from %d on", offsets, first)
}

func portsFree(p int, offsets []int) bool {
	for _, offset := range append([]int{0}, offsets...) {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p+offset)))
		if err != nil || l.Close() != nil {
			return false
		}
	}
	return true
}
