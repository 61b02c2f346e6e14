#pragma once

// Aligned: stays.
#define ALIGNED(x)      \
    do {                \
        work(x);        \
    } while (0)

// One line too long for the column of the others.
#define OVERFLOW(dst, src, n)                 \
    do {                                      \
        vector_operation_with_a_long_name(dst, src, n); \
        done(dst);                            \
    } while (0)

// Ragged, one with blanks behind the backslash.
#define RAGGED(a, b) \
    first(a);      \  
    second(b);  \
	tabbed(a,	b);	\
    last(a, b)

#define SINGLE 1

#define TEXT \
    "kept   \
as it is" \
    "größe" \
    0
