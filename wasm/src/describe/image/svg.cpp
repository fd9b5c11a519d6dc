#include <algorithm>
#include <string_view>

#include "describe/image/dimensions.h"

namespace sluice::image {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

std::string_view behind(std::string_view text, std::string_view end) {
  const size_t at = text.find(end);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + end.size());
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kSpace);
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

/// Behind a document type declaration, with or without an internal subset.
std::string_view behind_doctype(std::string_view text) {
  const size_t stop = text.find_first_of("[>");
  if (stop == std::string_view::npos) return {};
  if (text[stop] == '>') return text.substr(stop + 1);
  return behind(behind(text.substr(stop), "]"), ">");
}

/// The root's attributes: what stands behind `<svg`, after declarations and comments.
std::string_view root_attributes(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  for (text = trimmed(text); text.starts_with('<'); text = trimmed(text)) {
    if (text.starts_with("<!--")) {
      text = behind(text, "-->");
    } else if (text.starts_with("<?")) {
      text = behind(text, "?>");
    } else if (text.starts_with("<!")) {
      text = behind_doctype(text);
    } else if (text.starts_with("<svg")) {
      return text.substr(4);
    } else {
      break;
    }
  }
  return {};
}

/// Reads a plain decimal, rounded to a whole number, and moves behind it; 0 when there is none or
/// it has more than nine digits before the point.
uint64_t take_number(std::string_view& text) {
  const auto digit = [&](size_t at) {
    return at < text.size() && text[at] >= '0' && text[at] <= '9';
  };
  uint64_t value = 0;
  size_t at = 0;
  for (; digit(at); ++at) {
    if (at == 9) return 0;
    value = value * 10 + static_cast<uint64_t>(text[at] - '0');
  }
  if (at < text.size() && text[at] == '.') {
    if (digit(at + 1) && text[at + 1] >= '5') ++value;
    for (++at; digit(at);) ++at;
  }
  text.remove_prefix(at);
  return value;
}

/// A length in pixels; 0 for any other unit.
uint64_t length_of(std::string_view text) {
  text = trimmed(text);
  const uint64_t value = take_number(text);
  if (text.starts_with("px")) text.remove_prefix(2);
  return trimmed(text).empty() ? value : 0;
}

/// `min-x min-y width height`; the two minima may be anything.
Dimensions view_box(std::string_view text) {
  constexpr std::string_view kBetween = ", \t\r\n";
  for (int i = 0; i < 2; ++i) {
    text = trimmed(text);
    const size_t end = text.find_first_of(kBetween);
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end);
    text.remove_prefix(std::min(text.find_first_not_of(kBetween), text.size()));
  }
  Dimensions found;
  found.width = take_number(text);
  const size_t next = text.find_first_not_of(kBetween);
  if (next == 0 || next == std::string_view::npos) return {};
  text.remove_prefix(next);
  found.height = take_number(text);
  return trimmed(text).empty() ? found : Dimensions{};
}

/// What a start tag's attributes say of its size.
struct Size {
  Dimensions given;
  Dimensions view;
};

/// Walks `name = "value"` pairs up to the end of the tag.
Size size_of(std::string_view text) {
  Size size;
  for (text = trimmed(text); !text.empty() && text[0] != '>' && text[0] != '/';
       text = trimmed(text)) {
    const size_t end = text.find_first_of("= \t\r\n>");
    if (end == std::string_view::npos) break;
    const std::string_view name = text.substr(0, end);
    text = trimmed(text.substr(end));
    if (!text.starts_with('=')) break;
    text = trimmed(text.substr(1));
    if (!text.starts_with('"') && !text.starts_with('\'')) break;
    const size_t close = text.find(text[0], 1);
    if (close == std::string_view::npos) break;
    const std::string_view value = text.substr(1, close - 1);
    text.remove_prefix(close + 1);
    if (name == "width") size.given.width = length_of(value);
    if (name == "height") size.given.height = length_of(value);
    if (name == "viewBox") size.view = view_box(value);
  }
  return size;
}

}  // namespace

// SVG 2 §5.1, §8.6: width and height of the root in numbers or px, else the size of its viewBox.
std::optional<Dimensions> svg_dimensions(Bytes head) {
  const Size size = size_of(root_attributes(as_text(head)));
  return size.given.width > 0 && size.given.height > 0 ? size.given : size.view;
}

}  // namespace sluice::image
