/* One builtin of one number, as its name is: FUNCTION. */
__kernel void apply(__global const float *x, __global float *y, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] = FUNCTION(x[i]);
}
