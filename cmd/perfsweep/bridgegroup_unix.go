//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// ownGroup puts a program into a process group of its own, so that it ends with
// all of its workers, and not by a Ctrl-C that is meant for this process.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// endGroup ends what a program has left running.
func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // mostly there is nothing left
	}
}
