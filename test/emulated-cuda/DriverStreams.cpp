//===- DriverStreams.cpp - The driver's functions about streams, events and graphs --===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/Driver.h"
#include "test/emulated-cuda/Faults.h"
#include "test/emulated-cuda/Planted.h"
#include <algorithm>

namespace weir::cuda {

using namespace emulated;

#define WEIR_EMULATED_FIND(object, set, handle)                                                    \
  auto *object = driver().set.find(handle);                                                        \
  if (!object)                                                                                     \
    return CUDA_ERROR_INVALID_HANDLE;
#define WEIR_EMULATED_OWN(object)                                                                  \
  if (object->device != currentDevice())                                                           \
    return refuseForeign();
#define WEIR_EMULATED_STREAM(object, handle)                                                       \
  Stream *object = driver().stream(handle);                                                        \
  if (!object)                                                                                     \
    return CUDA_ERROR_INVALID_HANDLE;

/// Streams take events and graphs of their own device.
static CUresult refuseForeign() {
  note("an event or a graph is used on another device than it was made on");
  return CUDA_ERROR_INVALID_HANDLE;
}

static bool isDone(const std::vector<NodeRef> &nodes) {
  return std::all_of(nodes.begin(), nodes.end(), [](const NodeRef &n) { return n->isDone; });
}

extern "C" {

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  WEIR_EMULATED_ENTER
  if (flags > CU_STREAM_NON_BLOCKING)
    return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_shared<Stream>();
  made->device = currentDevice();
  made->isBlocking = !(flags & CU_STREAM_NON_BLOCKING);
  allStreams().push_back(made.get());
  *stream = driver().streams.add(std::move(made));
  return CUDA_SUCCESS;
}

/// What was submitted still runs.
CUresult cuStreamDestroy_v2(CUstream handle) {
  auto entered = enterDriver();
  std::shared_ptr<Stream> stream = driver().streams.take(handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  forgetStream(*stream);
  if (std::shared_ptr<Capture> capture = stream->capture) {
    capture->isInvalid = true;
    std::erase(capture->streams, stream.get());
    if (capture->origin == stream.get())
      for (Stream *member : capture->streams) {
        member->capture.reset();
        member->capturedFrontier.clear();
      }
  }
  return stickyError();
}

CUresult cuStreamSynchronize(CUstream handle) {
  WEIR_EMULATED_ENTER
  WEIR_EMULATED_STREAM(stream, handle)
  if (CUresult refused = forbidInCaptureOf(*stream))
    return refused;
  std::vector<NodeRef> last = stream->frontier;
  if (stream == &legacyStream())
    for (Stream *other : allStreams())
      if (other->isBlocking)
        last.insert(last.end(), other->frontier.begin(), other->frontier.end());
  for (const NodeRef &node : last)
    waitFor(node);
  return stickyError();
}

CUresult cuStreamQuery(CUstream handle) {
  WEIR_EMULATED_ENTER
  WEIR_EMULATED_STREAM(stream, handle)
  if (CUresult refused = forbidInCaptureOf(*stream))
    return refused;
  if (!isDone(stream->frontier)) {
    runOne();
    return stickyError() ? stickyError() : CUDA_ERROR_NOT_READY;
  }
  for (const NodeRef &node : stream->frontier)
    noticed(*node);
  return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent eventHandle, unsigned) {
  WEIR_EMULATED_ENTER
  WEIR_EMULATED_STREAM(stream, handle)
  WEIR_EMULATED_FIND(event, events, eventHandle)
  static int waits = 0;
  if (currentDevice() == plantedDevice && ++waits == plantedNumber("wait"))
    return CUDA_SUCCESS;
  return wait(*stream, *event);
}

CUresult cuEventCreate(CUevent *event, unsigned flags) {
  WEIR_EMULATED_ENTER
  auto made = std::make_shared<Event>();
  made->device = currentDevice();
  made->hasTime = !(flags & CU_EVENT_DISABLE_TIMING);
  *event = driver().events.add(std::move(made));
  return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent handle, CUstream streamHandle) {
  WEIR_EMULATED_ENTER
  WEIR_EMULATED_FIND(event, events, handle)
  WEIR_EMULATED_STREAM(stream, streamHandle)
  WEIR_EMULATED_OWN(event)
  return record(*event, *stream);
}

CUresult cuEventQuery(CUevent handle) {
  WEIR_EMULATED_ENTER
  WEIR_EMULATED_FIND(event, events, handle)
  if (CUresult refused = forbidIfCaptured(*event))
    return refused;
  if (!event->node)
    return CUDA_SUCCESS;
  if (!event->node->isDone) {
    runOne();
    return stickyError() ? stickyError() : CUDA_ERROR_NOT_READY;
  }
  noticed(*event->node);
  return CUDA_SUCCESS;
}

CUresult cuEventSynchronize(CUevent handle) {
  WEIR_EMULATED_ENTER
  WEIR_EMULATED_FIND(event, events, handle)
  if (CUresult refused = forbidIfCaptured(*event))
    return refused;
  if (event->node)
    waitFor(event->node);
  return stickyError();
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent startHandle, CUevent endHandle) {
  WEIR_EMULATED_ENTER
  WEIR_EMULATED_FIND(start, events, startHandle)
  WEIR_EMULATED_FIND(end, events, endHandle)
  for (const Event *event : {start, end})
    if (!event->hasTime || !event->node)
      return CUDA_ERROR_INVALID_HANDLE;
  if (!start->node->isDone || !end->node->isDone)
    return CUDA_ERROR_NOT_READY;
  *milliseconds = float(end->node->doneAt - start->node->doneAt);
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent handle) {
  auto entered = enterDriver();
  return driver().events.take(handle) ? stickyError() : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuStreamBeginCapture_v2(CUstream handle, int mode) {
  WEIR_EMULATED_ENTER
  WEIR_EMULATED_STREAM(stream, handle)
  return beginCapture(*stream, mode);
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph) {
  WEIR_EMULATED_ENTER
  WEIR_EMULATED_STREAM(stream, handle)
  *graph = nullptr;
  std::unique_ptr<Graph> captured;
  if (CUresult failed = endCapture(*stream, captured))
    return failed;
  *graph = driver().graphs.add(std::move(captured));
  return CUDA_SUCCESS;
}

/// Nodes have no handles here: it tells how many there are.
CUresult cuGraphGetNodes(CUgraph handle, void **nodes, size_t *count) {
  WEIR_EMULATED_ENTER
  WEIR_EMULATED_FIND(graph, graphs, handle)
  if (nodes)
    std::fill_n(nodes, std::min(*count, graph->items.size()), nullptr);
  *count = graph->items.size();
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *executable, CUgraph handle, unsigned long long) {
  WEIR_EMULATED_ENTER
  WEIR_EMULATED_FIND(graph, graphs, handle)
  auto made = std::make_shared<GraphExecutable>();
  made->device = currentDevice();
  made->graph = *graph;
  *executable = driver().executables.add(std::move(made));
  return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec handle, CUstream streamHandle) {
  WEIR_EMULATED_ENTER
  WEIR_EMULATED_FIND(executable, executables, handle)
  WEIR_EMULATED_STREAM(stream, streamHandle)
  WEIR_EMULATED_OWN(executable)
  if (isLost())
    return stickyError();
  return launchGraph(*executable, *stream);
}

CUresult cuGraphExecDestroy(CUgraphExec handle) {
  auto entered = enterDriver();
  return driver().executables.take(handle) ? stickyError() : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuGraphDestroy(CUgraph handle) {
  auto entered = enterDriver();
  return driver().graphs.take(handle) ? stickyError() : CUDA_ERROR_INVALID_HANDLE;
}

} // extern "C"

} // namespace weir::cuda
