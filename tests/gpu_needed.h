#pragma once

#include <QTest>

#include "core/base/error.h"

/// Where a test of a GPU finds none: on the pretended one, that is a failure.
#define SKIP_WITHOUT_GPU(error)                                                                                        \
  do {                                                                                                                 \
    QVERIFY2(!qEnvironmentVariableIsSet("BATCHSCOPE_TEST_GPU"), (error).what());                                       \
    QSKIP((error).what());                                                                                             \
  } while (false)
