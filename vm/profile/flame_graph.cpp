// Parents stand before their children, so times are added up by going backwards and boxes are
// placed by going forwards.
#include "vm/profile/report.h"

#include <algorithm>
#include <fmt/format.h>

namespace profile {

namespace {

constexpr double width = 1200, row = 17, margin = 10, heading = 40;
/// Narrower boxes cannot be seen.
constexpr double narrowest = 0.2;
constexpr double characterWidth = 6.6;

std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text)
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      result += uint8_t(c) < 0x20 ? ' ' : c;
    }
  return result;
}

/// The front of a text that fits into a box; UTF-8 is cut between characters.
std::string fitted(const std::string& text, double space) {
  auto room = size_t(space / characterWidth);
  if (text.size() <= room)
    return text;
  if (room < 4)
    return "";
  size_t end = room - 2;
  while (end > 0 && (uint8_t(text[end]) & 0xC0) == 0x80)
    --end;
  return text.substr(0, end) + "..";
}

/// Warm colours for functions, cold ones for operators; one name has one colour.
std::string colourOf(const Subject& subject) {
  uint32_t hash = 2166136261;
  for (char c : subject.name)
    hash = (hash ^ uint8_t(c)) * 16777619;
  uint32_t hue = (subject.isFunction ? 15 : 190) + hash % 40;
  return fmt::format("hsl({},{}%,{}%)", hue, 60 + hash / 64 % 20, 62 + hash / 4096 % 12);
}

struct Box {
  double left, width;
};

class Writer {
public:
  explicit Writer(const Recorder& recorder) : recorder_(recorder), nodes_(recorder.nodes()) {
    times_.resize(nodes_.size());
    for (size_t i = nodes_.size(); i-- > 0;) {
      times_[i] += nodes_[i].own;
      if (i > 0)
        times_[nodes_[i].parent] += times_[i];
    }
    place();
  }

  std::string text(const std::string& title) {
    height_ = heading + (deepest_ + 1) * row + margin;
    out_ = fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                       "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                       "viewBox=\"0 0 {0} {1}\" font-family=\"monospace\" font-size=\"11\">\n"
                       "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
                       "<text x=\"{2}\" y=\"20\" font-size=\"14\">{3}</text>\n",
                       width, height_, margin, escaped(title));
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (boxes_[i].width >= narrowest)
        write(i);
    return out_ + "</svg>\n";
  }

private:
  void place() {
    boxes_.resize(nodes_.size());
    /// Where the next child of a node begins.
    std::vector<double> next(nodes_.size(), margin);
    double scale = (width - 2 * margin) / double(std::max<uint64_t>(times_[0], 1));
    for (size_t i = 0; i < nodes_.size(); ++i) {
      double& left = next[nodes_[i].parent];
      boxes_[i] = {left, double(times_[i]) * scale};
      next[i] = left;
      if (i > 0)
        left += boxes_[i].width;
      if (boxes_[i].width >= narrowest)
        deepest_ = std::max(deepest_, nodes_[i].depth);
    }
  }

  void write(size_t i) {
    static const Subject whole{"all", "", true};
    const Node& node = nodes_[i];
    const Subject& subject = i == 0 ? whole : recorder_.subjects()[node.subject];
    double y = height_ - margin - double(node.depth + 1) * row;
    std::string what = subject.name + (subject.place.empty() ? "" : " at " + subject.place);
    double share = 100 * double(times_[i]) / double(std::max<uint64_t>(times_[0], 1));
    std::string numbers = fmt::format("{:.3f} ms, {:.2f} %, own {:.3f} ms", double(times_[i]) / 1e6,
                                      share, double(node.own) / 1e6);
    if (i > 0)
      numbers += fmt::format(", {} call{}", node.calls, node.calls == 1 ? "" : "s");
    out_ += fmt::format("<g><title>{}: {}</title><rect x=\"{:.2f}\" y=\"{:.0f}\" width=\"{:.2f}\" "
                        "height=\"{:.0f}\" rx=\"1\" fill=\"{}\"/>",
                        escaped(what), numbers, boxes_[i].left, y, boxes_[i].width, row - 1,
                        i == 0 ? "#ddd" : colourOf(subject));
    std::string label = fitted(subject.name, boxes_[i].width - 6);
    if (!label.empty())
      out_ += fmt::format("<text x=\"{:.2f}\" y=\"{:.0f}\">{}</text>", boxes_[i].left + 3, y + 12,
                          escaped(label));
    out_ += "</g>\n";
  }

  const Recorder& recorder_;
  const std::vector<Node>& nodes_;
  /// Of each node, what it calls included.
  std::vector<uint64_t> times_;
  std::vector<Box> boxes_;
  uint32_t deepest_ = 0;
  double height_ = 0;
  std::string out_;
};

} // namespace

std::string flameGraph(const Recorder& recorder, const std::string& title) {
  return Writer(recorder).text(title);
}

} // namespace profile
