// Package bundle packs a campaign into one file that can be carried, compared and
// signed, and reads such a file as the hostile input that it may be.
//
// A bundle is a gzip'd tar (USTAR) with manifest.json first and the other parts
// after it in the order of their names, of regular files with bare headers; equal
// parts give equal bytes. A reader refuses every other form, so that nothing can
// travel in it that is not listed.
package bundle
