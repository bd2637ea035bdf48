#include <QTest>

#include <signal.h>

#include <optional>
#include <string>

#include "core/program/process/output.h"
#include "core/program/process/verdict.h"
#include "core/telemetry/message.h"
#include "test_program.h"
#include "tests/core/program/programs.h"

using namespace batchscope;
using namespace batchscope::program;
using batchscope::test::Programs;
using batchscope::test::wait_for;
using telemetry::RunStatus;
using Cause = telemetry::OutOfMemory::Cause;

namespace {

const char* text_of(Cause cause) {
  return cause == Cause::device          ? "device"
         : cause == Cause::host          ? "host"
         : cause == Cause::loader_worker ? "loader worker"
                                         : "another";
}

Ending exit_with(int code, const std::string& output = {}) {
  Ending ending;
  ending.exit.code = code;
  ending.output_tail = output;
  return ending;
}

Ending signalled(int number, const std::string& output = {}) {
  Ending ending;
  ending.exit.signal = number;
  ending.output_tail = output;
  return ending;
}

/// How Python ends for an exception with this last line.
std::string traceback(const std::string& last) {
  return "Traceback (most recent call last):\n  File \"train.py\", line 12, in <module>\n    loss.backward()\n" + last +
         "\n";
}

/// Starts the program, waits for its end and judges it.
Verdict judge(const ChildStart& start) {
  Ending ending;
  Child child(start);
  ending.exit = wait_for(child);
  ending.output_tail = OutputFollower(start.output).tail();
  ending.limit = start.data_limit;
  return verdict_on(ending);
}

} // namespace

class TestVerdict : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void statuses() {
    QVERIFY(verdict_on(exit_with(0)).status == RunStatus::finished);
    QCOMPARE(verdict_on(exit_with(0)).reason_text(), std::string());
    const Verdict failed = verdict_on(exit_with(2, "usage: train.py\ntrain.py: error: no such option\n"));
    QVERIFY(failed.status == RunStatus::failed);
    QVERIFY(!failed.out_of_memory);
    QCOMPARE(failed.reason_text(), std::string("exit status 2: train.py: error: no such option"));
    QCOMPARE(verdict_on(exit_with(1)).reason_text(), std::string("exit status 1"));
    QCOMPARE(verdict_on(signalled(SIGTERM, "last line\n")).reason_text(), std::string("ended by SIGTERM: last line"));
  }

  /// However it ended: it was asked for.
  void stopped() {
    for (Ending ending : {exit_with(0), exit_with(1, traceback("KeyboardInterrupt")), signalled(SIGKILL)}) {
      ending.stop_requested = true;
      QVERIFY(verdict_on(ending).status == RunStatus::stopped);
      QVERIFY(!verdict_on(ending).out_of_memory);
    }
  }

  /// A stop that comes while the program ends by itself changes nothing of what it has done.
  void stoppedWhenItWasThrough() {
    Ending ending = exit_with(0);
    ending.stop_requested = ending.said_finished = true;
    QVERIFY(verdict_on(ending).status == RunStatus::finished);
    ending.exit.code = 1;
    QVERIFY(verdict_on(ending).status == RunStatus::stopped);
  }

  void endThatTheSystemDoesNotTell() {
    const std::string unknown = "its exit status is not known: the BatchScope that had started it was gone";
    Ending ending;
    Verdict verdict = verdict_on(ending);
    QVERIFY(verdict.status == RunStatus::interrupted);
    QCOMPARE(verdict.reason_text(), unknown);
    ending.output_tail = "epoch 2\nsaved model.pt\n";
    QCOMPARE(verdict_on(ending).reason_text(), unknown + "; the last line of its output: saved model.pt");
    ending.listened = true; // its client says `bye` unless it is killed
    verdict = verdict_on(ending);
    QVERIFY(verdict.status == RunStatus::failed);
    QVERIFY(verdict.reason_text().starts_with("ended without a final report; " + unknown));
    ending.listened = false;
    ending.output_tail = traceback("ValueError: no such file");
    verdict = verdict_on(ending);
    QVERIFY(verdict.status == RunStatus::failed);
    QCOMPARE(verdict.reason_text(), std::string("ended with an error: ValueError: no such file"));
    ending.output_tail = traceback("MemoryError");
    QVERIFY(verdict_on(ending).out_of_memory);
  }

  void textsOfMemoryErrors_data() {
    QTest::addColumn<QString>("line");
    QTest::addColumn<QString>("cause");
    const auto add = [](const char* cause, const char* line) {
      QTest::newRow(line) << QString(line) << QString(cause);
    };
    add("device", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity "
                  "of 15.77 GiB of which 12.19 MiB is free.");
    add("device", "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 15.78 GiB)");
    add("device", "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 3.95 GiB total capacity)");
    add("device", "RuntimeError: CUDA error: out of memory");
    add("device", "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`");
    add("device", "RuntimeError: NVML_SUCCESS == r INTERNAL ASSERT FAILED at \"../c10/cuda/CUDACachingAllocator.cpp\"");
    add("device", "RuntimeError: Unable to find a valid cuDNN algorithm to run convolution");
    add("host",
        "RuntimeError: [enforce fail at alloc_cpu.cpp:124] err == 0. DefaultCPUAllocator: can't allocate memory: "
        "you tried to allocate 268435456 bytes. Error code 12 (Cannot allocate memory)");
    add("device", "RuntimeError: CUDA driver error: out of memory");
    add("device", "RuntimeError: cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED");
    add("host", "RuntimeError: cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED");
    add("device", "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.cpp:77, Last error: Failed to CUDA "
                  "calloc async 608 bytes");
    add("device", "torch.distributed.DistBackendError: NCCL error: unhandled cuda error, Last error: Cuda failure 2 "
                  "'out of memory'");
    add("device", "RuntimeError: cuFFT error: CUFFT_ALLOC_FAILED");
    add("host", "RuntimeError: could not create a primitive");
    add("host", "MemoryError");
    add("host", "MemoryError: bad allocation");
    add("host", "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 7.45 GiB for an array with shape "
                "(1000000000,) and data type float64");
    add("host", "RuntimeError: can't start new thread");
    add("host", "ImportError: libtorch_cpu.so: cannot map zero-fill pages");
    add("loader worker", "RuntimeError: DataLoader worker (pid 4711) is killed by signal: Killed. ");
    add("loader worker", "RuntimeError: DataLoader worker (pid 4711) is killed by signal: Bus error. It is possible "
                         "that dataloader's workers are out of shared memory.");
  }
  void textsOfMemoryErrors() {
    QFETCH(QString, line);
    QFETCH(QString, cause);
    const std::string text = line.toStdString();
    for (const std::string& output :
         {traceback(text), "[rank0]: " + traceback("[rank0]: " + text),
          traceback(text) + "\nDuring handling of the above exception, another exception occurred:\n\n" +
              traceback("RuntimeError: No executable batch size found, reached zero."),
          traceback(text) + traceback("torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ")}) {
      const Verdict verdict = verdict_on(exit_with(1, output));
      QVERIFY2(verdict.out_of_memory, output.c_str());
      QCOMPARE(QString::fromStdString(text_of(verdict.cause)), cause);
      QVERIFY(verdict.status == RunStatus::failed);
    }
    // It was survived, and the program ended for another reason.
    const std::string later = traceback(text) + "trying a smaller batch\n" + traceback("KeyError: 'labels'");
    const Verdict verdict = verdict_on(exit_with(1, later));
    QVERIFY(!verdict.out_of_memory);
    QCOMPARE(verdict.reason_text(), std::string("exit status 1: KeyError: 'labels'"));
    QVERIFY(!verdict_on(exit_with(0, traceback(text))).out_of_memory);
    QVERIFY(!verdict_on(signalled(SIGTERM, traceback(text))).out_of_memory);
  }

  void aHandleThatCannotBeMadeMeansMemoryOfAFullDevice() {
    Ending ending = exit_with(1, traceback("RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling "
                                           "`cublasCreate(handle)`"));
    QVERIFY(!verdict_on(ending).out_of_memory);
    ending.limit = 1000;
    ending.peak = 990;
    QVERIFY(verdict_on(ending).out_of_memory);
  }

  void threadsOfOpenMp() {
    const Verdict verdict =
        verdict_on(exit_with(1, "\nlibgomp: Thread creation failed: Resource temporarily unavailable\n"));
    QVERIFY(verdict.out_of_memory);
    QVERIFY(verdict.cause == Cause::host);
  }

  void sourceInATracebackIsNoError() {
    QVERIFY(!verdict_on(exit_with(1, "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n"
                                     "    except torch.OutOfMemoryError: pass\nNameError: name 'torch'\n"))
                 .out_of_memory);
  }

  void abortedForMemory() {
    const Verdict verdict = verdict_on(signalled(
        SIGABRT, "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n"));
    QVERIFY(verdict.out_of_memory);
    QVERIFY(verdict.cause == Cause::host);
    QVERIFY(!verdict_on(signalled(SIGABRT, "Assertion `x' failed.\n")).out_of_memory);
  }

  /// A crash means that memory has run out only where the peak came close to a limit.
  void crashUnderALimit() {
    Ending ending = signalled(SIGSEGV);
    QVERIFY(!verdict_on(ending).out_of_memory);
    QCOMPARE(verdict_on(ending).reason_text(), std::string("ended by SIGSEGV"));
    ending.peak = 950;
    QVERIFY(!verdict_on(ending).out_of_memory);
    ending.limit = 1000;
    QVERIFY(verdict_on(ending).out_of_memory);
    ending.peak = 800;
    QVERIFY(!verdict_on(ending).out_of_memory);
    ending.exit = Exit{.code = 128 + SIGSEGV, .signal = {}}; // as a shell between reports it
    ending.peak = 950;
    QVERIFY(verdict_on(ending).out_of_memory);
  }

  void killedByOthers() {
    Ending ending = signalled(SIGKILL, traceback("MemoryError"));
    QCOMPARE(verdict_on(ending).reason_text(), std::string("killed (SIGKILL) by an unknown process"));
    QVERIFY(!verdict_on(ending).out_of_memory);
    ending.exit.kernel_oom = true;
    QVERIFY(verdict_on(ending).out_of_memory);
    QVERIFY(verdict_on(ending).cause == Cause::kernel);
    ending.exit.killed_by_us = true;
    QVERIFY(!verdict_on(ending).out_of_memory);
    QCOMPARE(verdict_on(ending).reason_text(), std::string("ended by SIGKILL: MemoryError"));
  }

  /// What the program itself said goes before its output.
  void saidOverTheSocket() {
    using Where = telemetry::OutOfMemory::Where;
    Ending ending = exit_with(1, traceback("KeyError: 'x'"));
    ending.oom = telemetry::OutOfMemory{.error = "CUDA out of memory. Tried to allocate 2 MiB"};
    QVERIFY(verdict_on(ending).out_of_memory);
    QVERIFY(verdict_on(ending).cause == Cause::device);
    QCOMPARE(verdict_on(ending).reason_text(),
             std::string("out of memory (device): CUDA out of memory. Tried to allocate 2 MiB"));
    ending.oom->error = "MemoryError";
    ending.oom->where = Where::evaluation;
    ending.oom->reason = telemetry::because(telemetry::Words::single_example);
    QCOMPARE(
        verdict_on(ending).reason_text(),
        std::string("out of memory (host): MemoryError (evaluation); not survived: even one example does not fit"));
    ending.oom->reason = telemetry::because(telemetry::Words::examples_interact, {{"relative_error", 0.25}});
    QVERIFY(verdict_on(ending).reason_text().ends_with("examples' losses (relative error 0.25)"));
    ending.oom->reason = telemetry::as_told("a reason of its own");
    QVERIFY(verdict_on(ending).reason_text().ends_with("(evaluation); not survived: a reason of its own"));
    ending.oom = telemetry::OutOfMemory{};
    QCOMPARE(verdict_on(ending).reason_text(), std::string("out of memory (device)"));
    ending.exit = Exit{.code = 0, .signal = {}};
    QVERIFY(verdict_on(ending).status == RunStatus::finished);
  }

  void realMemoryError() {
    const Programs programs;
    ChildStart start = programs.python("print('step 1', flush=True)\nx = bytearray(1 << 30)\nprint('not here')");
    start.data_limit = 256 << 20;
    const Verdict verdict = judge(start);
    QVERIFY2(verdict.out_of_memory, programs.output().c_str());
    QVERIFY(verdict.cause == Cause::host);
    QVERIFY(verdict.status == RunStatus::failed);
    QCOMPARE(verdict.reason_text(), std::string("out of memory (host): MemoryError"));
  }

  void realThreadError() {
    const Programs programs;
    ChildStart start =
        programs.python("import threading, time\nthreading.stack_size(128 << 20)\n"
                        "for i in range(64): threading.Thread(target=time.sleep, args=(9,), daemon=True).start()");
    start.data_limit = 256 << 20;
    const Verdict verdict = judge(start);
    QVERIFY2(verdict.out_of_memory, programs.output().c_str());
    QVERIFY(verdict.cause == Cause::host);
  }

  void realExceptions() {
    const Programs programs;
    QCOMPARE(judge(programs.python("raise KeyError('labels')")).reason_text(),
             std::string("exit status 1: KeyError: 'labels'"));
    QVERIFY(judge(programs.python("raise ModuleNotFoundError(\"No module named 'batchscope'\")"))
                .reason_text()
                .ends_with("`batchscope-cli python-client -o batchscope.py` writes it beside the program"));
    QCOMPARE(judge(programs.shell("kill -KILL $$")).reason_text(),
             std::string("killed (SIGKILL) by an unknown process"));
  }
};

BATCHSCOPE_TEST(TestVerdict)
#include "tst_verdict.moc"
