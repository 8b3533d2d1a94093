/* One builtin of one number, as its name is: FUNCTION; of f16 where F16 is defined. */
#ifdef F16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define T half
#else
#define T float
#endif
__kernel void apply(__global const T *x, __global T *y, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] = FUNCTION(x[i]);
}
