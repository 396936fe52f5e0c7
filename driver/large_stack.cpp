// The thread library of C++ cannot choose the size of a stack, so this is POSIX. Pages of the stack
// cost nothing until they are used.
#include "driver/large_stack.h"

#include <exception>
#include <pthread.h>

namespace driver {

namespace {

struct Task {
  const std::function<void()>& body;
  std::exception_ptr problem;
};

void* perform(void* argument) {
  Task& task = *static_cast<Task*>(argument);
  try {
    task.body();
  } catch (...) {
    task.problem = std::current_exception();
  }
  return nullptr;
}

bool performOnThread(Task& task, size_t stackBytes) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0)
    return false;
  pthread_t thread;
  bool started = pthread_attr_setstacksize(&attributes, stackBytes) == 0 &&
                 pthread_create(&thread, &attributes, perform, &task) == 0;
  pthread_attr_destroy(&attributes);
  if (started)
    pthread_join(thread, nullptr);
  return started;
}

} // namespace

void runOnLargeStack(const std::function<void()>& body) {
  Task task{body, nullptr};
  bool done = false;
  for (size_t mebibytes : {512, 128, 32})
    if (!done)
      done = performOnThread(task, mebibytes << 20);
  if (!done)
    body();
  if (task.problem)
    std::rethrow_exception(task.problem);
}

} // namespace driver
