/* One builtin of two numbers, as its name is: FUNCTION; or their quotient. */
static float quotient(float x, float z) { return x / z; }
__kernel void apply(__global const float *x, __global const float *z, __global float *y, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] = FUNCTION(x[i], z[i]);
}
