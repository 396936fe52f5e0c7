// A list is broken when one in it is, since it is longer.
#include "vm/assembly/lines.h"

#include <fmt/format.h>

namespace assembly {

namespace {

constexpr size_t width = 88;
constexpr uint32_t noNumber = UINT32_MAX;

} // namespace

void Lines::add(std::string_view text) {
  if (text.starts_with('\n') && text_.ends_with(' '))
    text_.pop_back();
  text_ += text;
  if (auto end = text.rfind('\n'); end != std::string_view::npos)
    lineStart_ = text_.size() - (text.size() - end - 1);
}

void Lines::endLine() {
  if (!text_.ends_with('\n'))
    add("\n");
}

void Lines::open(char bracket, bool isTable) {
  text_ += bracket;
  open_.push_back(uint32_t(lists_.size()));
  lists_.push_back({text_.size(), uint32_t(open_.size()), 0, isTable});
}

void Lines::item(bool isNumbered) {
  List& list = lists_[open_.back()];
  if (list.items > 0)
    text_ += ", ";
  breaks_.push_back({text_.size(), open_.back(), list.depth, isNumbered ? list.items : noNumber});
  ++list.items;
}

void Lines::close(char bracket) {
  List& list = lists_[open_.back()];
  list.isBroken |= text_.size() - list.begin > width || lineStart_ > list.begin;
  list.isBroken &= list.items > 0;
  if (list.items > 0)
    breaks_.push_back({text_.size(), open_.back(), list.depth - 1, noNumber});
  open_.pop_back();
  text_ += bracket;
}

std::string Lines::text() const {
  std::string broken;
  broken.reserve(text_.size() + 4 * breaks_.size());
  size_t done = 0;
  for (const Break& each : breaks_) {
    if (!lists_[each.list].isBroken)
      continue;
    broken.append(text_, done, each.at - done);
    done = each.at;
    broken.resize(broken.find_last_not_of(' ') + 1);
    if (broken.back() != '\n')
      broken += '\n';
    broken.append(2 * size_t(each.depth), ' ');
    if (each.number != noNumber)
      broken += fmt::format("#{} ", each.number);
  }
  return broken.append(text_, done);
}

} // namespace assembly
