// Package imports reads curves that other tools measured.
package imports
