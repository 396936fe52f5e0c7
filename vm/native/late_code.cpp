// The maker knows nothing of the program, to which a run may add layouts.
#include "vm/native/late_code.h"

#include "runtime/signals.h"
#include "vm/native/module.h"

#include <new>
#include <system_error>

namespace vm::native {

namespace {

/// Larger programs take so long to compile that whoever waits at the end of a run would wonder.
constexpr size_t mostLateWords = 20'000;

} // namespace

LateCode::LateCode(std::shared_ptr<const ControlCompiler> compiler, const Program& program,
                   Patience patience)
    : compiler_(std::move(compiler)), program_(program), patience_(patience),
      state_(program.code.size() > mostLateWords ? State::Ended : State::Early) {}

LateCode::~LateCode() {
  if (maker_.joinable())
    maker_.join();
}

bool LateCode::run(Machine& machine, uint32_t function) {
  if (run_)
    run_->run(machine, function);
  return run_ != nullptr;
}

const Word* LateCode::call(Machine& machine, const Word* at, uint64_t calls) {
  calls_ += calls;
  if (!run_)
    advance();
  return run_ ? run_->call(machine, at) : nullptr;
}

bool LateCode::isDue(const Worth& worth) const {
  return calls_ >= worth.calls && std::chrono::steady_clock::now() - begin_ >= worth.time;
}

/// Goes on to the next state where there is something to be done.
void LateCode::advance() {
  if (state_ == State::Early && isDue(patience_.look))
    look();
  if (state_ == State::Missing && isDue(patience_.make))
    begin();
  if (state_ == State::InWork && (isMade_ || patience_.waits)) {
    maker_.join();
    take(std::move(made_));
  }
}

void LateCode::look() {
  state_ = State::Ended;
  try {
    wanted_ = compiler_->wantedFor(program_);
  } catch (const NotCompiled&) {
    return;
  }
  if (auto found = compiler_->find(wanted_))
    take(std::move(found));
  else
    state_ = State::Missing;
}

void LateCode::begin() {
  state_ = State::Ended;
  runtime::SignalsKeptBack signals;
  try {
    maker_ = std::thread([this] { make(); });
    state_ = State::InWork;
  } catch (const std::system_error&) {
  }
}

void LateCode::make() {
  try {
    if (auto made = compiler_->make(wanted_))
      made_ = *std::move(made);
  } catch (const std::bad_alloc&) {
  }
  isMade_ = true;
}

void LateCode::take(std::optional<codegen::Image> image) {
  state_ = State::Ended;
  auto loaded = image ? codegen::LoadedImage::load(*image) : nullptr;
  if (!loaded)
    return;
  try {
    run_ = std::make_unique<NativeRun>(program_, std::move(loaded));
  } catch (const std::bad_alloc&) {
  }
}

} // namespace vm::native
