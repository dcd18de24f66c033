/* Vectors of LANES doubles, one lane per state, and the operations that everything else is built on.
 *
 * The includer defines LANES as 1, 2, 4 or 8. Compile with -ffp-contract=off -fno-math-errno and
 * never with -ffast-math: exact cancellations below would be optimized away.
 *
 * The bits of a result depend neither on LANES, nor on the position in the vector, nor on the
 * neighbours. They may depend on whether the processor has a fused multiply-add, because then
 * v_fma rounds once instead of twice. HOMODYN_FMA is defined in that case; HOMODYN_NO_FMA disables it.
 */
#ifndef HOMODYN_VECTOR_H
#define HOMODYN_VECTOR_H

#include <math.h>
#include <string.h>

#ifndef LANES
#error "define LANES as 1, 2, 4 or 8 before vector.h"
#elif LANES != 1 && LANES != 2 && LANES != 4 && LANES != 8
#error "LANES must be 1, 2, 4 or 8"
#endif

#if !defined(HOMODYN_NO_FMA) && \
    (defined(__FMA__) || defined(__AVX512F__) || defined(__aarch64__) || defined(__ARM_FEATURE_FMA))
#define HOMODYN_FMA 1
#endif

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#define V_HAS(builtin) __has_builtin(builtin)
#else
#define V_HAS(builtin) 0
/* Wide vectors on narrow processors are passed in memory. All functions here are static, so the
 * calling convention that gcc warns about does not matter. (-Wno-psabi silences the remaining
 * note.) */
#pragma GCC diagnostic ignored "-Wpsabi"
#if defined(__aarch64__) && defined(HOMODYN_FMA)
#include <arm_neon.h>
#endif
#endif

#define V_LIGHT static inline __attribute__((always_inline, unused))
#define V_HEAVY static __attribute__((noinline, unused))
#define V_RARE static __attribute__((noinline, cold, unused))

/* vint holds masks (all bits set or none per lane), vbits the bit pattern of a vreal.
 *
 * One lane is a plain double: gcc passes one-element vectors through memory. The same text works
 * for both, given that comparisons go through v_less and its like, and lanes through v_get. */
#if LANES == 1
typedef double vreal;
typedef long long vint;
typedef unsigned long long vbits;
#define V_MASK(comparison) (-(vint)(comparison))
#else
typedef double vreal __attribute__((vector_size(8 * LANES)));
typedef long long vint __attribute__((vector_size(8 * LANES)));
typedef unsigned long long vbits __attribute__((vector_size(8 * LANES)));
#define V_MASK(comparison) ((vint)(comparison))
#endif

/* The widest vector of the processor that fits into a vreal; gcc has no intrinsics beyond it. */
#if LANES == 8 && defined(__AVX512F__)
#define V_PIECE 8
#elif LANES >= 4 && defined(__AVX__)
#define V_PIECE 4
#elif LANES >= 2
#define V_PIECE 2
#else
#define V_PIECE 1
#endif
#define V_PIECES (LANES / V_PIECE)

#if LANES > 1
typedef double v_piece __attribute__((vector_size(8 * V_PIECE)));
typedef long long v_piece_mask __attribute__((vector_size(8 * V_PIECE)));
typedef union {
    vreal whole;
    v_piece piece[V_PIECES];
} v_pieces;
typedef union {
    vint whole;
    v_piece_mask piece[V_PIECES];
} v_mask_pieces;
#endif

V_LIGHT vreal v_set(double x)
{
#if LANES == 1
    return x;
#elif LANES == 2
    return (vreal){x, x};
#elif LANES == 4
    return (vreal){x, x, x, x};
#else
    return (vreal){x, x, x, x, x, x, x, x};
#endif
}

V_LIGHT double v_get(vreal x, int lane)
{
#if LANES == 1
    (void)lane;
    return x;
#else
    return x[lane];
#endif
}

V_LIGHT vreal v_with(vreal x, int lane, double value)
{
#if LANES == 1
    (void)x, (void)lane;
    return value;
#else
    x[lane] = value;
    return x;
#endif
}

V_LIGHT vbits v_bits(vreal x)
{
    vbits bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

V_LIGHT vreal v_from_bits(vbits bits)
{
    vreal x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

V_LIGHT vreal v_select(vint mask, vreal a, vreal b)
{
    vbits m = (vbits)mask;
    return v_from_bits((v_bits(a) & m) | (v_bits(b) & ~m));
}

/* Comparisons, as masks. gcc with AVX-512 is led past all-ones vectors built by an instruction that
 * waits for the old content of its register, which would chain one call to the next. */
#if V_PIECE == 8 && !defined(__clang__) && defined(__AVX512DQ__)
#define V_COMPARE(a, operator, number, b) \
    ((vint)__builtin_ia32_cvtmask2q512(__builtin_ia32_cmppd512_mask(a, b, number, -1, 4)))
#else
#define V_COMPARE(a, operator, number, b) V_MASK((a)operator(b))
#endif
V_LIGHT vint v_less(vreal a, vreal b) { return V_COMPARE(a, <, 1, b); }
V_LIGHT vint v_less_equal(vreal a, vreal b) { return V_COMPARE(a, <=, 2, b); }
V_LIGHT vint v_equal(vreal a, vreal b) { return V_COMPARE(a, ==, 0, b); }
V_LIGHT vint v_unequal(vreal a, vreal b) { return V_COMPARE(a, !=, 4, b); }

V_LIGHT int v_any(vint mask)
{
#if LANES == 1
    return mask != 0;
#elif V_HAS(__builtin_reduce_or)
    return __builtin_reduce_or(mask) != 0;
#elif defined(__SSE2__) && !defined(__clang__)
    v_mask_pieces m = {mask};
    v_piece_mask all = m.piece[0];
    for (int k = 1; k < V_PIECES; ++k)
        all |= m.piece[k];
#if V_PIECE == 8
    return __builtin_ia32_ptestmq512(all, all, (char)-1) != 0;
#elif V_PIECE == 4
    return !__builtin_ia32_ptestz256(all, all);
#else
    return __builtin_ia32_movmskpd((v_piece)all) != 0;
#endif
#else
    long long all = 0;
    for (int k = 0; k < LANES; ++k)
        all |= mask[k];
    return all != 0;
#endif
}

/* a b + c, rounded once where the processor can (HOMODYN_FMA), else twice. */
V_LIGHT vreal v_fma(vreal a, vreal b, vreal c)
{
#ifndef HOMODYN_FMA
    return a * b + c;
#elif LANES == 1
    return __builtin_fma(a, b, c);
#elif V_HAS(__builtin_elementwise_fma)
    return __builtin_elementwise_fma(a, b, c);
#elif defined(__clang__)
    for (int k = 0; k < LANES; ++k)
        c[k] = __builtin_fma(a[k], b[k], c[k]);
    return c;
#else
    v_pieces x = {a}, y = {b}, z = {c};
    for (int k = 0; k < V_PIECES; ++k)
#if defined(__aarch64__)
        z.piece[k] = (v_piece)vfmaq_f64((float64x2_t)z.piece[k], (float64x2_t)x.piece[k],
                                        (float64x2_t)y.piece[k]);
#elif V_PIECE == 8
        z.piece[k] = __builtin_ia32_vfmaddpd512_mask(x.piece[k], y.piece[k], z.piece[k], -1, 4);
#elif V_PIECE == 4
        z.piece[k] = __builtin_ia32_vfmaddpd256(x.piece[k], y.piece[k], z.piece[k]);
#elif defined(__SSE2__)
        z.piece[k] = __builtin_ia32_vfmaddpd(x.piece[k], y.piece[k], z.piece[k]);
#else
        for (int i = 0; i < V_PIECE; ++i)
            z.piece[k][i] = __builtin_fma(x.piece[k][i], y.piece[k][i], z.piece[k][i]);
#endif
    return z.whole;
#endif
}

V_LIGHT vreal v_sqrt(vreal x)
{
#if LANES == 1
    return __builtin_sqrt(x);
#elif V_HAS(__builtin_elementwise_sqrt)
    return __builtin_elementwise_sqrt(x);
#elif defined(__SSE2__) && !defined(__clang__)
    v_pieces p = {x};
    for (int k = 0; k < V_PIECES; ++k)
#if V_PIECE == 8
        p.piece[k] = __builtin_ia32_sqrtpd512_mask(p.piece[k], p.piece[k], -1, 4);
#elif V_PIECE == 4
        p.piece[k] = __builtin_ia32_sqrtpd256(p.piece[k]);
#else
        p.piece[k] = __builtin_ia32_sqrtpd(p.piece[k]);
#endif
    return p.whole;
#else
    for (int k = 0; k < LANES; ++k)
        x[k] = __builtin_sqrt(x[k]);
    return x;
#endif
}

/* Blocks of V_PIECE x V_PIECE numbers are turned inside registers. The memory may be unaligned and
 * belongs to arrays of plain doubles, hence a type of its own. */
#if V_PIECE > 1
typedef double v_row __attribute__((vector_size(8 * V_PIECE), aligned(8), may_alias));
#ifdef __clang__
#define V_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define V_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (v_piece_mask){__VA_ARGS__})
#endif
#else
typedef double v_piece;
typedef double v_row;
#endif

/* Exchange rows i and j of one block with their turned pairs. Indices are literal so that the
 * block stays in registers without relying on loops being unrolled. */
#if V_PIECE == 2
#define V_TURN_1(x, i, j) V_TURN(x, i, j, V_SHUFFLE(p, q, 0, 2), V_SHUFFLE(p, q, 1, 3))
#elif V_PIECE == 4
#define V_TURN_1(x, i, j) V_TURN(x, i, j, V_SHUFFLE(p, q, 0, 4, 2, 6), V_SHUFFLE(p, q, 1, 5, 3, 7))
#define V_TURN_2(x, i, j) V_TURN(x, i, j, V_SHUFFLE(p, q, 0, 1, 4, 5), V_SHUFFLE(p, q, 2, 3, 6, 7))
#elif V_PIECE == 8
#define V_TURN_1(x, i, j) \
    V_TURN(x, i, j, V_SHUFFLE(p, q, 0, 8, 2, 10, 4, 12, 6, 14), \
           V_SHUFFLE(p, q, 1, 9, 3, 11, 5, 13, 7, 15))
#define V_TURN_2(x, i, j) \
    V_TURN(x, i, j, V_SHUFFLE(p, q, 0, 1, 8, 9, 4, 5, 12, 13), \
           V_SHUFFLE(p, q, 2, 3, 10, 11, 6, 7, 14, 15))
#define V_TURN_4(x, i, j) \
    V_TURN(x, i, j, V_SHUFFLE(p, q, 0, 1, 2, 3, 8, 9, 10, 11), \
           V_SHUFFLE(p, q, 4, 5, 6, 7, 12, 13, 14, 15))
#endif
#define V_TURN(x, i, j, first, second) \
    do { \
        v_piece p = x[i], q = x[j]; \
        x[i] = first; \
        x[j] = second; \
    } while (0)

#if V_PIECE == 8
#define V_EACH(step) step(0) step(1) step(2) step(3) step(4) step(5) step(6) step(7)
#define V_TURN_BLOCK(x) \
    do { \
        V_TURN_1(x, 0, 1); V_TURN_1(x, 2, 3); V_TURN_1(x, 4, 5); V_TURN_1(x, 6, 7); \
        V_TURN_2(x, 0, 2); V_TURN_2(x, 1, 3); V_TURN_2(x, 4, 6); V_TURN_2(x, 5, 7); \
        V_TURN_4(x, 0, 4); V_TURN_4(x, 1, 5); V_TURN_4(x, 2, 6); V_TURN_4(x, 3, 7); \
    } while (0)
#elif V_PIECE == 4
#define V_EACH(step) step(0) step(1) step(2) step(3)
#define V_TURN_BLOCK(x) \
    do { \
        V_TURN_1(x, 0, 1); V_TURN_1(x, 2, 3); V_TURN_2(x, 0, 2); V_TURN_2(x, 1, 3); \
    } while (0)
#elif V_PIECE == 2
#define V_EACH(step) step(0) step(1)
#define V_TURN_BLOCK(x) V_TURN_1(x, 0, 1)
#else
#define V_EACH(step) step(0)
#define V_TURN_BLOCK(x) (void)0
#endif

/* Read n numbers of each of `count` states into n vectors; state k starts at base + k stride and
 * becomes lane k. Lanes without a state repeat the last one, so that no lane computes with
 * garbage. A stride of zero is an input that all states share. `out` is aligned as a vreal is; the
 * states may lie anywhere, also unaligned. */
V_HEAVY void v_load_states(const double *base, long stride, int count, vreal *out, int n)
{
    if (stride == 0 || count == 1) {
        for (int j = 0; j < n; ++j)
            out[j] = v_set(base[j]);
        return;
    }
    const double *state[LANES];
    for (int k = 0; k < LANES; ++k)
        state[k] = base + (k < count ? k : count - 1) * stride;
    double *numbers = (double *)out;
    if (n < V_PIECE) {
        for (int j = 0; j < n; ++j)
            for (int k = 0; k < LANES; ++k)
                out[j] = v_with(out[j], k, state[k][j]);
        return;
    }
    /* The last block overlaps the one before instead of leaving numbers over. */
    for (int j = 0; j < n; j += V_PIECE) {
        int at = j + V_PIECE <= n ? j : n - V_PIECE;
        for (int first = 0; first < LANES; first += V_PIECE) {
            const double *const *from = state + first;
            double *to = numbers + (long)at * LANES + first;
            v_piece block[V_PIECE];
#define V_STEP(i) block[i] = *(const v_row *)(from[i] + at);
            V_EACH(V_STEP)
#undef V_STEP
            V_TURN_BLOCK(block);
#define V_STEP(i) *(v_row *)(to + (i) * LANES) = block[i];
            V_EACH(V_STEP)
#undef V_STEP
        }
    }
}

/* The reverse: write n numbers of each of the `count` valid lanes and touch nothing else. */
V_HEAVY void v_store_states(double *base, long stride, int count, const vreal *in, int n)
{
    const double *numbers = (const double *)in;
    if (n < V_PIECE || count < LANES) {
        for (int k = 0; k < count; ++k)
            for (int j = 0; j < n; ++j)
                base[k * stride + j] = numbers[(long)j * LANES + k];
        return;
    }
    for (int j = 0; j < n; j += V_PIECE) {
        int at = j + V_PIECE <= n ? j : n - V_PIECE;
        for (int first = 0; first < LANES; first += V_PIECE) {
            const double *from = numbers + (long)at * LANES + first;
            double *to = base + first * stride + at;
            v_piece block[V_PIECE];
#define V_STEP(i) block[i] = *(const v_row *)(from + (i) * LANES);
            V_EACH(V_STEP)
#undef V_STEP
            V_TURN_BLOCK(block);
#define V_STEP(i) *(v_row *)(to + (i) * stride) = block[i];
            V_EACH(V_STEP)
#undef V_STEP
        }
    }
}
#endif
