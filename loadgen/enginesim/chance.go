package enginesim

import "math"

// What a random number is for. Numbers are a function of (seed, purpose,
// identity), never of the order in which goroutines ask for them.
const (
	forTTFT = iota + 1
	forLevel
	forStall
	forBreak
	forBreakAt
	forExcess
	forID
)

// uniform is in (0, 1).
func uniform(seed, purpose, id uint64) float64 {
	return (float64(mix(seed, purpose, id)>>11) + 0.5) / (1 << 53)
}

// normal is a standard normal number (Box and Muller 1958).
func normal(seed, purpose, id uint64) float64 {
	u, v := uniform(seed, purpose, 2*id), uniform(seed, purpose, 2*id+1)
	return math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*v)
}

// mix chains the splitmix64 finaliser (Steele, Lea and Flood 2014).
func mix(seed, purpose, id uint64) uint64 {
	z := scramble(seed + 0x9e3779b97f4a7c15)
	z = scramble(z + purpose*0x9e3779b97f4a7c15)
	return scramble(z + id*0x9e3779b97f4a7c15)
}

func scramble(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
