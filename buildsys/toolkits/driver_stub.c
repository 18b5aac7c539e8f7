/* A CUDA driver without devices: libcuda.so.1 for linking, and for tests on machines that have none.
 *
 * It exports what ggml-cuda links, and what the CUDA runtime looks up by name. Initialization reports
 * CUDA_ERROR_NO_DEVICE, as the real driver does where no GPU is visible, and so does everything that would need a device.
 * It is never part of a wheel. DRIVER_STUB_VERSION is what cuDriverGetVersion answers: 1000 * major + 10 * minor. */
#include <stddef.h>
#include <string.h>

#ifndef DRIVER_STUB_VERSION
#define DRIVER_STUB_VERSION 13010
#endif

enum { SUCCESS = 0, INVALID_VALUE = 1, NO_DEVICE = 100, NOT_FOUND = 500 };

typedef int CUresult;
typedef void (*any_function)(void);

/* Called for every function of the driver that is looked up by name and not defined below. No argument is read: the C
 * calling conventions of all supported systems leave the arguments to the caller. */
static CUresult no_device(void) {
    return NO_DEVICE;
}

CUresult cuInit(unsigned flags) {
    (void) flags;
    return NO_DEVICE;
}

CUresult cuDriverGetVersion(int * version) {
    if (version == NULL) {
        return INVALID_VALUE;
    }
    *version = DRIVER_STUB_VERSION;
    return SUCCESS;
}

CUresult cuDeviceGetCount(int * count) {
    if (count == NULL) {
        return INVALID_VALUE;
    }
    *count = 0;
    return NO_DEVICE;
}

static CUresult describe(CUresult error, const char ** text, const char * no_device_text, const char * other_text) {
    if (text == NULL) {
        return INVALID_VALUE;
    }
    *text = error == NO_DEVICE ? no_device_text : other_text;
    return SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char ** text) {
    return describe(error, text, "no CUDA-capable device is detected", "error of the driver stub");
}

CUresult cuGetErrorName(CUresult error, const char ** text) {
    return describe(error, text, "CUDA_ERROR_NO_DEVICE", "CUDA_ERROR_UNKNOWN");
}

/* Private interfaces between NVIDIA's own libraries: none. */
CUresult cuGetExportTable(const void ** table, const void * identifier) {
    (void) identifier;
    if (table != NULL) {
        *table = NULL;
    }
    return NOT_FOUND;
}

#define WITHOUT_DEVICE(name) \
    CUresult name(void) {    \
        return NO_DEVICE;    \
    }

WITHOUT_DEVICE(cuDeviceGet)
WITHOUT_DEVICE(cuDeviceGetAttribute)
WITHOUT_DEVICE(cuMemAddressFree)
WITHOUT_DEVICE(cuMemAddressReserve)
WITHOUT_DEVICE(cuMemCreate)
WITHOUT_DEVICE(cuMemGetAllocationGranularity)
WITHOUT_DEVICE(cuMemMap)
WITHOUT_DEVICE(cuMemRelease)
WITHOUT_DEVICE(cuMemSetAccess)
WITHOUT_DEVICE(cuMemUnmap)

CUresult cuGetProcAddress_v2(const char * name, any_function * function, int version, unsigned long long flags, int * status);

CUresult cuGetProcAddress(const char * name, any_function * function, int version, unsigned long long flags) {
    return cuGetProcAddress_v2(name, function, version, flags, NULL);
}

/* The runtime asks for a few hundred functions before it initializes the driver, and gives up if one is missing. */
CUresult cuGetProcAddress_v2(const char * name, any_function * function, int version, unsigned long long flags, int * status) {
    static const struct {
        const char * name;
        any_function function;
    } defined[] = {
        { "cuInit", (any_function) cuInit },
        { "cuDriverGetVersion", (any_function) cuDriverGetVersion },
        { "cuDeviceGetCount", (any_function) cuDeviceGetCount },
        { "cuGetErrorString", (any_function) cuGetErrorString },
        { "cuGetErrorName", (any_function) cuGetErrorName },
        { "cuGetExportTable", (any_function) cuGetExportTable },
        { "cuGetProcAddress", (any_function) cuGetProcAddress_v2 }, /* the name without a version means the newest */
    };
    (void) version;
    (void) flags;
    if (name == NULL || function == NULL) {
        return INVALID_VALUE;
    }
    *function = (any_function) no_device;
    for (size_t index = 0; index < sizeof(defined) / sizeof(defined[0]); index++) {
        if (strcmp(name, defined[index].name) == 0) {
            *function = defined[index].function;
        }
    }
    if (status != NULL) {
        *status = 0; /* CU_GET_PROC_ADDRESS_SUCCESS */
    }
    return SUCCESS;
}
