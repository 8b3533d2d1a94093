/* decide_element.h - what the loop over tensors (decide.c) needs of the rules for one element (decide_element.c). Internal. */
#ifndef KC_DECIDE_ELEMENT_H
#define KC_DECIDE_ELEMENT_H

#include "directed.h"
#include "kc.h"

/* What is known of one exact value: bounds, y* - y relative to the output's anchor, and the possible classes. */
typedef struct kc__exact {
  kc__bounds value, difference;
  uint8_t classes;
} kc__exact;

/* The rules, for an output already decoded; `found` is its class. */
kc_element_decision kc__decide_value(const kc_format *f, double y, kc_class found, const kc__exact *x, const kc_tolerance *t,
                                     double allowed);

/* Bounds of y* - y from bounds of y*. */
kc__bounds kc__difference(const kc_format *f, double y, kc__bounds value);

/* True when a further tier could not change the verdict of the element. */
static inline bool kc__decided(const kc_element_decision *d) {
  return d->cls == KC_NO || d->value == KC_NO || (d->cls == KC_YES && d->value == KC_YES);
}

#endif
