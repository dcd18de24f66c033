/* Every elementary operation of CasADi scalar expressions, on vectors of LANES states.
 *
 * Operation OP_X of CasADi is v_x here: v_sin, v_if_else_zero, v_copysign. Light operations are
 * always defined. A heavy one is defined, with its dependencies, if HOMODYN_NEED_X is defined before
 * this file is included, so a file pays compile time only for what it uses:
 *
 *     SIN COS SINCOS    v_sin v_cos v_sincos            EXP        v_exp
 *     TAN               v_tan                           EXPM1      v_expm1
 *     ASIN ACOS         v_asin v_acos                   LOG        v_log
 *     ATAN ATAN2        v_atan v_atan2                  LOG1P      v_log1p
 *     SINH COSH TANH    v_sinh v_cosh v_tanh            POW CONSTPOW  v_pow v_constpow
 *     ASINH ACOSH ATANH v_asinh v_acosh v_atanh         FMOD REMAINDER  v_fmod v_remainder
 *     HYPOT             v_hypot                         ERF        v_erf
 *     ALL               all of them                     ERFINV     v_erfinv
 *
 * HOMODYN_NEED_X has no effect for light operations, so generated code may define it for all.
 *
 * Accuracy: at most 2 ulp (erfinv: 4), exact where the operation is exact. Special values as in
 * C99 Annex F. Where an argument is so rare that vector code does not pay (trigonometry beyond
 * 1e5, powers of zero), that lane alone goes through libm. The polynomials come from
 * tools/elementary_coefficients.py.
 *
 * Without a fused multiply-add the splitting of products assumes intermediate numbers below 2^996,
 * which every caller in this file ensures.
 */
#ifndef HOMODYN_ELEMENTARY_H
#define HOMODYN_ELEMENTARY_H

/* Pasted behind vector.h there is nothing to include. */
#ifndef HOMODYN_VECTOR_H
#include "vector.h"
#endif

#if defined(HOMODYN_NEED_ALL) || defined(HOMODYN_NEED_SIN) || defined(HOMODYN_NEED_COS) || \
    defined(HOMODYN_NEED_SINCOS)
#define V_WITH_SINCOS
#endif
#if defined(HOMODYN_NEED_ALL) || defined(HOMODYN_NEED_TAN)
#define V_WITH_TAN
#endif
#if defined(HOMODYN_NEED_ALL) || defined(HOMODYN_NEED_ASIN) || defined(HOMODYN_NEED_ACOS)
#define V_WITH_ASIN
#endif
#if defined(HOMODYN_NEED_ALL) || defined(HOMODYN_NEED_ATAN) || defined(HOMODYN_NEED_ATAN2)
#define V_WITH_ATAN
#endif
#if defined(HOMODYN_NEED_ALL) || defined(HOMODYN_NEED_EXP)
#define V_WITH_EXP
#endif
#if defined(HOMODYN_NEED_ALL) || defined(HOMODYN_NEED_EXPM1)
#define V_WITH_EXPM1
#endif
#if defined(HOMODYN_NEED_ALL) || defined(HOMODYN_NEED_SINH) || defined(HOMODYN_NEED_COSH) || \
    defined(HOMODYN_NEED_TANH)
#define V_WITH_SINH
#endif
#if defined(HOMODYN_NEED_ALL) || defined(HOMODYN_NEED_LOG)
#define V_WITH_LOG
#endif
#if defined(HOMODYN_NEED_ALL) || defined(HOMODYN_NEED_LOG1P)
#define V_WITH_LOG1P
#endif
#if defined(HOMODYN_NEED_ALL) || defined(HOMODYN_NEED_ASINH) || defined(HOMODYN_NEED_ACOSH) || \
    defined(HOMODYN_NEED_ATANH)
#define V_WITH_ASINH
#endif
#if defined(HOMODYN_NEED_ALL) || defined(HOMODYN_NEED_POW) || defined(HOMODYN_NEED_CONSTPOW)
#define V_WITH_POW
#endif
#if defined(HOMODYN_NEED_ALL) || defined(HOMODYN_NEED_FMOD) || defined(HOMODYN_NEED_REMAINDER)
#define V_WITH_FMOD
#endif
#if defined(HOMODYN_NEED_ALL) || defined(HOMODYN_NEED_HYPOT)
#define V_WITH_HYPOT
#endif
#if defined(HOMODYN_NEED_ALL) || defined(HOMODYN_NEED_ERF)
#define V_WITH_ERF
#endif
#if defined(HOMODYN_NEED_ALL) || defined(HOMODYN_NEED_ERFINV)
#define V_WITH_ERFINV
#endif

#define V_SIGN_BIT 0x8000000000000000ULL
#define V_LN2_HIGH 0x1.62e42fefa2p-1 /* 40 bits: times any exponent it is exact */
#define V_LN2_LOW 0x1.9ef35793c7673p-41
#define V_HALF_PI_HIGH 0x1.921fb54442d18p+0
#define V_HALF_PI_LOW 0x1.1a62633145c07p-54
/* Adding this to |x| < 2^51 rounds x to an integer, which then sits in the low bits. */
#define V_ROUNDER 0x1.8p52

/* Horner's rule, lowest power first. */
#define V_POLY1(z, a) v_set(a)
#define V_POLY2(z, a, ...) v_fma(V_POLY1(z, __VA_ARGS__), z, v_set(a))
#define V_POLY3(z, a, ...) v_fma(V_POLY2(z, __VA_ARGS__), z, v_set(a))
#define V_POLY4(z, a, ...) v_fma(V_POLY3(z, __VA_ARGS__), z, v_set(a))
#define V_POLY5(z, a, ...) v_fma(V_POLY4(z, __VA_ARGS__), z, v_set(a))
#define V_POLY6(z, a, ...) v_fma(V_POLY5(z, __VA_ARGS__), z, v_set(a))
#define V_POLY7(z, a, ...) v_fma(V_POLY6(z, __VA_ARGS__), z, v_set(a))
#define V_POLY8(z, a, ...) v_fma(V_POLY7(z, __VA_ARGS__), z, v_set(a))
#define V_POLY9(z, a, ...) v_fma(V_POLY8(z, __VA_ARGS__), z, v_set(a))
#define V_POLY10(z, a, ...) v_fma(V_POLY9(z, __VA_ARGS__), z, v_set(a))
#define V_POLY11(z, a, ...) v_fma(V_POLY10(z, __VA_ARGS__), z, v_set(a))
#define V_POLY12(z, a, ...) v_fma(V_POLY11(z, __VA_ARGS__), z, v_set(a))
#define V_POLY13(z, a, ...) v_fma(V_POLY12(z, __VA_ARGS__), z, v_set(a))
#define V_POLY14(z, a, ...) v_fma(V_POLY13(z, __VA_ARGS__), z, v_set(a))
#define V_POLY15(z, a, ...) v_fma(V_POLY14(z, __VA_ARGS__), z, v_set(a))
#define V_POLY16(z, a, ...) v_fma(V_POLY15(z, __VA_ARGS__), z, v_set(a))
#define V_POLY17(z, a, ...) v_fma(V_POLY16(z, __VA_ARGS__), z, v_set(a))
#define V_POLY18(z, a, ...) v_fma(V_POLY17(z, __VA_ARGS__), z, v_set(a))
#define V_POLY19(z, a, ...) v_fma(V_POLY18(z, __VA_ARGS__), z, v_set(a))
#define V_POLY20(z, a, ...) v_fma(V_POLY19(z, __VA_ARGS__), z, v_set(a))

/* Operations of one or two instructions. */

V_LIGHT vreal v_assign(vreal x) { return x; }
V_LIGHT vreal v_add(vreal x, vreal y) { return x + y; }
V_LIGHT vreal v_sub(vreal x, vreal y) { return x - y; }
V_LIGHT vreal v_mul(vreal x, vreal y) { return x * y; }
V_LIGHT vreal v_div(vreal x, vreal y) { return x / y; }
V_LIGHT vreal v_neg(vreal x) { return -x; }
V_LIGHT vreal v_sq(vreal x) { return x * x; }
V_LIGHT vreal v_twice(vreal x) { return x + x; }
V_LIGHT vreal v_inv(vreal x) { return v_set(1.0) / x; }
V_LIGHT vreal v_lift(vreal x, vreal guess)
{
    (void)guess;
    return x;
}
/* CasADi would print here; a compiled kernel hands the value through in silence. */
V_LIGHT vreal v_printme(vreal x, vreal label)
{
    (void)label;
    return x;
}

V_LIGHT vreal v_sign_of(vreal x) { return v_from_bits(v_bits(x) & V_SIGN_BIT); }
V_LIGHT vreal v_xor_sign(vreal x, vreal sign)
{
    return v_from_bits(v_bits(x) ^ (v_bits(sign) & V_SIGN_BIT));
}
/* For functions whose result has the sign of their argument: repairs only a lost -0. */
V_LIGHT vreal v_or_sign(vreal x, vreal sign)
{
    return v_from_bits(v_bits(x) | (v_bits(sign) & V_SIGN_BIT));
}
V_LIGHT vreal v_fabs(vreal x) { return v_from_bits(v_bits(x) & ~V_SIGN_BIT); }
V_LIGHT vreal v_copysign(vreal x, vreal y) { return v_or_sign(v_fabs(x), y); }

V_LIGHT vreal v_truth(vint mask) { return v_from_bits((vbits)mask & v_bits(v_set(1.0))); }
V_LIGHT vreal v_lt(vreal x, vreal y) { return v_truth(v_less(x, y)); }
V_LIGHT vreal v_le(vreal x, vreal y) { return v_truth(v_less_equal(x, y)); }
V_LIGHT vreal v_eq(vreal x, vreal y) { return v_truth(v_equal(x, y)); }
V_LIGHT vreal v_ne(vreal x, vreal y) { return v_truth(v_unequal(x, y)); }
V_LIGHT vreal v_not(vreal x) { return v_truth(v_equal(x, v_set(0.0))); }
V_LIGHT vreal v_and(vreal x, vreal y)
{
    return v_truth(v_unequal(x, v_set(0.0)) & v_unequal(y, v_set(0.0)));
}
V_LIGHT vreal v_or(vreal x, vreal y)
{
    return v_truth(v_unequal(x, v_set(0.0)) | v_unequal(y, v_set(0.0)));
}
/* Not a product: an infinite or undefined x must not leak through a false condition. */
V_LIGHT vreal v_if_else_zero(vreal condition, vreal x)
{
    return v_from_bits((vbits)v_unequal(condition, v_set(0.0)) & v_bits(x));
}
/* Not an operation of a graph: two of them with opposite conditions, added. */
V_LIGHT vreal v_choose(vreal condition, vreal x, vreal y)
{
    return v_select(v_unequal(condition, v_set(0.0)), x, y);
}

V_LIGHT vreal v_sign(vreal x)
{
    vint zero_or_nan = ~(v_less(x, v_set(0.0)) | v_less(v_set(0.0), x));
    return v_select(zero_or_nan, x, v_copysign(v_set(1.0), x));
}
/* A NaN loses against a number, as in libm. */
V_LIGHT vreal v_fmin(vreal x, vreal y)
{
    return v_select(v_less(x, y) | v_unequal(y, y), x, y);
}
V_LIGHT vreal v_fmax(vreal x, vreal y)
{
    return v_select(v_less(y, x) | v_unequal(y, y), x, y);
}

/* Beyond 2^52 there are only integers, and a NaN fails every comparison: both come back as x. */
V_LIGHT vreal v_floor(vreal x)
{
    vreal big = v_copysign(v_set(0x1p52), x);
    vreal near = (x + big) - big;
    near = near - v_truth(v_less(x, near));
    return v_select(v_less(v_fabs(x), v_set(0x1p52)), v_copysign(near, x), x);
}
V_LIGHT vreal v_ceil(vreal x)
{
    vreal big = v_copysign(v_set(0x1p52), x);
    vreal near = (x + big) - big;
    near = near + v_truth(v_less(near, x));
    return v_select(v_less(v_fabs(x), v_set(0x1p52)), v_copysign(near, x), x);
}

/* Sums and products with their rounding errors. */

V_LIGHT vreal v_two_sum(vreal a, vreal b, vreal *error)
{
    vreal sum = a + b, b_seen = sum - a;
    *error = (a - (sum - b_seen)) + (b - b_seen);
    return sum;
}
/* For |a| >= |b|. */
V_LIGHT vreal v_fast_two_sum(vreal a, vreal b, vreal *error)
{
    vreal sum = a + b;
    *error = b - (sum - a);
    return sum;
}
V_LIGHT vreal v_two_product(vreal a, vreal b, vreal *error)
{
    vreal product = a * b;
#ifdef HOMODYN_FMA
    *error = v_fma(a, b, -product);
#else
    vreal a_scaled = a * v_set(0x1.0000002p27), b_scaled = b * v_set(0x1.0000002p27);
    vreal a_high = a_scaled - (a_scaled - a), b_high = b_scaled - (b_scaled - b);
    vreal a_low = a - a_high, b_low = b - b_high;
    *error = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low);
#endif
    return product;
}
/* (a + a_low) / (b + b_low) with its error, to about twice the precision. */
V_LIGHT vreal v_two_quotient(vreal a, vreal a_low, vreal b, vreal b_low, vreal *error)
{
    vreal inverse = v_set(1.0) / b, quotient = a * inverse, low;
    vreal high = v_two_product(quotient, b, &low);
    *error = (((a - high) - low) + (a_low - quotient * b_low)) * inverse;
    return quotient;
}

/* 2^n for -1022 <= n <= 1023. */
V_LIGHT vreal v_power_of_two(vreal n)
{
    return v_from_bits((v_bits(n + v_set(V_ROUNDER)) + 1023) << 52);
}

/* Lanes that leave the vector path. */

/* A NaN is beyond every limit. */
V_LIGHT vint v_beyond(vreal x, double limit) { return ~v_less_equal(v_fabs(x), v_set(limit)); }
V_LIGHT int v_all_within(vreal x, double limit)
{
#if V_PIECE == 8 && !defined(__clang__)
    /* gcc would carry the mask through a vector register and back. */
    const int less_or_equal = 2, no_rounding_control = 4;
    return (unsigned char)__builtin_ia32_cmppd512_mask(v_fabs(x), v_set(limit), less_or_equal, -1,
                                                       no_rounding_control) == 0xff;
#else
    return !v_any(v_beyond(x, limit));
#endif
}

V_RARE vreal v_through_libm(vint where, vreal x, vreal otherwise, double (*f)(double))
{
    double argument[LANES], result[LANES];
    long long chosen[LANES];
    memcpy(argument, &x, sizeof x);
    memcpy(result, &otherwise, sizeof x);
    memcpy(chosen, &where, sizeof x);
    for (int k = 0; k < LANES; ++k)
        if (chosen[k])
            result[k] = f(argument[k]);
    memcpy(&x, result, sizeof x);
    return x;
}
V_RARE vreal v_pair_through_libm(vint where, vreal x, vreal y, vreal otherwise,
                                 double (*f)(double, double))
{
    double first[LANES], second[LANES], result[LANES];
    long long chosen[LANES];
    memcpy(first, &x, sizeof x);
    memcpy(second, &y, sizeof x);
    memcpy(result, &otherwise, sizeof x);
    memcpy(chosen, &where, sizeof x);
    for (int k = 0; k < LANES; ++k)
        if (chosen[k])
            result[k] = f(first[k], second[k]);
    memcpy(&x, result, sizeof x);
    return x;
}

#if defined(V_WITH_SINCOS) || defined(V_WITH_TAN)
#define V_TRIG_LIMIT 1e5

/* r = x - n pi/2 with |r| <= pi/4, for |x| <= V_TRIG_LIMIT; the low bits of the result are n.
 *
 * A double below the limit can come within about 1e-17 of a multiple of pi/2, so pi/2 must be good
 * to some 140 bits for r to have all of its own. Every product n * part but the last is exact
 * (or fused), and so is every difference that cancels. */
V_LIGHT vbits v_quarter_turns(vreal x, vreal *r, vreal *r_low)
{
    vreal shifted = v_fma(x, v_set(0x1.45f306dc9c883p-1), v_set(V_ROUNDER));
    vreal n = shifted - v_set(V_ROUNDER), high, next;
#ifdef HOMODYN_FMA
    /* The middle part is rounded down: were the last one negative, a -0 would lose its sign. */
    const vreal middle = v_set(-0x1.1a62633145c06p-54), last = v_set(-0x1.c1cd129024e09p-107);
    high = v_fma(n, v_set(-V_HALF_PI_HIGH), x);
    next = v_fma(n, middle, high);
    *r = v_fma(n, last, next);
    if (r_low) {
        vreal product_low, product = v_two_product(n, middle, &product_low), low;
        next = v_two_sum(high, product, &low);
        product_low = v_fma(n, last, product_low);
        *r = v_two_sum(next, low + product_low, r_low);
    }
#else
    vreal second = n * v_set(0x1.0b4611a6p-34), third = n * v_set(0x1.3198a2ep-69);
    vreal fourth = n * v_set(0x1.b839a252049c1p-104), lower;
    high = x - n * v_set(0x1.921fb544p+0);
    next = high - second;
    lower = next - third;
    *r = lower - fourth;
    if (r_low)
        *r_low = (((high - next) - second) + ((next - lower) - third)) + ((lower - *r) - fourth);
#endif
    return v_bits(shifted);
}
/* sin(r) = r + r z SIN(z) and cos(r) = 1 + z (-1/2 + z COS(z)) with z = r^2. */
V_LIGHT vreal v_sin_factor(vreal z)
{
    return V_POLY6(z, -0x1.5555555555549p-3, 0x1.111111110f8a4p-7, -0x1.a01a019c15b31p-13,
                   0x1.71de357aab1fp-19, -0x1.ae5e683865782p-26, 0x1.5d9383507efe4p-33);
}
V_LIGHT vreal v_cos_factor(vreal z)
{
    return V_POLY6(z, 0x1.555555555554cp-5, -0x1.6c16c16c1521ep-10, 0x1.a01a019cbf348p-16,
                   -0x1.27e4f81288331p-22, 0x1.1ee9f12b88abfp-29, -0x1.8fb1194e1d4b7p-37);
}
#endif

#ifdef V_WITH_SINCOS
V_LIGHT void v_sincos_near(vreal x, vreal *s, vreal *c)
{
#ifdef HOMODYN_FMA
    vreal r;
    vbits n = v_quarter_turns(x, &r, 0);
    vreal z = r * r;
    vreal sine = v_fma(r * z, v_sin_factor(z), r);
    vreal cosine = v_fma(z, v_fma(z, v_cos_factor(z), v_set(-0.5)), v_set(1.0));
#else
    /* Four parts round often enough that what they lost has to be put back. */
    vreal r, r_low;
    vbits n = v_quarter_turns(x, &r, &r_low);
    vreal z = r * r;
    vreal sine = r + (r * z * v_sin_factor(z) + r_low);
    vreal cosine = v_set(1.0) + (z * (z * v_cos_factor(z) - v_set(0.5)) - r * r_low);
#endif
    sine = v_or_sign(sine, r);
    vint odd = -(vint)(n & 1);
    *s = v_xor_sign(v_select(odd, cosine, sine), v_from_bits(n << 62));
    *c = v_xor_sign(v_select(odd, sine, cosine), v_from_bits((n + 1) << 62));
}
V_HEAVY void v_sincos(vreal x, vreal *s, vreal *c)
{
    v_sincos_near(x, s, c);
    if (__builtin_expect(!v_all_within(x, V_TRIG_LIMIT), 0)) {
        *s = v_through_libm(v_beyond(x, V_TRIG_LIMIT), x, *s, sin);
        *c = v_through_libm(v_beyond(x, V_TRIG_LIMIT), x, *c, cos);
    }
}
V_HEAVY vreal v_sin(vreal x)
{
    vreal s, c;
    v_sincos_near(x, &s, &c);
    if (__builtin_expect(!v_all_within(x, V_TRIG_LIMIT), 0))
        return v_through_libm(v_beyond(x, V_TRIG_LIMIT), x, s, sin);
    return s;
}
V_HEAVY vreal v_cos(vreal x)
{
    vreal s, c;
    v_sincos_near(x, &s, &c);
    if (__builtin_expect(!v_all_within(x, V_TRIG_LIMIT), 0))
        return v_through_libm(v_beyond(x, V_TRIG_LIMIT), x, c, cos);
    return c;
}
#endif

#ifdef V_WITH_TAN
/* Sine over cosine, both with their rounding errors: the quotient alone would exceed 2 ulp. */
V_HEAVY vreal v_tan(vreal x)
{
    vreal r, r_low, s_low, c_low, error;
    vbits n = v_quarter_turns(x, &r, &r_low);
    vreal z = r * r;
    vreal r_low_cos = v_fma(r_low * z, v_set(-0.5), r_low);
    vreal s = v_fast_two_sum(r, v_fma(r * z, v_sin_factor(z), r_low_cos), &s_low);
    vreal c_rest = v_fma(z, v_fma(z, v_cos_factor(z), v_set(-0.5)), -(r * r_low));
    vreal c = v_fast_two_sum(v_set(1.0), c_rest, &c_low);
    vint odd = -(vint)(n & 1);
    vreal top = v_select(odd, c, s), top_low = v_select(odd, c_low, s_low);
    vreal bottom = v_select(odd, s, c), bottom_low = v_select(odd, s_low, c_low);
    vreal quotient = v_two_quotient(top, top_low, bottom, bottom_low, &error) + error;
    quotient = v_xor_sign(quotient, v_from_bits(n << 63));
    quotient = v_select(v_equal(x, v_set(0.0)), x, quotient);
    if (__builtin_expect(!v_all_within(x, V_TRIG_LIMIT), 0))
        return v_through_libm(v_beyond(x, V_TRIG_LIMIT), x, quotient, tan);
    return quotient;
}
#endif

#ifdef V_WITH_ASIN
/* Up to 1/2 a polynomial: asin(x) = x + tail. Above, asin(x) = pi/2 - 2 asin(root) with
 * root = sqrt((1 - x) / 2), whose own rounding error goes into the tail. Returns that x or root
 * and, through `tail`, what is to be added. */
V_LIGHT vreal v_asin_parts(vreal x, vint upper, vreal *tail)
{
    vreal a = v_fabs(x);
    vreal z = v_select(upper, (v_set(1.0) - a) * v_set(0.5), a * a);
    vreal root = v_sqrt(z), square_low;
    vreal square = v_two_product(root, root, &square_low);
    vreal safe = v_select(v_less(v_set(0.0), root), root, v_set(1.0));
    vreal root_low = (((z - square) - square_low) * v_set(0.5)) / safe;
    vreal base = v_select(upper, root, a);
    vreal factor = V_POLY13(z, 0x1.5555555555578p-3, 0x1.333333332df2p-4, 0x1.6db6db722aa24p-5,
                            0x1.f1c71a8bfa082p-6, 0x1.6e8bdfda763f2p-6, 0x1.1c49def946c42p-6,
                            0x1.ca212a6e4b3bap-7, 0x1.7578769e35c0fp-7, 0x1.61851dacfda78p-7,
                            0x1.e1b83d0aaf3f7p-9, 0x1.64e2fad9ea33ep-6, -0x1.59c63f33a45bap-6,
                            0x1.0bd3c3b218df9p-5);
    *tail = v_fma(base * z, factor, v_select(upper, root_low, v_set(0.0)));
    return base;
}
V_HEAVY vreal v_asin(vreal x)
{
    vint upper = v_less(v_set(0.5), v_fabs(x));
    vreal tail, base = v_asin_parts(x, upper, &tail);
    vreal low, high = v_fast_two_sum(v_set(V_HALF_PI_HIGH), v_set(-2.0) * base, &low);
    vreal above = high + (low + (v_set(V_HALF_PI_LOW) - v_set(2.0) * tail));
    return v_or_sign(v_select(upper, above, base + tail), x);
}
V_HEAVY vreal v_acos(vreal x)
{
    vint upper = v_less(v_set(0.5), v_fabs(x)), negative = v_less(x, v_set(0.0));
    vreal tail, base = v_asin_parts(x, upper, &tail);
    vreal doubled = v_set(2.0) * base, low;
    /* Start at pi/2 in the middle, at pi on the left, at 0 on the right. */
    vreal start = v_select(upper, v_select(negative, v_set(2 * V_HALF_PI_HIGH), v_set(0.0)),
                           v_set(V_HALF_PI_HIGH));
    vreal start_low = v_select(upper, v_select(negative, v_set(2 * V_HALF_PI_LOW), v_set(0.0)),
                               v_set(V_HALF_PI_LOW));
    vreal step = v_select(upper, doubled, base), rest = v_select(upper, tail + tail, tail);
    vbits down = (vbits)(~(upper ^ negative)) & V_SIGN_BIT;
    step = v_from_bits(v_bits(step) ^ down);
    rest = v_from_bits(v_bits(rest) ^ down);
    vreal high = v_two_sum(start, step, &low);
    return high + (low + (start_low + rest));
}
#endif

#ifdef V_WITH_ATAN
/* The angle whose tangent is q in [0, 1], reflected: pi/2 - it where `steep`, then pi - that where
 * `backward`. Start and angle are added exactly, so only the last sum rounds. */
V_LIGHT vreal v_angle(vreal q, vint steep, vint backward)
{
    vreal z = q * q, z2 = z * z;
    /* Even and odd powers side by side are faster but cancel; the first four must not. */
    vreal even = V_POLY8(z2, -0x1.745d11fb1d6aap-4, -0x1.110e6d8a4ad56p-4, -0x1.ae644adc15dc5p-5,
                         -0x1.59d7d87f26872p-5, -0x1.eb48731d29fb8p-6, -0x1.ca95c00c7eec6p-7,
                         -0x1.7ea3755d80c89p-9, -0x1.449ffb27e04edp-13);
    vreal odd = V_POLY8(z2, 0x1.3b136a166c9cbp-4, 0x1.e1bcf73daca58p-5, 0x1.82eea6312f28p-5,
                        0x1.2c97e2f152ab7p-5, 0x1.69d78c95660fbp-6, 0x1.dc01b8dc77f8fp-8,
                        0x1.ba386701384cfp-11, 0x1.c49c7eedaa3c6p-17);
    vreal factor = v_fma(odd, z, even);
    factor = v_fma(factor, z, v_set(0x1.c71c718426f7p-4));
    factor = v_fma(factor, z, v_set(-0x1.249249239239dp-3));
    factor = v_fma(factor, z, v_set(0x1.9999999995aeap-3));
    factor = v_fma(factor, z, v_set(-0x1.555555555552ap-2)) * z;
    vreal start = v_select(steep, v_set(V_HALF_PI_HIGH),
                           v_select(backward, v_set(2 * V_HALF_PI_HIGH), v_set(0.0)));
    vreal signed_q = v_xor_sign(q, v_from_bits((vbits)(steep ^ backward)));
    vreal low, high = v_fast_two_sum(start, signed_q, &low);
    vreal start_low = start * v_set(V_HALF_PI_LOW / V_HALF_PI_HIGH);
    return high + (low + v_fma(signed_q, factor, start_low));
}
V_HEAVY vreal v_atan(vreal x)
{
    vreal a = v_fabs(x);
    vint steep = v_less(v_set(1.0), a), forward = (vint)v_bits(v_set(0.0));
    vreal q = v_select(steep, v_set(1.0), a) / v_select(steep, a, v_set(1.0));
    return v_or_sign(v_angle(q, steep, forward), x);
}
V_HEAVY vreal v_atan2(vreal y, vreal x)
{
    vreal down = v_fabs(x), up = v_fabs(y);
    vint steep = v_less(down, up);
    vint backward = -(vint)(v_bits(x) >> 63);
    vreal q = v_select(steep, down, up) / v_select(steep, up, down);
    vreal angle = v_or_sign(v_angle(q, steep, backward), y);
    /* 0/0, inf/inf and NaN are all that is not in [0, 1]. */
    if (__builtin_expect(!v_all_within(q, 1.0), 0))
        return v_pair_through_libm(v_beyond(q, 1.0), y, x, angle, atan2);
    return angle;
}
#endif

#if defined(V_WITH_EXP) || defined(V_WITH_EXPM1) || defined(V_WITH_SINH) || \
    defined(V_WITH_POW) || defined(V_WITH_ERF)
#define V_LOG2_E 0x1.71547652b82fep+0

/* exp(r) = 1 + r + r^2 v_exp_factor(r) for |r| <= ln(2)/2. */
V_LIGHT vreal v_exp_factor(vreal r)
{
    /* Even and odd powers side by side wait half as long for each other. */
    vreal r2 = r * r;
    vreal even = V_POLY5(r2, 0x1.5555555555556p-3, 0x1.11111111109adp-7, 0x1.a01a01a7c8cb6p-13,
                         0x1.71de0d9c3a5bcp-19, 0x1.af38d4dbbf732p-26);
    vreal odd = V_POLY5(r2, 0x1.5555555555556p-5, 0x1.6c16c16c15dbbp-10, 0x1.a01a01a93bad6p-16,
                        0x1.27e4d4c473c34p-22, 0x1.1f7f44ed52e0bp-29);
    return v_fma(v_fma(odd, r, even), r, v_set(0.5));
}
/* n = x / ln 2 to the nearest integer, for |x| < 2^20 or so. */
V_LIGHT vreal v_exponent_shifted(vreal x)
{
    return v_fma(x, v_set(V_LOG2_E), v_set(V_ROUNDER));
}
/* x + x_low - n ln 2, with its rounding error. */
V_LIGHT vreal v_exp_reduce(vreal x, vreal x_low, vreal n, vreal *r_low)
{
    vreal high = v_fma(n, v_set(-V_LN2_HIGH), x);
    return v_two_sum(high, v_fma(n, v_set(-V_LN2_LOW), x_low), r_low);
}
/* p 2^n in two steps, so that only the last one can overflow or lose bits to a denormal. */
V_LIGHT vreal v_scale(vreal p, vreal n)
{
    vreal half = (n * v_set(0.5) + v_set(V_ROUNDER)) - v_set(V_ROUNDER);
    return (p * v_power_of_two(half)) * v_power_of_two(n - half);
}
/* For arguments that were reduced far beyond every threshold already; NaN stays. */
V_LIGHT vreal v_clamp(vreal x, double low, double high)
{
    x = v_select(v_less(x, v_set(low)), v_set(low), x);
    return v_select(v_less(v_set(high), x), v_set(high), x);
}
/* exp(x) 2^shift over the whole range. */
V_LIGHT vreal v_exp_wide(vreal x, double shift)
{
    x = v_clamp(x, -800.0, 800.0);
    vreal n = v_exponent_shifted(x) - v_set(V_ROUNDER);
    vreal r = v_fma(n, v_set(-V_LN2_LOW), v_fma(n, v_set(-V_LN2_HIGH), x));
    vreal p = v_set(1.0) + v_fma(r * r, v_exp_factor(r), r);
    return v_scale(p, n + v_set(shift));
}
/* exp(x) for |x| <= 708, where the exponent of the result can be added as an integer. */
V_LIGHT vreal v_exp_narrow(vreal x)
{
    vreal shifted = v_exponent_shifted(x), n = shifted - v_set(V_ROUNDER);
    vreal r = v_fma(n, v_set(-V_LN2_LOW), v_fma(n, v_set(-V_LN2_HIGH), x));
    vreal p = v_set(1.0) + v_fma(r * r, v_exp_factor(r), r);
    return v_from_bits(v_bits(p) + (v_bits(shifted) << 52));
}
#endif

#ifdef V_WITH_EXP
V_RARE vreal v_exp_extreme(vreal x) { return v_exp_wide(x, 0.0); }
V_HEAVY vreal v_exp(vreal x)
{
    /* Both ways agree bit by bit where both apply, so neighbours do not matter. */
    return __builtin_expect(v_all_within(x, 708.0), 1) ? v_exp_narrow(x) : v_exp_extreme(x);
}
#endif

#if defined(V_WITH_EXPM1) || defined(V_WITH_SINH)
/* exp(x) - 1 for |x| <= 50 with its rounding error. */
V_LIGHT vreal v_expm1_parts(vreal x, vreal *error)
{
    vreal n = v_exponent_shifted(x) - v_set(V_ROUNDER), r_low, low;
    vreal r = v_exp_reduce(x, v_set(0.0), n, &r_low);
    vreal scale = v_power_of_two(n);
    vreal tail = v_fma(r * r, v_exp_factor(r), r_low);
    vreal high = v_two_sum(scale - v_set(1.0), scale * r, &low);
    return v_fast_two_sum(high, v_fma(scale, tail, low), error);
}
#endif

#ifdef V_WITH_EXPM1
V_HEAVY vreal v_expm1(vreal x)
{
    vreal error, middle = v_expm1_parts(v_clamp(x, -50.0, 50.0), &error);
    middle = v_or_sign(middle + error, x);
    /* The one subtracted is lost long before 50. */
    vint large = v_less(v_set(50.0), x) | v_unequal(x, x);
    if (__builtin_expect(v_any(large), 0))
        middle = v_select(large, v_exp_wide(x, 0.0), middle);
    return middle;
}
#endif

#ifdef V_WITH_SINH
V_HEAVY vreal v_sinh(vreal x)
{
    vreal a = v_fabs(x), low, e = v_expm1_parts(v_clamp(a, 0.0, 50.0), &low);
    vreal result = v_set(0.5) * (e + (e / (e + v_set(1.0)) + low));
    vint large = ~v_less_equal(a, v_set(50.0));
    if (__builtin_expect(v_any(large), 0))
        result = v_select(large, v_exp_wide(a, -1.0), result);
    return v_or_sign(result, x);
}
V_HEAVY vreal v_cosh(vreal x)
{
    vreal a = v_fabs(x), low, e = v_expm1_parts(v_clamp(a, 0.0, 50.0), &low), e_low;
    e = v_two_sum(v_set(1.0), e, &e_low);
    vreal result = v_set(0.5) * e + (v_set(0.5) / e + v_set(0.5) * (e_low + low));
    vint large = ~v_less_equal(a, v_set(50.0));
    if (__builtin_expect(v_any(large), 0))
        result = v_select(large, v_exp_wide(a, -1.0), result);
    return result;
}
/* e / (e + 2) with e = exp(2 |x|) - 1; it rounds to one well before the clamp. */
V_HEAVY vreal v_tanh(vreal x)
{
    vreal a = v_fabs(x), low, below_low, error;
    a = v_select(v_less(v_set(22.0), a), v_set(22.0), a);
    vreal e = v_expm1_parts(a + a, &low);
    vreal below = v_two_sum(v_set(2.0), e, &below_low);
    return v_or_sign(v_two_quotient(e, low, below, below_low + low, &error) + error, x);
}
#endif

#if defined(V_WITH_LOG) || defined(V_WITH_LOG1P) || defined(V_WITH_ASINH) || defined(V_WITH_POW)
/* x = 2^k m with m in [sqrt(1/2), sqrt(2)), for normal positive x. */
V_LIGHT vreal v_mantissa(vreal x, vreal *k)
{
    /* Counted from sqrt(1/2) upwards the exponent field is k and the rest is m. */
    vbits from_root = v_bits(x) - v_bits(v_set(0x1.6a09e667f3bcdp-1));
    vbits field = (from_root + 0x4000000000000000ULL) >> 52;
    *k = v_from_bits(field | 0x4330000000000000ULL) - v_set(0x1p52 + 1024.0);
    return v_from_bits(v_bits(x) - ((field - 1024) << 52));
}
/* With s = f / (2 + f): log(1 + f) = 2 s + s w (2/3 + w v_log_factor(w)), w = s^2. */
V_LIGHT vreal v_log_factor(vreal w)
{
    vreal w2 = w * w;
    vreal even = V_POLY4(w2, 0x1.9999999999996p-2, 0x1.c71c71c595946p-3, 0x1.3b136499c6b31p-3,
                         0x1.de3c17ab54b8bp-4);
    vreal odd = V_POLY4(w2, 0x1.2492492492f56p-2, 0x1.745d1829f038ap-3, 0x1.1120771374909p-3,
                        0x1.ead19bbf548fep-4);
    return v_fma(odd, w, even);
}
/* k ln 2 + log(1 + f + f_low) for 1 + f in [sqrt(1/2), sqrt(2)).
 *
 * 2 s is rewritten as f - f^2/2 + s f^2/2, because f is exact and s is not. */
V_LIGHT vreal v_log_sum(vreal k, vreal f, vreal f_low)
{
    vreal s = f / (v_set(2.0) + f), w = s * s;
    vreal rest = w * v_fma(w, v_log_factor(w), v_set(0x1.5555555555555p-1));
    vreal half_square = v_set(0.5) * f * f;
    vreal low = v_fma(k, v_set(V_LN2_LOW), f_low);
    return k * v_set(V_LN2_HIGH) - ((half_square - (s * (half_square + rest) + low)) - f);
}
#endif

#ifdef V_WITH_LOG
V_HEAVY vreal v_log(vreal x)
{
    vreal k, extra = v_set(0.0), normal = x;
    vint odd = ~(v_less_equal(v_set(0x1p-1022), x) & v_less(x, v_set(INFINITY)));
    int any_odd = __builtin_expect(v_any(odd), 0);
    if (any_odd) {
        vint denormal = v_less(x, v_set(0x1p-1022));
        normal = v_select(denormal, x * v_set(0x1p54), x);
        extra = v_select(denormal, v_set(-54.0), extra);
    }
    vreal m = v_mantissa(normal, &k);
    vreal result = v_log_sum(k + extra, m - v_set(1.0), v_set(0.0));
    if (any_odd) {
        result = v_select(v_equal(x, v_set(INFINITY)), x, result);
        result = v_select(v_equal(x, v_set(0.0)), v_set(-INFINITY), result);
        result = v_select(~v_less_equal(v_set(0.0), x), v_set(NAN), result);
    }
    return result;
}
#endif

#if defined(V_WITH_LOG1P) || defined(V_WITH_ASINH)
/* log(1 + x + x_low) + k_extra ln 2 for finite x > -1. */
V_LIGHT vreal v_log1p_sum(vreal x, vreal x_low, vreal k_extra)
{
    vreal u_low, k, f_low;
    vreal u = v_two_sum(v_set(1.0), x, &u_low);
    vreal m = v_mantissa(u, &k);
    /* Where k = 0 the sum of both parts is x again, exactly. */
    vreal scaled_low = (u_low + x_low) * v_power_of_two(-k);
    vreal f = v_fast_two_sum(m - v_set(1.0), scaled_low, &f_low);
    vint tiny = v_equal(m, v_set(1.0)) & v_equal(k, v_set(0.0));
    f = v_select(tiny, x, f);
    f_low = v_select(tiny, x_low, f_low);
    return v_log_sum(k + k_extra, f, f_low / (v_set(1.0) + f));
}
#endif

#ifdef V_WITH_LOG1P
V_HEAVY vreal v_log1p(vreal x)
{
    vint odd = ~(v_less(v_set(-1.0), x) & v_less(x, v_set(0x1p1000)));
    vreal result = v_log1p_sum(v_select(odd, v_set(0.0), x), v_set(0.0), v_set(0.0));
    result = v_or_sign(result, x);
    return __builtin_expect(v_any(odd), 0) ? v_through_libm(odd, x, result, log1p) : result;
}
#endif

#ifdef V_WITH_ASINH
/* Square root of a + a_low > 0 with its error. */
V_LIGHT vreal v_two_root(vreal a, vreal a_low, vreal *error)
{
    vreal root = v_sqrt(a), low, high = v_two_product(root, root, &low);
    vreal safe = v_select(v_less(v_set(0.0), root), root, v_set(1.0));
    *error = (((a - high) - low) + a_low) * v_set(0.5) / safe;
    return root;
}
/* asinh(a) = log1p(a + a^2 / (1 + sqrt(1 + a^2))), and log(2 a) where the one is lost. */
V_HEAVY vreal v_asinh(vreal x)
{
    vreal a = v_fabs(x);
    vint huge = v_less(v_set(0x1p60), a), finite = v_less(a, v_set(INFINITY));
    vreal b = v_select(huge, v_set(1.0), a), low, root_low, quotient_low, sum_low;
    vreal square_low, square = v_two_product(b, b, &square_low);
    vreal sum = v_two_sum(v_set(1.0), square, &low);
    vreal root = v_two_root(sum, low + square_low, &root_low);
    vreal below = v_two_sum(v_set(1.0), root, &low);
    vreal quotient = v_two_quotient(square, square_low, below, low + root_low, &quotient_low);
    sum = v_two_sum(b, quotient, &sum_low);
    /* A huge one is halved, so that nothing overflows, and gets two ln 2 in return. */
    vreal halved = v_select(finite, a, v_set(1.0)) * v_set(0.5);
    vreal result = v_log1p_sum(v_select(huge, halved, sum),
                               v_select(huge, v_set(0.0), sum_low + quotient_low),
                               v_select(huge, v_set(2.0), v_set(0.0)));
    return v_or_sign(v_select(finite, result, a), x);
}
/* acosh(x) = log1p(t + sqrt(2 t + t^2)) with t = x - 1. */
V_HEAVY vreal v_acosh(vreal x)
{
    vint huge = v_less(v_set(0x1p60), x), finite = v_less(x, v_set(INFINITY));
    vint valid = v_less_equal(v_set(1.0), x);
    vreal b = v_select(huge | ~valid, v_set(1.0), x), t_low, square_low, low, root_low, sum_low;
    vreal t = v_two_sum(b, v_set(-1.0), &t_low);
    vreal square = v_two_product(t, t, &square_low);
    vreal sum = v_two_sum(t + t, square, &low);
    low += square_low + v_set(2.0) * (t_low + t * t_low);
    vreal root = v_two_root(sum, low, &root_low);
    sum = v_two_sum(t, root, &sum_low);
    vreal halved = v_select(finite, x, v_set(1.0)) * v_set(0.5);
    vreal result = v_log1p_sum(v_select(huge, halved, sum),
                               v_select(huge, v_set(0.0), sum_low + (root_low + t_low)),
                               v_select(huge, v_set(2.0), v_set(0.0)));
    result = v_select(finite, result, x);
    return v_select(valid, result, v_set(NAN));
}
/* atanh(a) = log1p(2 a / (1 - a)) / 2. */
V_HEAVY vreal v_atanh(vreal x)
{
    vreal a = v_fabs(x), below_low, error;
    vint inside = v_less(a, v_set(1.0));
    vreal b = v_select(inside, a, v_set(0.5));
    vreal below = v_two_sum(v_set(1.0), -b, &below_low);
    vreal quotient = v_two_quotient(b + b, v_set(0.0), below, below_low, &error);
    vreal result = v_set(0.5) * v_log1p_sum(quotient, error, v_set(0.0));
    result = v_or_sign(result, x);
    vreal outside = v_select(v_equal(a, v_set(1.0)), v_copysign(v_set(INFINITY), x), v_set(NAN));
    return v_select(inside, result, outside);
}
#endif

#ifdef V_WITH_POW
/* log(x) for normal positive x to about 2^-65 relative: the exponent multiplies its error. */
V_LIGHT vreal v_log_parts(vreal x, vreal *error)
{
    vreal k, m = v_mantissa(x, &k), f = m - v_set(1.0);
    vreal below_low, s_low, w_low, c_low, g_low, h_low, low, lower;
    vreal below = v_two_sum(v_set(2.0), f, &below_low);
    vreal s = v_two_quotient(f, v_set(0.0), below, below_low, &s_low);
    s = v_fast_two_sum(s, s_low, &s_low);
    vreal w = v_two_product(s, s, &w_low);
    w_low = v_fma(v_set(2.0) * s, s_low, w_low);
    /* c = 2/3 + w factor, g = w c, h = s g, each as a sum of two. */
    vreal c = v_fast_two_sum(v_set(0x1.5555555555555p-1), w * v_log_factor(w), &c_low);
    c_low = c_low + v_set(0x1.5555555555555p-55);
    vreal g = v_two_product(w, c, &g_low);
    g_low = g_low + v_fma(w, c_low, w_low * c);
    vreal h = v_two_product(s, g, &h_low);
    h_low = h_low + v_fma(s, g_low, s_low * g);
    vreal sum = v_two_sum(k * v_set(V_LN2_HIGH), s + s, &low);
    sum = v_two_sum(sum, h, &lower);
    lower = lower + (low + (v_fma(k, v_set(V_LN2_LOW), s_low + s_low) + h_low));
    return v_fast_two_sum(sum, lower, error);
}
V_HEAVY vreal v_pow(vreal x, vreal y)
{
    vreal a = v_fabs(x), size = v_fabs(y);
    vint usual = v_less_equal(v_set(0x1p-1022), a) & v_less(a, v_set(INFINITY)) &
                 v_less(size, v_set(0x1p52));
    vint unusual = ~usual;
    vreal base = v_select(usual, a, v_set(1.0)), power = v_select(usual, y, v_set(1.0));

    vreal log_low, t_low, r_low, p_low;
    vreal log_base = v_log_parts(base, &log_low);
    vreal t = v_two_product(log_base, power, &t_low);
    t_low = v_fma(log_low, power, t_low);
    vint bounded = v_less(v_fabs(t), v_set(800.0));
    t = v_clamp(t, -800.0, 800.0);
    t_low = v_select(bounded, t_low, v_set(0.0));
    vreal n = v_exponent_shifted(t) - v_set(V_ROUNDER);
    vreal r = v_exp_reduce(t, t_low, n, &r_low);
    vreal p = v_fast_two_sum(v_set(1.0), r, &p_low);
    p = p + v_fma(r * r, v_exp_factor(r), p_low + r_low);
    vreal result = v_scale(p, n);

    vreal shifted = size + v_set(0x1p52);
    vint integer = v_equal(shifted - v_set(0x1p52), size);
    vint negative = v_less(x, v_set(0.0));
    vbits odd = (v_bits(shifted) << 63) & (vbits)negative;
    result = v_from_bits(v_bits(result) | odd);
    result = v_select(negative & ~integer, v_set(NAN), result);
    return __builtin_expect(v_any(unusual), 0) ? v_pair_through_libm(unusual, x, y, result, pow)
                                               : result;
}
V_LIGHT vreal v_constpow(vreal x, vreal y) { return v_pow(x, y); }
#endif

#ifdef V_WITH_FMOD
/* |x| - q |y| in [0, |y|), exact, where `unusual` is not set. A quotient never rounds below an
 * integer that it has reached, so q can only be one too large, and then the result is next to
 * |y|, far from the tie that would ask whether q is even. */
V_LIGHT vreal v_modulo(vreal x, vreal y, vreal *q, vint *unusual)
{
    vreal a = v_fabs(x), b = v_fabs(y), ratio = a / b, low;
    vint usual = v_less(ratio, v_set(0x1p50)) & v_less(a, v_set(0x1p900)) &
                 v_less(v_set(0x1p-900), b) & v_less(b, v_set(0x1p900));
    a = v_select(usual, a, v_set(0.0));
    b = v_select(usual, b, v_set(1.0));
    *q = v_floor(v_select(usual, ratio, v_set(0.0)));
    vreal product = v_two_product(*q, b, &low);
    vreal r = (a - product) - low;
    *unusual = ~usual;
    return v_select(v_less(r, v_set(0.0)), r + b, r);
}
V_HEAVY vreal v_fmod(vreal x, vreal y)
{
    vint unusual;
    vreal q, r = v_modulo(x, y, &q, &unusual);
    r = v_xor_sign(r, x);
    return __builtin_expect(v_any(unusual), 0) ? v_pair_through_libm(unusual, x, y, r, fmod) : r;
}
V_HEAVY vreal v_remainder(vreal x, vreal y)
{
    vint unusual;
    vreal q, r = v_modulo(x, y, &q, &unusual), b = v_fabs(y), left = b - r;
    vint odd = -(vint)(v_bits(q + v_set(0x1p52)) & 1);
    vint closer_above = v_less(left, r) | (v_equal(r, left) & odd);
    r = v_xor_sign(v_select(closer_above, -left, r), x);
    return __builtin_expect(v_any(unusual), 0) ? v_pair_through_libm(unusual, x, y, r, remainder)
                                               : r;
}
#endif

#ifdef V_WITH_HYPOT
V_HEAVY vreal v_hypot(vreal x, vreal y)
{
    vreal a = v_fabs(x), b = v_fabs(y);
    vint infinite = v_equal(a, v_set(INFINITY)) | v_equal(b, v_set(INFINITY));
    vreal larger = v_select(v_less(a, b), b, a);
    vint large = v_less(v_set(0x1p500), larger), small = v_less(larger, v_set(0x1p-450));
    vreal scale = v_select(large, v_set(0x1p-600), v_select(small, v_set(0x1p600), v_set(1.0)));
    vreal back = v_select(large, v_set(0x1p600), v_select(small, v_set(0x1p-600), v_set(1.0)));
    a = a * scale;
    b = b * scale;
    return v_select(infinite, v_set(INFINITY), v_sqrt(v_fma(a, a, b * b)) * back);
}
#endif

#ifdef V_WITH_ERF
/* Below one x + x (2/sqrt(pi) - 1 + z ERF(z)); above, one minus exp(-x^2) times a polynomial. */
V_HEAVY vreal v_erf(vreal x)
{
    vreal a = v_clamp(v_fabs(x), 0.0, 6.0), z = a * a;
    vint upper = v_less(v_set(1.0), a);
    vreal z_low = v_select(upper, v_set(1.0), z);
    vreal factor = V_POLY12(z_low, -0x1.812746b0379e6p-2, 0x1.ce2f21a042b19p-4,
                            -0x1.b82ce312842f6p-6, 0x1.565bcd0d98e7ap-8, -0x1.c02db3d3cfd14p-11,
                            0x1.f9a320f6abce3p-14, -0x1.f4d1d1246193dp-17, 0x1.b9de2f682964cp-20,
                            -0x1.5f1668da01e0ap-23, 0x1.f757890010e1fp-27, -0x1.37759a1d4a998p-30,
                            0x1.02cf3e483cec9p-34);
    vreal below = v_fma(a, v_fma(z_low, factor, v_set(0x1.06eba8214db69p-3)), a);
    vreal result = below;
    if (v_any(upper)) {
        vreal t = (a - v_set(2.0)) / (a + v_set(2.0));
        vreal scaled = V_POLY20(t, 0x1.058671b52c776p-2, -0x1.b57034efd3f72p-2,
                                0x1.eeea7dc8a78b3p-3, -0x1.437f0b68c0c2p-4, 0x1.e9471597a0883p-9,
                                0x1.ca95ed5344423p-8, -0x1.bc25a47f7e80bp-11,
                                -0x1.016b5ceb04617p-10, 0x1.6d5f04249d22dp-15,
                                0x1.6da9791516e2p-13, 0x1.cdca61725ac42p-16,
                                -0x1.ceb907e49d0b8p-16, -0x1.d477f85f84c9ep-17,
                                0x1.761ec73631be4p-20, 0x1.f73037421b3b7p-19,
                                0x1.3fbfa7325363ap-20, -0x1.b7905761cc551p-22,
                                -0x1.04167359aab9p-21, -0x1.1db04a0750fc2p-23,
                                0x1.d1cbf3ade2c31p-27);
        vreal above = v_set(1.0) - v_exp_narrow(-z) * scaled;
        result = v_select(upper, above, below);
    }
    return v_or_sign(result, x);
}
#endif

#ifdef V_WITH_ERFINV
/* A rough start (relative error below 1e-2) and Halley steps on whichever of erf and erfc keeps
 * its digits; each step triples them. At most 4 ulp, lane by lane. */
static __attribute__((noinline, unused)) double v_erfinv_of_one(double x)
{
    double a = fabs(x);
    if (!(a < 1.0))
        return a == 1.0 ? copysign(INFINITY, x) : NAN;
    if (a < 0x1p-500)
        return x * 0x1.c5bf891b4ef6ap-1;
    double l = log1p(-a * a), m = 0x1.152af46b7c65ep+2 + 0.5 * l;
    double y = sqrt(sqrt(m * m - l * 0x1.b35fc845a8ecep+2) - m);
    for (int step = 0; step < 4; ++step) {
        double residual = a < 0.5 ? erf(y) - a : (1.0 - a) - erfc(y);
        double newton = residual * (0x1.c5bf891b4ef6ap-1 * exp(y * y));
        y -= newton / (1.0 + y * newton);
    }
    return copysign(y, x);
}
V_HEAVY vreal v_erfinv(vreal x)
{
    vint everywhere = ~(vint)v_bits(v_set(0.0));
    return v_through_libm(everywhere, x, x, v_erfinv_of_one);
}
#endif

#endif
