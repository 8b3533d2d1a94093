/* test_npy.c - reading and writing .npy files: headers as bytes written here by hand, hostile ones among them. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "npy.h"
#include "npy_header.h"

/* A file in a directory of the test's own. */
static char directory[64], path[96];

static void setup(void) {
  strcpy(directory, "/tmp/kc_npy_XXXXXX");
  cr_assert(mkdtemp(directory));
  snprintf(path, sizeof path, "%s/x.npy", directory);
}

static void teardown(void) {
  unlink(path);
  rmdir(directory);
}

TestSuite(npy, .init = setup, .fini = teardown);

static void put(const void *data, size_t n, const char *mode) {
  FILE *file = fopen(path, mode);
  cr_assert(file && fwrite(data, 1, n, file) == n && fclose(file) == 0);
}

/* A file of the given version: dictionary, then data. */
static void compose(int major, const char *dictionary, const void *data, size_t n) {
  size_t length = strlen(dictionary);
  unsigned char prefix[12] = {0x93, 'N', 'U', 'M', 'P', 'Y', (unsigned char)major, 0};
  for (int i = 0; i < 4; i++) prefix[8 + i] = (unsigned char)(length >> 8 * i);
  put(prefix, major == 1 ? 10 : 12, "wb");
  put(dictionary, length, "ab");
  put(data, n, "ab");
}

static kc_buffer *load(const char *as) {
  kc_npy *npy;
  kc_buffer *b;
  kc_text err = {""};
  cr_assert_eq(kc_npy_open(&npy, path, &err), KC_OK, "%s", err.s);
  if (as) cr_assert_eq(kc_npy_reinterpret(npy, kc_format_find(as), &err), KC_OK, "%s", err.s);
  cr_assert_eq(kc_npy_load(&b, npy, 0, &err), KC_OK, "%s", err.s);
  kc_npy_close(npy);
  return b;
}

/* The file is refused with a message that names it and contains `text`. */
static void refused(const char *text, const char *what) {
  kc_npy *npy = NULL;
  kc_buffer *b = NULL;
  kc_text err = {""};
  kc_status status = kc_npy_open(&npy, path, &err);
  if (status == KC_OK) status = kc_npy_load(&b, npy, 0, &err);
  cr_expect_neq(status, KC_OK, "accepted: %s", what);
  cr_expect(strstr(err.s, text) && strstr(err.s, path) && !strchr(err.s, '\n'), "%s: expected '%s' in: %s", what, text, err.s);
  kc_npy_close(npy);
}

Test(npy, every_version_order_and_byte_order) {
  const float values[6] = {1, 2, 3, 4, 5, 6}, columns[6] = {1, 4, 2, 5, 3, 6};
  float swapped[6];
  for (int i = 0; i < 6; i++) {
    uint32_t word;
    memcpy(&word, &values[i], 4);
    word = word >> 24 | (word >> 8 & 0xff00) | (word << 8 & 0xff0000) | word << 24;
    memcpy(&swapped[i], &word, 4);
  }
  const struct {
    int major;
    const char *dictionary;
    const float *data;
  } rows[] = {
      {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }          \n", values},
      {2, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", values},
      {3, "{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"<f4\"}", values},
      {1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}\n", columns},
      {1, "{'descr': '>f4', 'fortran_order': False, 'shape': (2L, 3L,)}\n", swapped},
      {1, "\n { 'descr' : '=f4' , 'fortran_order' : False , 'shape' : ( 2 , 3 , ) , } ", values},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    compose(rows[i].major, rows[i].dictionary, rows[i].data, sizeof values);
    kc_buffer *b = load(NULL);
    cr_expect_str_eq(kc_buffer_format(b)->name, "f32");
    cr_expect(kc_buffer_rank(b) == 2 && kc_buffer_shape(b)[0] == 2 && kc_buffer_shape(b)[1] == 3);
    cr_expect_eq(memcmp(kc_buffer_cdata(b), values, sizeof values), 0, "%s", rows[i].dictionary);
    kc_buffer_release(b);
  }
}

Test(npy, element_types) {
  const struct {
    const char *descr, *format;
    size_t size;
  } rows[] = {{"<f2", "f16", 2}, {"<f8", "f64", 8}, {"|i1", "i8", 1},  {"<i2", "i16", 2}, {"<i4", "i32", 4}, {"<i8", "i64", 8},
              {"|u1", "u8", 1},  {"<u2", "u16", 2}, {"<u4", "u32", 4}, {"<u8", "u64", 8}, {"|b1", "u8", 1},  {"<b1", "u8", 1}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char dictionary[128];
    snprintf(dictionary, sizeof dictionary, "{'descr': '%s', 'fortran_order': False, 'shape': (1,), }", rows[i].descr);
    compose(1, dictionary, "\1\2\3\4\5\6\7\10", rows[i].size);
    kc_buffer *b = load(NULL);
    cr_expect_str_eq(kc_buffer_format(b)->name, rows[i].format, "%s", rows[i].descr);
    cr_expect_eq(memcmp(kc_buffer_cdata(b), "\1\2\3\4\5\6\7\10", rows[i].size), 0);
    kc_buffer_release(b);
  }
}

Test(npy, formats_that_numpy_lacks) {
  const struct {
    const char *descr, *as;
    size_t size;
  } rows[] = {{"<u2", "bf16", 2},   {"|V2", "bf16", 2}, {"<V2", "f16", 2},
              {"|u1", "e4m3fn", 1}, {"<f1", "e5m2", 1}, {"<i4", "f32", 4}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char dictionary[128];
    snprintf(dictionary, sizeof dictionary, "{'descr': '%s', 'fortran_order': False, 'shape': (), }", rows[i].descr);
    compose(1, dictionary, "\x80\x3f\0\0", rows[i].size);
    kc_buffer *b = load(rows[i].as);
    cr_expect(strcmp(kc_buffer_format(b)->name, rows[i].as) == 0 && kc_buffer_rank(b) == 0 && kc_buffer_count(b) == 1);
    kc_buffer_release(b);
  }
  compose(1, "{'descr': '|V2', 'fortran_order': False, 'shape': (1,), }", "ab", 2);
  refused("raw elements of 2 bytes", "V2 without a format");
  compose(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "abcd", 4);
  kc_npy *npy;
  kc_text err = {""};
  cr_assert_eq(kc_npy_open(&npy, path, NULL), KC_OK);
  cr_expect_eq(kc_npy_reinterpret(npy, kc_format_find("bf16"), &err), KC_EUNSUPPORTED);
  cr_expect_eq(kc_npy_reinterpret(npy, kc_format_find("tf32"), &err), KC_EUNSUPPORTED, "floats stay what they are");
  kc_npy_close(npy);
  compose(1, "{'descr': '<u4', 'fortran_order': False, 'shape': (2,), }", "\0\x20\0\0\1\0\0\0", 8);
  cr_assert_eq(kc_npy_open(&npy, path, NULL), KC_OK);
  cr_assert_eq(kc_npy_reinterpret(npy, kc_format_find("tf32"), &err), KC_OK);
  uint32_t words[2];
  cr_expect_eq(kc_npy_read(npy, 0, 1, words, &err), KC_OK);
  cr_expect_eq(kc_npy_read(npy, 0, 2, words, &err), KC_EIO, "bits that tf32 lacks");
  cr_expect(strstr(err.s, "element 1") && strstr(err.s, "0x1"), "%s", err.s);
  kc_npy_close(npy);
}

Test(npy, hostile_headers) {
  const struct {
    const char *dictionary, *message;
  } rows[] = {
      {"", "a dictionary in braces"},
      {"{}", "the keys"},
      {"[]", "a dictionary in braces"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)", "',' or '}'"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", "nothing after"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}", "once"},
      {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "once"},
      {"{'descr': '<f4', 'fortran_order': False}", "the keys"},
      {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", "True or False"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1)}", "(N,)"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': 1}", "parentheses"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': [1]}", "parentheses"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}", "',' or ')'"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", ">= 0"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1.0,)}", "',' or ')'"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "63 bits"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 2)}", "overflows"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807,)}", "2^63 bytes"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", "8 dimensions"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (,)}", "a dimension"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,,)}", "a dimension"},
      {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "Python objects"},
      {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", "complex"},
      {"{'descr': '<U3', 'fortran_order': False, 'shape': (1,)}", "strings"},
      {"{'descr': '|S3', 'fortran_order': False, 'shape': (1,)}", "byte strings"},
      {"{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (1,)}", "dates"},
      {"{'descr': '<f16', 'fortran_order': False, 'shape': (1,)}", "this size"},
      {"{'descr': '|f4', 'fortran_order': False, 'shape': (1,)}", "'|f4'"},
      {"{'descr': 'f4', 'fortran_order': False, 'shape': (1,)}", "'f4'"},
      {"{'descr': '', 'fortran_order': False, 'shape': (1,)}", "''"},
      {"{'descr': '<', 'fortran_order': False, 'shape': (1,)}", "'<'"},
      {"{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}", "structured"},
      {"{'descr': '<f4\\x41', 'fortran_order': False, 'shape': (1,)}", "without escapes"},
      {"{'descr': __import__('os'), 'fortran_order': False, 'shape': (1,)}", "a quoted string"},
      {"{'descr': '<f4", "a quoted string"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "holds 4 bytes of data, its shape needs 8"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (0,)}", "holds 4 bytes of data, its shape needs 0"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 99999999999999999999)}", "63 bits"},
      {"{\x1b[31m", "a quoted string"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    compose(1, rows[i].dictionary, "abcd", 4);
    refused(rows[i].message, rows[i].dictionary);
  }
}

Test(npy, hostile_files) {
  put("", 0, "wb");
  refused("not a .npy file", "empty");
  put("\x93NUMPY\1\0", 8, "wb");
  refused("not a .npy file", "cut in the prefix");
  put("PK\3\4 and more of it", 18, "wb");
  refused("not a .npy file", "a zip");
  put("\x93NUMPY\4\0\1\0\0\0{}", 14, "wb");
  refused("version 4.0", "a later version");
  put("\x93NUMPY\1\0\xff\xff{}", 12, "wb");
  refused("a header of 65535 bytes in a file of 12", "length beyond the file");
  put("\x93NUMPY\2\0\0\0\0\1{}", 14, "wb");
  cr_assert_eq(truncate(path, 1 << 25), 0);
  refused("at most 1048576", "a header of 16 MiB");
  unlink(path);
  refused("No such file", "none");
  cr_assert_eq(mkfifo(path, 0600), 0);
  refused("a pipe", "pipe");
  unlink(path);
  cr_assert_eq(symlink("/dev/zero", path), 0);
  refused("a device", "device");
  unlink(path);
  cr_assert_eq(mkdir(path, 0700), 0);
  refused("a directory", "directory");
  rmdir(path);
}

Test(npy, a_file_that_shrinks_is_an_error) {
  kc_npy *npy;
  kc_text err = {""};
  char data[64] = {0};
  compose(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (16,)}", data, sizeof data);
  cr_assert_eq(kc_npy_open(&npy, path, &err), KC_OK, "%s", err.s);
  cr_assert_eq(truncate(path, 80), 0);
  cr_expect_eq(kc_npy_read(npy, 0, 16, data, &err), KC_EIO);
  cr_expect(strstr(err.s, "ends at byte 80"), "%s", err.s);
  cr_expect_eq(kc_npy_read(npy, 10, 7, data, &err), KC_EINVAL);
  kc_npy_close(npy);
}

/* Random bytes in place of a header's: never a crash, and nothing accepted that does not fit the file. */
Test(npy, damaged_headers_never_crash) {
  const char good[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  uint64_t state = 1;
  for (int round = 0; round < 200000; round++) {
    char text[sizeof good];
    size_t n = sizeof good - 1;
    memcpy(text, good, sizeof good);
    for (int k = 0; k < 3; k++) {
      state = state * UINT64_C(6364136223846793005) + 1;
      size_t at = (size_t)(state >> 33) % n;
      text[at] = good[(size_t)(state >> 20) % n];
      if (state >> 62 == 0) n = at + 1;
      if (state >> 62 == 1) text[at] = (char)(state >> 40);
    }
    kc_npy_info info;
    kc_text err = {""};
    if (kc__npy_parse(&info, text, n, &err) != KC_OK) {
      cr_assert(err.s[0] && !strchr(err.s, '\n'), "round %d: %.*s", round, (int)n, text);
      continue;
    }
    int64_t count = 1;
    cr_assert(info.rank >= 0 && info.rank <= KC_MAX_RANK && info.itemsize >= 1 && info.itemsize <= 8, "round %d", round);
    for (int d = 0; d < info.rank; d++) count *= info.shape[d];
    cr_assert_eq(count, info.count, "round %d: %.*s", round, (int)n, text);
  }
}

static void round_trip(const kc_format *f, int rank, const int64_t *shape, const char *descr) {
  kc_buffer *a;
  kc_text err = {""};
  kc_dist bits = {.kind = KC_DIST_BITS};
  cr_assert_eq(kc_buffer_create(&a, f, rank, shape, 0, &err), KC_OK, "%s", err.s);
  cr_assert_eq(kc_fill(f, kc_buffer_data(a), (size_t)kc_buffer_count(a), 0, 1, &bits, &err), KC_OK, "%s: %s", f->name, err.s);
  cr_assert_eq(kc_npy_save(path, a, &err), KC_OK, "%s", err.s);
  char head[512] = {0};
  FILE *file = fopen(path, "rb");
  cr_assert(file && fread(head, 1, sizeof head - 1, file) >= 64);
  fclose(file);
  cr_expect(strstr(head + 10, descr), "%s is written as %s", f->name, head + 10);
  cr_expect_eq(((unsigned char)head[8] + 256 * (unsigned char)head[9] + 10) % 64, 0, "data on a multiple of 64 bytes");
  bool lacking = strchr(descr, 'u') && f->kind == KC_FLOAT;
  kc_buffer *b = load(lacking ? f->name : NULL);
  cr_expect(kc_buffer_format(b) == f && kc_buffer_rank(b) == rank && kc_buffer_count(b) == kc_buffer_count(a), "%s", f->name);
  cr_expect_eq(memcmp(kc_buffer_cdata(a), kc_buffer_cdata(b), kc_buffer_bytes(a)), 0, "%s", f->name);
  kc_buffer_release(a);
  kc_buffer_release(b);
}

Test(npy, what_is_written_is_read) {
  static const char *const descr[][2] = {
      {"f64", "'<f8'"},      {"f32", "'<f4'"},  {"tf32", "'<u4'"},     {"hf32", "'<u4'"}, {"bf16", "'<u2'"}, {"f16", "'<f2'"},
      {"e4m3fn", "'|u1'"},   {"e5m2", "'|u1'"}, {"e5m2fnuz", "'|u1'"}, {"e3m2", "'|u1'"}, {"e2m1", "'|u1'"}, {"e8m0", "'|u1'"},
      {"i8", "'|i1'"},       {"i16", "'<i2'"},  {"i32", "'<i4'"},      {"i64", "'<i8'"},  {"u8", "'|u1'"},   {"u16", "'<u2'"},
      {"e4m3fnuz", "'|u1'"}, {"u32", "'<u4'"},  {"u64", "'<u8'"},      {"e2m3", "'|u1'"}};
  const int64_t shape[8] = {3, 1, 2, 1, 5, 1, 1, 7}, empty[2] = {4, 0};
  for (size_t i = 0; i < sizeof descr / sizeof *descr; i++) {
    const kc_format *f = kc_format_find(descr[i][0]);
    round_trip(f, 8, shape, descr[i][1]);
    round_trip(f, 1, shape, descr[i][1]);
    round_trip(f, 0, shape, descr[i][1]);
    round_trip(f, 2, empty, descr[i][1]);
  }
}

Test(npy, fortran_order_of_many_dimensions) {
  enum { A = 7, B = 300, C = 40, N = A * B * C }; /* more than is loaded at a time */
  static uint16_t data[N];
  for (int c = 0; c < C; c++)
    for (int b = 0; b < B; b++)
      for (int a = 0; a < A; a++) data[a + A * (b + B * c)] = (uint16_t)(a * 9000 + b * 30 + c);
  compose(1, "{'descr': '<u2', 'fortran_order': True, 'shape': (7, 300, 40)}", data, sizeof data);
  kc_buffer *got = load(NULL);
  const uint16_t *p = kc_buffer_cdata(got);
  for (int a = 0; a < A; a++)
    for (int b = 0; b < B; b++)
      for (int c = 0; c < C; c++)
        cr_assert_eq(p[(a * B + b) * C + c], (uint16_t)(a * 9000 + b * 30 + c), "[%d, %d, %d]", a, b, c);
  kc_buffer_release(got);
}

Test(npy, writing_where_one_cannot) {
  const int64_t n = 4;
  kc_buffer *b;
  kc_text err = {""};
  cr_assert_eq(kc_buffer_create(&b, kc_format_find("f32"), 1, &n, 0, &err), KC_OK);
  cr_expect_eq(kc_npy_save("/dev/null", b, &err), KC_EIO);
  cr_expect(strstr(err.s, "a device"), "%s", err.s);
  cr_expect_eq(kc_npy_save("/no/such/directory/x.npy", b, &err), KC_EIO);
  cr_expect(strstr(err.s, "/no/such/directory/x.npy"), "%s", err.s);
  put("something longer than the file that replaces it: 0123456789012345678901234567890123456789012345678901234567890123456789"
      "0123456789012345678901234567890123456789",
      150, "wb");
  cr_assert_eq(kc_npy_save(path, b, &err), KC_OK, "%s", err.s);
  kc_buffer_release(load(NULL));
  kc_buffer_release(b);
}
