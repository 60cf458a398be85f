// Command acceptance reads go test -json and prints the table of statistical
// acceptance: each row is an attribute of the test that claims it. It shows
// the output of what failed and exits with 1 where anything did, or where no
// row came.
package main
