package gate

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// How numbers look to people. Shares of counts are rounded from the integers,
// half to even, because a binary fraction has already been rounded once.

// counted is a count with its total and percentage: "210/240 = 87.50 %".
func counted(x, n int) string {
	return fmt.Sprintf("%d/%d = %s", x, n, share(x, n, "%"))
}

// share is 100·x/n with two digits, half to even, and its unit; or "undefined".
func share(x, n int, unit string) string {
	if n == 0 {
		return "undefined"
	}
	sign := ""
	if x < 0 {
		sign, x = "-", -x
	}
	hundredths, rest := x*10000/n, x*10000%n
	if 2*rest > n || 2*rest == n && hundredths%2 == 1 {
		hundredths++
	}
	if hundredths == 0 {
		sign = ""
	}
	return fmt.Sprintf("%s%d.%02d %s", sign, hundredths/100, hundredths%100, unit)
}

// percentOf and points are a fraction in per cent and in percentage points.
func percentOf(fraction float64) string { return hundredfold(fraction) + " %" }
func points(fraction float64) string    { return hundredfold(fraction) + " pp" }

func pointsOrUndefined(fraction *float64) string {
	if fraction == nil {
		return "undefined"
	}
	return points(*fraction)
}

func hundredfold(fraction float64) string {
	text := strconv.FormatFloat(100*fraction, 'f', 2, 64)
	if strings.Trim(text, "-0.") == "" {
		return "0.00"
	}
	return text
}

// pValue is "p = 0.012", with three significant digits.
func pValue(p float64) string {
	if p <= leastP {
		return "p < 1e-80"
	}
	return "p = " + significant(p)
}

func significant(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }

// level is a confidence level: "95 %".
func level(l float64) string {
	return strconv.FormatFloat(math.Round(l*1e8)/1e6, 'f', -1, 64) + " %"
}

func digits(n int) string { return strconv.Itoa(n) }

// count is a number with its noun: "1 row", "2 rows".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
