/* What the binding generator needs of <stdio.h>: FILE exists and is opaque. */
#pragma once
#include <stddef.h>
typedef struct c_library_file FILE;
