#include "layers/media.h"

#include <algorithm>
#include <string_view>

#include "layers/json_string.h"

namespace sluice::layers {

namespace {

bool matches(std::string_view pattern, std::string_view mime_type) {
  if (pattern.ends_with("/*")) return mime_type.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == mime_type;
}

}  // namespace

bool Media::allows(const std::string& mime_type) const {
  const auto match = [&](std::string_view pattern) { return matches(pattern, mime_type); };
  switch (media_.mode) {
    case InlineMedia::Mode::listed:
      if (media_.types.empty()) break;
      return std::any_of(media_.types.begin(), media_.types.end(), match);
    case InlineMedia::Mode::automatic:
      if (!call_.client_shows_images) return false;
      break;
    case InlineMedia::Mode::off:
      return false;
  }
  return std::any_of(kUsualImages.begin(), kUsualImages.end(), match);
}

bool Media::keeps(const Segment& segment) {
  if (segment.kind != SegmentKind::run || segment.kept.size() != segment.bytes) return false;
  if (segment.kept.empty() || segment.bytes > media_.max_bytes) return false;
  if (count_ >= media_.max_count || !allows(segment.mime_type)) return false;
  ++count_;
  return true;
}

std::string Media::data(const Segment& segment) {
  std::string text;
  FormWriter writer(segment.form);
  writer.write(segment.kept, text);
  writer.finish(text);
  return json_string(text);
}

}  // namespace sluice::layers
