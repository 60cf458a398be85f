// Command release builds what a release consists of, from the sources in the
// current folder: for each platform an archive with the static binary, man pages
// and licences, and a software bill of materials (SPDX 2.3), and checksums of all.
//
//	release -version V [-commit C] [-epoch SECONDS] [-platform OS/ARCH]… DIR
//	release -check DIR
//
// The same sources and the same Go give the same bytes, wherever they lie: paths
// are trimmed, what git knows is not stamped, and times in archives are -epoch.
// -check proves it: it builds a copy of the sources in another folder with an
// empty build cache, compares it with DIR, and measures how long the binary of
// this machine takes to start.
//
// A binary that is not static, not stamped with the version or not smaller than
// 25 MB is an error.
package main
