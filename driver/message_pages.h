// The pages of docs/messages, which ship inside the program.
#pragma once

#include <span>
#include <string_view>

namespace driver {

/// A page in Markdown, and its file name, docs/messages/CODE.md.
struct MessagePage {
  std::string_view file;
  std::string_view text;
};

/// All pages, in the order of their codes.
std::span<const MessagePage> messagePages();

} // namespace driver
