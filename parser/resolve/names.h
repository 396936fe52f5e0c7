// Names in scope while a definition is resolved.
//
// Relay's scopes are frames: functions, branches, arms and braces open one, and so does every `let`
// but the first of its chain. Within one frame a name may be bound once: TVM silently keeps the
// first binding, which surprises everyone, so the second one is an error here.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace parser {

/// Names with their meanings, innermost first, and a log of bindings to leave frames.
template <typename T>
class ScopedNames {
public:
  /// The innermost meaning, or a default-made T.
  T find(std::string_view name) const {
    auto found = latest_.find(name);
    return found == latest_.end() || !isVisible(found->second) ? T{} : log_[found->second].value;
  }

  /// The meaning that the innermost frame gives, or a default-made T.
  T findInFrame(std::string_view name) const {
    auto found = latest_.find(name);
    bool bound = found != latest_.end() && found->second != none && !frames_.empty() &&
                 found->second >= frames_.back();
    return bound ? log_[found->second].value : T{};
  }

  void bind(std::string_view name, T value) {
    auto [latest, isNew] = latest_.try_emplace(name, none);
    log_.push_back({value, &*latest, latest->second});
    latest->second = log_.size() - 1;
  }

  void openFrame() { frames_.push_back(log_.size()); }

  void closeFrame() {
    forgetTo(frames_.back());
    frames_.pop_back();
  }

  /// Hides all names that are bound now, until `show` gets the answer.
  size_t hideAll() { return std::exchange(firstVisible_, log_.size()); }
  void show(size_t hidden) { firstVisible_ = hidden; }

  size_t mark() const { return log_.size(); }
  size_t frameCount() const { return frames_.size(); }

  /// Forgets what was bound since `mark` and leaves the frames opened since.
  void restore(size_t mark, size_t frameCount) {
    frames_.resize(frameCount);
    forgetTo(mark);
  }

  /// The meanings in force, innermost first, at most `most` of them.
  std::vector<T> values(size_t most) const {
    std::vector<T> result;
    for (size_t i = log_.size(); i-- > firstVisible_ && result.size() < most;)
      if (log_[i].name->second == i)
        result.push_back(log_[i].value);
    return result;
  }

  /// Every name that has a meaning now, for suggestions.
  std::vector<std::string_view> names() const {
    std::vector<std::string_view> result;
    for (const auto& [name, latest] : latest_)
      if (isVisible(latest))
        result.push_back(name);
    return result;
  }

private:
  static constexpr size_t none = SIZE_MAX;
  using Latest = std::pmr::unordered_map<std::string_view, size_t>;

  /// One binding: its name's entry in the table, and the binding of the name before.
  struct Binding {
    T value;
    typename Latest::value_type* name;
    size_t before;
  };

  bool isVisible(size_t place) const { return place != none && place >= firstVisible_; }

  void forgetTo(size_t mark) {
    for (; log_.size() > mark; log_.pop_back())
      log_.back().name->second = log_.back().before;
  }

  /// Entries live until the end, so they need no allocation each.
  std::pmr::monotonic_buffer_resource memory_;
  /// The innermost binding of each name, by its place in the log.
  Latest latest_{&memory_};
  std::vector<Binding> log_;
  std::vector<size_t> frames_;
  size_t firstVisible_ = 0;
};

} // namespace parser
