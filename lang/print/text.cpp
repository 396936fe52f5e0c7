// Splicing and rendering of texts.
#include "lang/print/text.h"

namespace lang::printing {

void Text::append(const Text& other) {
  for (Splice splice : other.splices)
    splices.push_back({chars.size() + splice.position, splice.body});
  chars += other.chars;
}

void TextPool::splice(Text& to, Text body) {
  to.splices.push_back({to.chars.size(), uint32_t(bodies_.size())});
  to.chars += '\n';
  bodies_.push_back(std::move(body));
}

namespace {

/// Appends characters, each line break followed by the indentation.
void appendIndented(std::string& out, std::string_view chars, size_t indentation) {
  for (size_t begin = 0; begin <= chars.size();) {
    size_t end = chars.find('\n', begin);
    if (end == std::string_view::npos) {
      out += chars.substr(begin);
      return;
    }
    out += chars.substr(begin, end + 1 - begin);
    out.append(indentation, ' ');
    begin = end + 1;
  }
}

} // namespace

void TextPool::render(const Text& root, std::string& out) {
  struct Frame {
    const Text* text;
    size_t position = 0;
    size_t splice = 0;
  };
  std::vector<Frame> stack{{&root}};
  while (!stack.empty()) {
    Frame& frame = stack.back();
    size_t indentation = 2 * (stack.size() - 1);
    bool isLast = frame.splice == frame.text->splices.size();
    size_t end = isLast ? frame.text->chars.size() : frame.text->splices[frame.splice].position;
    std::string_view chars = frame.text->chars;
    appendIndented(out, chars.substr(frame.position, end - frame.position), indentation);
    frame.position = end;
    if (isLast) {
      stack.pop_back();
      continue;
    }
    const Text& body = bodies_[frame.text->splices[frame.splice++].body];
    out += '\n';
    out.append(indentation + 2, ' ');
    stack.push_back({&body});
  }
  bodies_.clear();
}

} // namespace lang::printing
