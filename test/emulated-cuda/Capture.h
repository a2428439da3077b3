//===- Capture.h - Streams, events, and graphs captured from them -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// While a stream is captured, what is submitted goes to a graph and does not run. Calls that a
// capture forbids fail with the codes of the CUDA driver and make the capture invalid.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_EMULATED_CUDA_CAPTURE_H
#define WEIR_TEST_EMULATED_CUDA_CAPTURE_H

#include "runtime/cuda/Api.h"
#include "test/emulated-cuda/Streams.h"
#include <memory>
#include <thread>
#include <vector>

namespace weir::emulated {

struct Graph {
  struct Item {
    std::shared_ptr<const Work> work;
    std::vector<int> after; ///< items before it
  };
  std::vector<Item> items;
};

struct Stream;

struct Capture {
  Stream *origin = nullptr;
  int mode = 0; ///< 0: forbids to every thread, 1: to its own, 2: nothing
  std::thread::id thread;
  bool isInvalid = false, hasEnded = false;
  std::vector<Stream *> streams; ///< the origin, and those that joined by an event
  Graph graph;
};

struct Stream {
  int device = 0;
  bool isBlocking = false;          ///< ordered with the legacy stream
  std::vector<NodeRef> frontier;    ///< what comes next comes after these
  std::shared_ptr<Capture> capture; ///< null: not captured
  std::vector<int> capturedFrontier;
};

struct Event {
  int device = 0;
  bool hasTime = true;
  NodeRef node; ///< null: never recorded, or in a capture
  std::shared_ptr<Capture> capture;
  std::vector<int> captured;
};

struct GraphExecutable {
  int device = 0;
  Graph graph;
  NodeRef last; ///< of its last launch: launches of one graph follow each other
};

/// The stream of handle zero, and those that were created and not destroyed, of the current device.
Stream &legacyStream();
std::vector<Stream *> &allStreams();
/// One, which is being destroyed; those of all devices.
void forgetStream(Stream &stream);
void forgetStreams();

/// Enqueues, or captures.
cuda::CUresult submit(Stream &stream, std::shared_ptr<const Work> work);
cuda::CUresult record(Event &event, Stream &stream);
cuda::CUresult wait(Stream &stream, const Event &event);
cuda::CUresult beginCapture(Stream &stream, int mode);
cuda::CUresult endCapture(Stream &stream, std::unique_ptr<Graph> &graph);
cuda::CUresult launchGraph(GraphExecutable &executable, Stream &stream);

/// What the calling thread may not do while something is captured: 900, and the capture is invalid.
cuda::CUresult forbidInCapture();
/// The same for a wait for everything, by any thread.
cuda::CUresult forbidInAnyCapture();
/// The same for a wait for or a query of this stream.
cuda::CUresult forbidInCaptureOf(Stream &stream);
/// For a wait for or a query of this event: 907.
cuda::CUresult forbidIfCaptured(const Event &event);

} // namespace weir::emulated

#endif
