#include "layers/filename.h"

#include "describe/code_point.h"
#include "sluice/codec.h"

namespace sluice::layers {

namespace {

bool shows(char32_t value) {
  if (is_control(value) || value == kReplacement) return false;
  const bool direction = (value >= 0x200b && value <= 0x200f) ||
                         (value >= 0x2028 && value <= 0x202e) ||
                         (value >= 0x2060 && value <= 0x206f) || value == 0xfeff;
  const bool tag = value >= 0xe0000 && value <= 0xe0fff;
  return !direction && !tag;
}

std::string undo_percent(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    uint8_t byte[decoded_capacity(2)];
    if (text[at] == '%' && text.size() - at >= 3 &&
        decode(as_bytes(text.substr(at + 1, 2)), Alphabet::hex, byte).written == 1) {
      out += static_cast<char>(byte[0]);
      at += 2;
    } else {
      out += text[at];
    }
  }
  return out;
}

}  // namespace

std::string clean_filename(std::string_view name) {
  const size_t slash = name.find_last_of("/\\");
  if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
  std::string clean;
  size_t count = 0;
  for (size_t at = 0; at < name.size() && count < kMaxFilename;) {
    const CodePoint point = read_code_point(name, at);
    const std::string_view source = name.substr(at, point.length);
    at += point.length;
    const bool leading = clean.empty() && (point.value == ' ' || point.value == '.');
    if (leading || !shows(point.value)) continue;
    clean += source;
    ++count;
  }
  while (clean.ends_with(' ') || clean.ends_with('.')) clean.pop_back();
  return clean;
}

std::string filename_of_uri(std::string_view uri) {
  if (uri.starts_with("data:")) return {};
  uri = uri.substr(0, uri.find_first_of("?#"));
  const size_t authority = uri.find("://");
  if (authority != std::string_view::npos) {
    const size_t path = uri.find('/', authority + 3);
    if (path == std::string_view::npos) return {};
    uri.remove_prefix(path);
  } else if (const size_t colon = uri.find(':'); colon != std::string_view::npos) {
    uri.remove_prefix(colon + 1);
  }
  return clean_filename(undo_percent(uri));
}

}  // namespace sluice::layers
