package main

import "os"

// regularFile refuses folders, devices and pipes before they are opened: one
// without a writer would hold the command for ever, and a journal is read twice.
func regularFile(path string) (os.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, badInput(err)
	}
	if info.IsDir() {
		return nil, badInputf("%s is a folder and not a regular file; name one", path)
	}
	if !info.Mode().IsRegular() {
		return nil, badInputf("%s is not a regular file; name one", path)
	}
	return info, nil
}
