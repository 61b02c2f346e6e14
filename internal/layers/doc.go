// Package layers holds the table of which package may import which.
package layers
