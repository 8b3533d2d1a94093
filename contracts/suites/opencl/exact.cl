/* Builtins that OpenCL C rounds correctly, as their names are: FUNCTION. What is converted is -x, which is exact: a copy of x, which kc's
 * buffers round to nearest, would be right else. */
#if defined(ENTRY_ternary)
__kernel void ternary(__global const float *x, __global const float *z, __global const float *w, __global float *y, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] = FUNCTION(x[i], z[i], w[i]);
}
#elif defined(ENTRY_f32_to_i32)
__kernel void f32_to_i32(__global const float *x, __global int *y, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] = FUNCTION(-x[i]);
}
#elif defined(ENTRY_i32_to_f32)
__kernel void i32_to_f32(__global const int *x, __global float *y, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] = FUNCTION(-x[i]);
}
#elif defined(ENTRY_f32_to_f16)
/* A vstore_half. */
__kernel void f32_to_f16(__global const float *x, __global half *y, int n) {
  int i = get_global_id(0);
  if (i < n) FUNCTION(-x[i], i, y);
}
#elif defined(ENTRY_f64_to_f32)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void f64_to_f32(__global const double *x, __global float *y, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] = FUNCTION(-x[i]);
}
#endif
