"""Reference values for the tests of package stat, by routes other than the
package's own and with Python's standard library alone. Run it with
`python3 reference.py` and compare with the constants in the tests.
"""
import itertools
import math


def simpson(f, lo, hi, steps=200_000):
    h = (hi - lo) / steps
    total = f(lo) + f(hi)
    for i in range(1, steps):
        total += f(lo + i * h) * (4 if i % 2 else 2)
    return total * h / 3


def t_inside(t, df):
    """P(|T| <= t) for whole df: the finite sums of Abramowitz and Stegun 26.7.3/4."""
    theta = math.atan(t / math.sqrt(df))
    c, s = math.cos(theta), math.sin(theta)
    term = c if df % 2 else 1.0
    total, k = (term if df > 1 else 0.0), (2 if df % 2 else 1)
    while k <= df - 3:
        term *= c * c * k / (k + 1)
        total += term
        k += 2
    return 2 / math.pi * (theta + s * total) if df % 2 else s * total


def t_quantile(p, df):
    lo, hi = 0.0, 1e6
    for _ in range(200):
        mid = (lo + hi) / 2
        if 0.5 + t_inside(mid, df) / 2 < p:
            lo = mid
        else:
            hi = mid
    return hi


def t_cdf(t, df):
    """For any df: the density, integrated."""
    scale = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)
    return 0.5 + simpson(lambda x: scale * (1 + x * x / df) ** (-(df + 1) / 2), 0, t)


def noncentral_upper(c, df, shift):
    """P(T > c) for even df: the integral over the normal variable, with the
    closed form of the chi-squared distribution inside."""
    def chi(x):
        term, total = 1.0, 0.0
        for i in range(df // 2):
            if i:
                term *= x / 2 / i
            total += term
        return 1 - math.exp(-x / 2) * total
    return simpson(lambda z: math.exp(-z * z / 2) / math.sqrt(2 * math.pi) * chi(df * ((z + shift) / c) ** 2),
                   max(-shift, -9), 9)


def moments(x):
    m = math.fsum(x) / len(x)
    return m, math.fsum((v - m) ** 2 for v in x) / (len(x) - 1)


def sign_flip(d):
    """Patterns at least as extreme, counted in whole numbers."""
    size = abs(sum(d))
    return sum(abs(sum(s * x for s, x in zip(signs, d))) >= size
               for signs in itertools.product((1, -1), repeat=len(d)))


def kendall(x):
    def score(y):
        return sum((y[j] > y[i]) - (y[j] < y[i]) for i in range(len(y)) for j in range(i + 1, len(y)))
    return sum(abs(score(y)) >= abs(score(x)) for y in itertools.permutations(range(len(x))))


def normal_quantile(p):
    lo, hi = -10.0, 10.0
    for _ in range(200):
        mid = (lo + hi) / 2
        if math.erfc(-mid / math.sqrt(2)) / 2 < p:
            lo = mid
        else:
            hi = mid
    return hi


def bca_level(p, bias, acceleration):
    z = bias + normal_quantile(p)
    return math.erfc(-(bias + z / (1 - acceleration * z)) / math.sqrt(2)) / 2


if __name__ == "__main__":
    for df in (1, 2, 3, 4, 5, 9, 10, 30, 120):
        print("quantiles, df", df, [f"{t_quantile(p, df):.10f}" for p in (0.9, 0.95, 0.975, 0.995, 0.9995)])
    for t, df in ((2.0, 2.5), (1.0, 7.3), (3.5, 0.5), (0.01, 4.2), (2.2, 333.3)):
        print("CDF", t, df, f"{t_cdf(t, df):.12f}")
    for n, shift in ((3, 5.0), (3, 1.0), (5, 3.0), (11, 2.0), (21, 4.0), (101, 2.8), (3, 0.0)):
        print("power, n", n, "shift", shift, f"{noncentral_upper(t_quantile(0.975, n - 1), n - 1, shift):.10f}")
    print("sign flip of 3 -1 4 1 5 -9 2 6:", sign_flip([3, -1, 4, 1, 5, -9, 2, 6]), "of", 2**8)
    # Student's sleep data (1908): extra hours under two drugs.
    a = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    b = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    (ma, va), (mb, vb) = moments(a), moments(b)
    t = (mb - ma) / math.sqrt(va / 10 + vb / 10)
    df = (va / 10 + vb / 10) ** 2 / ((va / 10) ** 2 / 9 + (vb / 10) ** 2 / 9)
    print("sleep, Welch:", 2 * (1 - t_cdf(t, df)))
    d = [y - x for x, y in zip(a, b)]
    m, v = moments(d)
    half = t_quantile(0.975, 9) * math.sqrt(v / 10)
    print("sleep, paired:", 2 * (1 - t_cdf(m / math.sqrt(v / 10), 9)), "interval", m - half, m + half)
    print("sleep, TOST with margin 2.5:", 1 - t_cdf((2.5 - m) / math.sqrt(v / 10), 9))
    print("sleep, sign flip:", sign_flip([round(10 * x) for x in d]), "of", 2**10)
    print("sleep, Hodges-Lehmann:", sorted((d[i] + d[j]) / 2 for i in range(10) for j in range(i, 10))[27])
    print("Kendall of 1 3 2 4 5:", kendall([1, 3, 2, 4, 5]), "of", math.factorial(5))
    print("Kendall of 2 1 4 3 6 5 7:", kendall([2, 1, 4, 3, 6, 5, 7]), "of", math.factorial(7))
    # 0..1000 as the resamples' estimates, 600 as the observed one (600 below, one
    # tie), jackknifed estimates 0 0 0 4: u = 1 1 1 -3, acceleration -24/(6*12^1.5).
    bias, acceleration = normal_quantile(600.5 / 1001), -24 / (6 * 12**1.5)
    print("BCa:", [1000 * bca_level(p, bias, acceleration) for p in (0.025, 0.975)])
