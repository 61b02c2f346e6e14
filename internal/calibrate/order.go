package calibrate

import "math/rand/v2"

// BalancedOrder is the default Orderer: groups of as many blocks as there are
// arms are Latin squares, so that each arm stands at each position once in a
// group, and the rows of a square, and the order that it is made from, are
// drawn. A last group that is cut short is balanced as far as it goes.
func BalancedOrder(rng *rand.Rand, blocks, arms int) [][]int {
	orders := make([][]int, 0, blocks)
	for {
		base := rng.Perm(arms)
		for _, shift := range rng.Perm(arms) {
			if len(orders) == blocks {
				return orders
			}
			orders = append(orders, append(append(make([]int, 0, arms), base[shift:]...), base[:shift]...))
		}
	}
}
