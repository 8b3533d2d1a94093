/* opencl_api.c - finding the OpenCL loader, and names for its codes. */
#include "dynlib.h"
#include "opencl.h"

#define ROW(field, name)                                                                                                       \
  { name, offsetof(kc__cl_api, field), false }

static const kc__symbol symbols[] = {
    ROW(platforms, "clGetPlatformIDs"),
    ROW(platform_info, "clGetPlatformInfo"),
    ROW(devices, "clGetDeviceIDs"),
    ROW(device_info, "clGetDeviceInfo"),
    ROW(create_context, "clCreateContext"),
    ROW(create_queue, "clCreateCommandQueue"),
    ROW(create_buffer, "clCreateBuffer"),
    ROW(create_sub_buffer, "clCreateSubBuffer"),
    ROW(write, "clEnqueueWriteBuffer"),
    ROW(read, "clEnqueueReadBuffer"),
    ROW(program_with_source, "clCreateProgramWithSource"),
    ROW(program_with_binary, "clCreateProgramWithBinary"),
    ROW(build, "clBuildProgram"),
    ROW(build_info, "clGetProgramBuildInfo"),
    ROW(program_info, "clGetProgramInfo"),
    ROW(create_kernel, "clCreateKernel"),
    ROW(kernel_arg_info, "clGetKernelArgInfo"),
    ROW(kernel_group_info, "clGetKernelWorkGroupInfo"),
    ROW(set_arg, "clSetKernelArg"),
    ROW(launch, "clEnqueueNDRangeKernel"),
    ROW(finish, "clFinish"),
    ROW(release_kernel, "clReleaseKernel"),
    ROW(release_program, "clReleaseProgram"),
    ROW(release_memory, "clReleaseMemObject"),
    ROW(release_queue, "clReleaseCommandQueue"),
    ROW(release_context, "clReleaseContext"),
};

kc_status kc__cl_load(kc__cl_api *cl, kc_text *err) {
  static const char *const names[] = {"libOpenCL.so.1", "libOpenCL.so", NULL};
  void *library;
  kc_text why;
  if (kc__dynlib_first(&library, names, &why) != KC_OK)
    return kc_fail(err, KC_ENODEV, "no OpenCL loader (libOpenCL.so.1): %.300s", why.s);
  if (kc__dynlib_fill(library, cl, symbols, sizeof symbols / sizeof *symbols, &why) == KC_OK) return KC_OK;
  return kc_fail(err, KC_ENODEV, "the OpenCL loader is too old: %.300s", why.s);
}

void kc__cl_fail(kc_text *err, const char *what, int32_t code) {
  static const struct {
    int32_t code;
    const char *name;
  } names[] = {
      {-1, "CL_DEVICE_NOT_FOUND"},
      {-2, "CL_DEVICE_NOT_AVAILABLE"},
      {-3, "CL_COMPILER_NOT_AVAILABLE"},
      {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
      {-5, "CL_OUT_OF_RESOURCES"},
      {-6, "CL_OUT_OF_HOST_MEMORY"},
      {-11, "CL_BUILD_PROGRAM_FAILURE"},
      {-13, "CL_MISALIGNED_SUB_BUFFER_OFFSET"},
      {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
      {-30, "CL_INVALID_VALUE"},
      {-38, "CL_INVALID_MEM_OBJECT"},
      {-43, "CL_INVALID_BUILD_OPTIONS"},
      {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
      {-46, "CL_INVALID_KERNEL_NAME"},
      {-50, "CL_INVALID_ARG_VALUE"},
      {-51, "CL_INVALID_ARG_SIZE"},
      {-52, "CL_INVALID_KERNEL_ARGS"},
      {-54, "CL_INVALID_WORK_GROUP_SIZE"},
      {-55, "CL_INVALID_WORK_ITEM_SIZE"},
      {-61, "CL_INVALID_BUFFER_SIZE"},
      {-1001, "CL_PLATFORM_NOT_FOUND_KHR: no driver is installed for the loader"},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].code == code) {
      (void)kc_fail(err, KC_OK, "OpenCL: %s: %s", what, names[i].name);
      return;
    }
  (void)kc_fail(err, KC_OK, "OpenCL: %s: code %d", what, code);
}
