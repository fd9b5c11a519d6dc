// The guardrail under libFuzzer: whatever the document and the options, the bound holds, the result
// is JSON, and clamping it again changes nothing. Half of the inputs are taken as JSON text, half
// as instructions that build a document, so that deep and wide ones are met as well.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sluice/guardrail.h"
#include "sluice/tape.h"

namespace {

using sluice::Clamped;
using sluice::GuardrailOptions;

/// Reads numbers off the input; zeros when it is used up.
class Feed {
 public:
  explicit Feed(std::string_view bytes) : bytes_(bytes) {}

  uint32_t byte() {
    if (bytes_.empty()) return 0;
    const auto value = static_cast<uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return value;
  }
  uint32_t pair() {
    const uint32_t high = byte();
    return high << 8 | byte();
  }
  std::string_view take(size_t size) {
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view rest() const { return bytes_; }
  bool empty() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

std::string quoted(Feed& feed) {
  static constexpr std::string_view kPieces[] = {
      "x",         "\\n",  "\\ud83d\\ude00", "\\ud83d",    "😀",    "artifact://a_1?size=2 ",
      "artifact:", "\\\"", "\\u2026",        "\\/\\/long", "\\\\", " \xe2\x80\xa6"};
  std::string json = "\"";
  const std::string_view piece = kPieces[feed.byte() % std::size(kPieces)];
  for (uint32_t count = feed.byte() * (feed.byte() % 8); count > 0; --count) json += piece;
  json += kPieces[feed.byte() % std::size(kPieces)];
  return json + '"';
}

std::string built(Feed& feed, int depth) {
  if (feed.empty() || depth == 0) return "1";
  const uint32_t kind = feed.byte();
  const uint32_t count = kind & 0x40 ? feed.byte() : kind >> 4 & 3;
  switch (kind & 7) {
    case 0:
      return std::string(1 + feed.pair() % 2'000, '7');
    case 1:
      return R"({"artifact":{"id":)" + quoted(feed) + R"(},"summary":)" + quoted(feed) + '}';
    case 2:
    case 3: {
      const std::string element = built(feed, depth - 1);
      std::string json = "[";
      for (uint32_t i = 0; i < count && json.size() < 100'000; ++i) json += element + ',';
      return json + built(feed, depth - 1) + ']';
    }
    case 4:
    case 5: {
      std::string json = "{";
      for (uint32_t i = 0; i < count && json.size() < 100'000; ++i) {
        json += quoted(feed) + ':';
        json += built(feed, depth - 1) + ',';
      }
      return json + quoted(feed) + ':' + built(feed, depth - 1) + '}';
    }
    default:
      return quoted(feed);
  }
}

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Feed feed({reinterpret_cast<const char*>(data), size});
  const uint32_t flags = feed.byte();
  GuardrailOptions options;
  options.max_observation_chars = 256 + (flags & 1 ? feed.pair() : feed.byte());
  options.max_field_chars = feed.pair() % 1'000;
  options.preserve_structure = (flags & 2) == 0;
  if (flags & 4) options.truncation_suffix = feed.take(feed.byte());
  const std::string json = flags & 8 ? std::string(feed.rest()) : built(feed, 100);

  const Clamped clamped = sluice::clamp(json, options);
  if (!clamped.status.ok()) {
    require((flags & 8) != 0);
    require(clamped.status.line > 0 && !clamped.status.message.empty());
    return 0;
  }
  require(sluice::count_chars(clamped.text) <= options.max_observation_chars);
  sluice::Tape tape;
  require(sluice::Tape::parse(clamped.text, tape, 512, false).ok());
  const Clamped again = sluice::clamp(clamped.text, options);
  require(!again.changed && again.text == clamped.text);
  // The last resort is for the unforeseen: meeting it is a defect.
  require(clamped.text.find("\"… observation of ") == std::string::npos);
  return 0;
}
