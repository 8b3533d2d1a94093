/* test_philox.c - known answers of Philox4x32-10, from the Random123 distribution (kat_vectors). */
#include <criterion/criterion.h>

#include "kc.h"

static const struct {
  uint32_t counter[4], key[2], out[4];
} answers[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

Test(philox, known_answers) {
  for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
    uint32_t out[4];
    kc_philox4x32(out, answers[i].counter, answers[i].key);
    for (int j = 0; j < 4; j++)
      cr_expect_eq(out[j], answers[i].out[j], "answer %zu word %d: %08x, expected %08x", i, j, out[j], answers[i].out[j]);
  }
}

/* The counter is advanced by the caller: nothing is carried from call to call. */
Test(philox, is_a_function) {
  uint32_t a[4], b[4];
  kc_philox4x32(a, (uint32_t[4]){1, 2, 3, 4}, (uint32_t[2]){5, 6});
  kc_philox4x32(b, (uint32_t[4]){2, 2, 3, 4}, (uint32_t[2]){5, 6});
  cr_expect(a[0] != b[0] || a[1] != b[1]);
  kc_philox4x32(b, (uint32_t[4]){1, 2, 3, 4}, (uint32_t[2]){5, 6});
  cr_expect_arr_eq(a, b, sizeof a);
}
