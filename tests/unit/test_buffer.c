/* test_buffer.c - layout, guards, poison, seals and attachment of buffers. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kc.h"

static kc_buffer *create(const char *format, int rank, const int64_t *shape, size_t guard) {
  kc_buffer *b = NULL;
  kc_text err = {""};
  kc_status status = kc_buffer_create(&b, kc_format_find(format), rank, shape, guard, &err);
  cr_assert_eq(status, KC_OK, "%s: %s", format, err.s);
  return b;
}

static int64_t damage(const kc_buffer *b) {
  kc_guard_report r;
  kc_buffer_guards(b, &r);
  cr_expect_eq(r.damaged, r.count > 0);
  return r.count;
}

Test(buffer, facts) {
  int64_t shape[] = {3, 5, 7};
  kc_buffer *b = create("tf32", 3, shape, 100);
  cr_expect_eq(kc_buffer_rank(b), 3);
  cr_expect_arr_eq(kc_buffer_shape(b), shape, sizeof shape);
  cr_expect_eq(kc_buffer_count(b), 105);
  cr_expect_eq(kc_buffer_bytes(b), 420);
  cr_expect_eq(kc_buffer_guard_bytes(b), (size_t)sysconf(_SC_PAGESIZE));
  cr_expect_str_eq(kc_buffer_format(b)->name, "tf32");
  cr_expect(kc_buffer_writable(b));
  cr_expect_eq(kc_buffer_data(b), kc_buffer_cdata(b));
  cr_expect_eq((uintptr_t)kc_buffer_data(b) % (uintptr_t)sysconf(_SC_PAGESIZE), 0);
  kc_buffer_release(b);
  b = create("f64", 0, NULL, 1);
  cr_expect_eq(kc_buffer_count(b), 1, "a scalar");
  kc_buffer_release(b);
}

/* Every byte around the data is watched, down to the one that touches it. */
Test(buffer, each_guard_byte_counts) {
  for (int64_t n = 0; n < 9; n += 4) {
    kc_buffer *b = create("u8", 1, &n, 1);
    char *data = kc_buffer_data(b);
    int64_t guard = (int64_t)kc_buffer_guard_bytes(b);
    for (int64_t at = -guard; at < n + guard; at++) {
      if (at >= 0 && at < n) continue;
      char old = data[at];
      data[at] = 0;
      kc_guard_report r;
      kc_buffer_guards(b, &r);
      cr_assert(r.damaged && r.count == 1 && r.offset == at && r.nearest == at && r.after == (at >= n), "n %ld, byte %ld",
                (long)n, (long)at);
      cr_assert(r.expected == (uint8_t)old && r.found == 0);
      data[at] = old;
    }
    memset(data, 0, (size_t)n);
    cr_expect_eq(damage(b), 0, "writing the data is no damage");
    kc_buffer_release(b);
  }
}

Test(buffer, nearest_damage_of_both_sides) {
  int64_t n = 10;
  kc_buffer *b = create("f32", 1, &n, 1);
  char *data = kc_buffer_data(b);
  data[-7] ^= 1, data[-5] ^= 1, data[43] ^= 1, data[60] ^= 1;
  kc_guard_report r;
  kc_buffer_guards(b, &r);
  cr_expect_eq(r.count, 4);
  cr_expect_eq(r.offset, -7);
  cr_expect_eq(r.nearest, 43, "4 bytes past the end are nearer than 5 before the start");
  cr_expect(r.after);
  data[-1] ^= 1;
  kc_buffer_guards(b, &r);
  cr_expect(r.nearest == -1 && !r.after);
  kc_buffer_poison(b, 0);
  cr_expect_eq(damage(b), 0, "poisoning repaints the guards");
  kc_buffer_release(b);
}

/* Canaries depend on the place: a guard shifted by an element or filled with a constant is noticed. */
Test(buffer, canaries_are_not_constant) {
  int64_t n = 1;
  kc_buffer *b = create("f32", 1, &n, 4096);
  unsigned char *data = kc_buffer_data(b), page[4096];
  memcpy(page, data + 4, 4096);
  for (int value = 0; value < 256; value++) {
    memset(data + 4, value, 64);
    cr_assert_gt(damage(b), 40, "constant %d", value);
  }
  memcpy(data + 4, page + 4, 64);
  cr_expect_gt(damage(b), 40);
  kc_buffer_release(b);
}

Test(buffer, poisons_differ_in_every_byte) {
  int64_t n = 64, first;
  for (size_t i = 0; kc_format_at(i); i++) {
    const kc_format *f = kc_format_at(i);
    kc_buffer *b = create(f->name, 1, &n, 1);
    unsigned char one[512], *data = kc_buffer_data(b);
    cr_expect_eq(kc_buffer_unwritten(b, 0, &first), n, "%s", f->name);
    cr_expect_eq(kc_buffer_unwritten(b, 1, NULL), 0, "%s", f->name);
    memcpy(one, data, kc_buffer_bytes(b));
    kc_buffer_poison(b, 1);
    cr_expect_eq(kc_buffer_unwritten(b, 1, &first), n, "%s", f->name);
    for (size_t k = 0; k < kc_buffer_bytes(b); k++) cr_assert_neq(one[k], data[k], "%s byte %zu", f->name, k);
    data[0] ^= 1, data[kc_buffer_bytes(b) - 1] ^= 0x80; /* one bit is enough to count as written */
    cr_expect_eq(kc_buffer_unwritten(b, 1, &first), n - 2, "%s", f->name);
    cr_expect_eq(first, 1);
    memset(data, 0, kc_buffer_bytes(b));
    cr_expect_eq(kc_buffer_unwritten(b, 1, &first), 0);
    cr_expect_eq(first, -1);
    kc_buffer_release(b);
  }
}

Test(buffer, empty) {
  int64_t shapes[][2] = {{0, 5}, {7, 0}, {0, INT64_MAX}};
  for (int i = 0; i < 3; i++)
    for (size_t guard = 0; guard < 2; guard++) {
      kc_buffer *b = create("f32", 2, shapes[i], guard);
      cr_expect_eq(kc_buffer_count(b), 0);
      cr_expect_eq(kc_buffer_bytes(b), 0);
      cr_expect_eq(kc_buffer_unwritten(b, 0, NULL), 0);
      cr_expect_eq(damage(b), 0);
      *(char *)kc_buffer_data(b) ^= 1;
      cr_expect_eq(damage(b), 1, "the guard begins at once");
      kc_buffer_release(b);
    }
}

Test(buffer, impossible_shapes) {
  const struct {
    int rank;
    int64_t shape[2];
    kc_status status;
    const char *text;
  } bad[] = {
      {2, {INT64_C(1) << 40, INT64_C(1) << 40}, KC_EINVAL, "overflows at dimension 2"},
      {1, {-1}, KC_EINVAL, "dimension 1 of the shape is -1"},
      {-1, {0}, KC_EINVAL, "rank -1"},
      {9, {0}, KC_EINVAL, "rank 9"},
      {1, {INT64_MAX}, KC_ENOMEM, "address space"},
      {1, {INT64_C(1) << 50}, KC_ENOMEM, "memory of this machine"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    kc_buffer *b = NULL;
    kc_text err = {""};
    kc_status status = kc_buffer_create(&b, kc_format_find("f64"), bad[i].rank, bad[i].shape, 1, &err);
    cr_expect_eq(status, bad[i].status, "case %zu: %d", i, status);
    cr_expect(strstr(err.s, bad[i].text), "case %zu: %s", i, err.s);
    cr_expect_null(b);
  }
  kc_buffer *b = NULL;
  cr_expect_eq(kc_buffer_create(&b, kc_format_find("f64"), 0, NULL, SIZE_MAX, NULL), KC_ENOMEM);
  cr_expect_eq(kc_buffer_create(&b, NULL, 0, NULL, 1, NULL), KC_EINVAL);
}

Test(buffer, sealing) {
  int64_t n = 100;
  kc_text err = {""};
  kc_buffer *b = create("f32", 1, &n, 1);
  ((float *)kc_buffer_data(b))[7] = 42;
  cr_assert_eq(kc_buffer_seal(b, &err), KC_OK, "%s", err.s);
  cr_expect_not(kc_buffer_writable(b));
  cr_expect_eq(((const float *)kc_buffer_cdata(b))[7], 42);
  cr_expect_eq(damage(b), 0);
  kc_buffer_poison(b, 1);
  cr_expect_eq(((const float *)kc_buffer_cdata(b))[7], 42, "poison leaves a sealed buffer alone");
  cr_expect_eq(kc_buffer_seal(b, &err), KC_OK, "twice");
  cr_expect_lt(write(kc_buffer_fd(b), "x", 1), 0);
  cr_expect_eq(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, kc_buffer_fd(b), 0), MAP_FAILED);
  kc_buffer_release(b);
}

Test(buffer, sealing_is_refused_while_mapped_elsewhere) {
  int64_t n = 100;
  kc_text err = {""};
  kc_buffer *b = create("f32", 1, &n, 1), *other = NULL;
  cr_assert_eq(kc_buffer_attach(&other, dup(kc_buffer_fd(b)), kc_format_find("f32"), 1, &n, 1, true, &err), KC_OK, "%s", err.s);
  cr_expect_eq(kc_buffer_seal(b, &err), KC_EIO);
  cr_expect(strstr(err.s, "elsewhere"), "%s", err.s);
  cr_expect(kc_buffer_writable(b), "as before");
  ((float *)kc_buffer_data(b))[3] = 5;
  cr_expect_eq(((const float *)kc_buffer_cdata(other))[3], 5, "still shared");
  kc_buffer_release(other);
  cr_expect_eq(kc_buffer_seal(b, &err), KC_OK);
  kc_buffer_release(b);
}

Test(buffer, attached_buffers_share_the_memory) {
  int64_t n = 1000;
  kc_text err = {""};
  kc_buffer *b = create("f64", 1, &n, 1), *reader = NULL, *writer = NULL;
  cr_assert_eq(kc_buffer_attach(&reader, dup(kc_buffer_fd(b)), kc_format_find("f64"), 1, &n, 1, false, &err), KC_OK, "%s",
               err.s);
  cr_assert_eq(kc_buffer_attach(&writer, dup(kc_buffer_fd(b)), kc_format_find("f64"), 1, &n, 1, true, &err), KC_OK, "%s",
               err.s);
  cr_expect(kc_buffer_writable(writer) && !kc_buffer_writable(reader));
  ((double *)kc_buffer_data(writer))[999] = 3;
  ((char *)kc_buffer_data(writer))[-1] ^= 1;
  cr_expect_eq(((const double *)kc_buffer_cdata(b))[999], 3);
  cr_expect_eq(((const double *)kc_buffer_cdata(reader))[999], 3);
  cr_expect_eq(damage(b), 1, "an overrun of the peer is seen here");
  cr_expect_eq(kc_buffer_unwritten(reader, 0, NULL), 999);
  kc_buffer_release(writer);
  cr_assert_eq(kc_buffer_seal(b, &err), KC_OK, "%s", err.s);
  int fd = dup(kc_buffer_fd(b));
  cr_expect_eq(kc_buffer_attach(&writer, fd, kc_format_find("f64"), 1, &n, 1, true, &err), KC_EIO);
  cr_expect(strstr(err.s, "sealed against writing"), "%s", err.s);
  cr_assert_eq(kc_buffer_attach(&writer, fd, kc_format_find("f64"), 1, &n, 1, false, &err), KC_OK,
               "fd stays ours on failure: %s", err.s);
  cr_expect_eq(((const double *)kc_buffer_cdata(writer))[999], 3);
  kc_buffer_release(writer);
  kc_buffer_release(reader);
  kc_buffer_release(b);
}

Test(buffer, hostile_descriptors) {
  int64_t n = 100000;
  kc_text err = {""};
  kc_buffer *b = NULL, *small = create("f32", 1, &(int64_t){10}, 1);
  int plain = memfd_create("plain", MFD_ALLOW_SEALING), file = open("/proc/self/exe", O_RDONLY);
  cr_assert(ftruncate(plain, 1 << 20) == 0);
  const struct {
    int fd;
    const char *text;
  } bad[] = {{kc_buffer_fd(small), "the layout needs"},
             {plain, "not sealed"},
             {file, "not a memfd"},
             {-1, "not a memfd"},
             {9999, "not a memfd"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    cr_expect_eq(kc_buffer_attach(&b, bad[i].fd, kc_format_find("f32"), 1, &n, 1, false, &err), KC_EIO, "case %zu", i);
    cr_expect(strstr(err.s, bad[i].text), "case %zu: %s", i, err.s);
  }
  cr_expect_neq(ftruncate(kc_buffer_fd(small), 0), 0, "a peer cannot pull the memory away");
  kc_buffer_release(small);
  close(plain);
  close(file);
}

Test(buffer, references) {
  int64_t n = 1;
  kc_buffer *b = create("i32", 1, &n, 1);
  int fd = kc_buffer_fd(b);
  cr_expect_eq(kc_buffer_retain(b), b);
  kc_buffer_release(b);
  cr_expect_eq(fcntl(fd, F_GETFD), FD_CLOEXEC, "still open, and not inherited");
  kc_buffer_release(b);
  cr_expect_eq(fcntl(fd, F_GETFD), -1);
  kc_buffer_release(NULL);
}

/* What lies in the guards is read from memory, element by element: the place of each is found again; the data are nobody's canaries. */
Test(buffer, a_word_of_a_guard_tells_its_place) {
  int64_t shape[] = {5};
  for (int f = 0; f < 2; f++) {
    kc_buffer *b = create(f ? "f64" : "f32", 1, shape, 1);
    const kc_format *format = kc_buffer_format(b);
    const char *data = kc_buffer_cdata(b);
    int64_t guard = (int64_t)(kc_buffer_guard_bytes(b) / format->storage);
    kc_buffer_poison(b, 0);
    for (int64_t away = 1; away <= guard; away++) {
      int64_t before = -away, after = 5 + away - 1;
      cr_expect_eq(kc_buffer_guard_place(b, kc_load(format, data + before * (int64_t)format->storage, 0)), before);
      cr_expect_eq(kc_buffer_guard_place(b, kc_load(format, data + after * (int64_t)format->storage, 0)), after);
    }
    cr_expect_eq(kc_buffer_guard_place(b, 0), 0);
    cr_expect_eq(kc_buffer_guard_place(b, kc_load(format, data - 1, 0) & ~UINT64_C(1)), 0);
    cr_expect_eq(kc_buffer_guard_place(b, 0x01010101), 0);
    kc_buffer_release(b);
  }
}
