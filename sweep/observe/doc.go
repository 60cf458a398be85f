// Package observe reads what the servers say of themselves.
package observe
