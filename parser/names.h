// Names in scope while a definition is resolved.
//
// Relay's scopes are frames: functions, branches, arms and braces open one, and so does every `let`
// but the first of its chain. Within one frame a name may be bound once: TVM silently keeps the
// first binding, which surprises everyone, so the second one is an error here.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

namespace parser {

/// Names with their meanings, innermost first, and an undo log to leave frames.
template <typename T>
class ScopedNames {
public:
  /// The innermost meaning, or a default-made T.
  T find(std::string_view name) const {
    auto found = meanings_.find(name);
    return found == meanings_.end() || found->second.empty() ? T{} : found->second.back().value;
  }

  /// The meaning that the innermost frame gives, or a default-made T.
  T findInFrame(std::string_view name) const {
    auto found = meanings_.find(name);
    bool bound = found != meanings_.end() && !found->second.empty() && !frames_.empty() &&
                 found->second.back().position >= frames_.back();
    return bound ? found->second.back().value : T{};
  }

  void bind(std::string_view name, T value) {
    meanings_[name].push_back({value, log_.size()});
    log_.push_back(name);
  }

  void openFrame() { frames_.push_back(log_.size()); }

  void closeFrame() {
    forgetTo(frames_.back());
    frames_.pop_back();
  }

  size_t mark() const { return log_.size(); }
  size_t frameCount() const { return frames_.size(); }

  /// Forgets what was bound since `mark` and leaves the frames opened since.
  void restore(size_t mark, size_t frameCount) {
    frames_.resize(frameCount);
    forgetTo(mark);
  }

  /// Every name that has a meaning now, for suggestions.
  std::vector<std::string_view> names() const {
    std::vector<std::string_view> result;
    for (const auto& [name, meanings] : meanings_)
      if (!meanings.empty())
        result.push_back(name);
    return result;
  }

private:
  struct Meaning {
    T value;
    size_t position;
  };

  void forgetTo(size_t mark) {
    while (log_.size() > mark) {
      meanings_[log_.back()].pop_back();
      log_.pop_back();
    }
  }

  std::unordered_map<std::string_view, std::vector<Meaning>> meanings_;
  std::vector<std::string_view> log_;
  std::vector<size_t> frames_;
};

} // namespace parser
