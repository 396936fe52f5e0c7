// Text in the making. A body in braces is made before it is known how deep it will stand, so it is
// kept apart and spliced in, and indentation is added once, when all is put together. No character
// is copied more than a few times, however deep a program nests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lang::printing {

/// A body that stands before the character at `position`.
struct Splice {
  size_t position;
  uint32_t body;
};

/// Lines without indentation, and the bodies in between.
struct Text {
  std::string chars = {};
  std::vector<Splice> splices = {};

  void append(const Text& other);
};

/// Keeps the bodies of one definition and puts everything together.
class TextPool {
public:
  /// Ends `to` with the lines of `body`, two blanks deeper, on lines of their own; what is added to
  /// `to` afterwards begins a new line.
  void splice(Text& to, Text body);
  /// Appends the finished text to `out` and forgets all bodies.
  void render(const Text& text, std::string& out);

private:
  std::vector<Text> bodies_;
};

} // namespace lang::printing
