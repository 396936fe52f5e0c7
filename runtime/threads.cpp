// Jobs with empty seats stand in a list. Who is idle takes a seat; the owner of a job takes the
// seats that are still empty away when its own call is done, and waits for those who sit.
//
// Waiting is looking for a while, since work comes and ends within microseconds, then sleeping. All
// of it is plain data, so nothing is destroyed under threads that sleep on it.
#include "runtime/threads.h"

#include "runtime/signals.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <thread>
#include <utility>

namespace runtime {

namespace {

struct Job {
  FunctionRef<void()> work;
  unsigned seats = 0;
  Job* next = nullptr;
  std::atomic<unsigned> working = 0;
};

/// How often others may have the processor before who waits for a number sleeps, since on a busy
/// machine that is who changes it; and how often it is looked at in between, which tells sooner.
constexpr int mostYields = 100, looksBetween = 16;

/// Leaves the processor's units to the other thread of its core for a moment.
inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

constinit std::atomic<unsigned> limit = 0;

/// The threads, and what they look at. It changes under the mutex; who only waits for a number to
/// change looks at it without.
struct Crew {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t jobCame = PTHREAD_COND_INITIALIZER, workEnded = PTHREAD_COND_INITIALIZER;
  Job* jobs = nullptr;
  /// Empty seats of all jobs; of those that are to end, some that no job has.
  std::atomic<unsigned> seats = 0;
  bool isClosed = false;
  unsigned size = 0;
  pthread_t threads[mostThreads - 1] = {};

  void lock() { pthread_mutex_lock(&mutex); }
  void unlock() { pthread_mutex_unlock(&mutex); }
  void await(const std::atomic<unsigned>& number, bool isZero, pthread_cond_t& change);
  void grow(unsigned wanted);
  unsigned add(Job& job, unsigned others);
  void finish(Job& job);
  void serve();
  void close();
};

constinit Crew crew;
constinit bool watchesForks = false;

/// The child of a fork has the thread that forked alone.
void startAgain() {
  new (&crew) Crew;
}

void* serveCrew(void*) {
  crew.serve();
  return nullptr;
}

/// Waits until a number is zero, or until it is none: looks for a while without the mutex, then
/// sleeps until somebody says that there is a change.
void Crew::await(const std::atomic<unsigned>& number, bool isZero, pthread_cond_t& change) {
  auto isSo = [&] { return (number.load(std::memory_order_relaxed) == 0) == isZero; };
  unlock();
  for (int looks = 1; looks <= mostYields * looksBetween && !isSo(); ++looks)
    looks % looksBetween == 0 ? void(sched_yield()) : pause();
  lock();
  while (!isSo())
    pthread_cond_wait(&change, &mutex);
}

/// Makes threads until there are so many, or the system has no more.
void Crew::grow(unsigned wanted) {
  if (size >= wanted)
    return;
  if (!std::exchange(watchesForks, true))
    pthread_atfork(nullptr, nullptr, startAgain);
  SignalsKeptBack signals;
  while (size < wanted && pthread_create(&threads[size], nullptr, serveCrew, nullptr) == 0)
    ++size;
}

/// Takes a job that so many others may help with; gives how many seats it has. One without any is
/// not taken.
unsigned Crew::add(Job& job, unsigned others) {
  lock();
  if (!isClosed) {
    grow(others);
    if (unsigned added = std::min(others, size); added > 0) {
      job.seats = added;
      job.next = std::exchange(jobs, &job);
      seats += added;
    }
  }
  const unsigned added = job.seats;
  unlock();
  return added;
}

/// Takes the job back and waits for those who work.
void Crew::finish(Job& job) {
  lock();
  Job** place = &jobs;
  while (*place != &job)
    place = &(*place)->next;
  *place = job.next;
  seats -= job.seats;
  await(job.working, true, workEnded);
  unlock();
}

void Crew::serve() {
  lock();
  for (;;) {
    await(seats, false, jobCame);
    if (isClosed)
      break;
    Job* job = jobs;
    while (job->seats == 0)
      job = job->next;
    --job->seats;
    --seats;
    ++job->working;
    unlock();
    job->work();
    lock();
    // The owner may be gone with the job from here on.
    if (--job->working == 0)
      pthread_cond_broadcast(&workEnded);
  }
  unlock();
}

/// The code of the threads may be gone afterwards.
void Crew::close() {
  lock();
  isClosed = true;
  ++seats;
  pthread_cond_broadcast(&jobCame);
  unlock();
  for (; size > 0; --size)
    pthread_join(threads[size - 1], nullptr);
}

[[gnu::destructor]] void closeCrew() {
  crew.close();
}

} // namespace

unsigned threadLimit() {
  unsigned most = limit.load(std::memory_order_relaxed);
  if (most > 0)
    return most;
  most = std::clamp(std::thread::hardware_concurrency(), 1u, mostThreads);
  unsigned unknown = 0;
  return limit.compare_exchange_strong(unknown, most) ? most : unknown;
}

void limitThreads(unsigned most) {
  limit = most;
}

void shareWork(unsigned most, FunctionRef<void()> work) {
  Job job{work};
  most = std::min(most, threadLimit());
  const unsigned seats = most > 1 ? crew.add(job, most - 1) : 0;
  for (unsigned i = 0; i < seats; ++i)
    pthread_cond_signal(&crew.jobCame);
  work();
  if (seats > 0)
    crew.finish(job);
}

} // namespace runtime
