// Package treehash reads file trees that something hostile has built and hashes
// them. docs/tree-hash.md has the format.
//
// A Lister turns entries, in canonical order, into one hash. A Cursor moves
// through a directory tree by file descriptors and describes what it finds;
// Walk goes through all of it, and Hash is both together.
//
// It promises: no link is followed, no mount is crossed and the root is never
// left, also while something renames directories; no device, FIFO or socket is
// opened; names are bytes; depth costs neither open files nor stack; and the
// time that a tree takes is bounded by its bytes and entries, whatever size its
// sparse files pretend to have. Times, inode numbers and link counts are no
// part of a hash. It must run as a user that may read everything, and it needs
// /proc.
package treehash

// Version names the rules of this package. What it changes changes every hash.
const Version = "litmus-tree/1"
