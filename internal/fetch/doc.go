// Package fetch gets files from the network and out of archives, trusting
// neither: a download is checked against its size, hash and kind before it
// gets its name, and an archive can not write outside its folder.
package fetch
