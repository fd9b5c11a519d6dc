// Windows Media: which streams an ASF header announces (ASF specification §2, §3.3, §10.4).
#include "sniff/recognisers.h"

namespace sluice::sniffing {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kHeader =
    "\x30\x26\xB2\x75\x8E\x66\xCF\x11\xA6\xD9\x00\xAA\x00\x62\xCE\x6C"sv;
constexpr std::string_view kVideo =
    "\xC0\xEF\x19\xBC\x4D\x5B\xCF\x11\xA8\xFD\x00\x80\x5F\x5C\x44\x2B"sv;
constexpr std::string_view kAudio =
    "\x40\x9E\x69\xF8\x4D\x5B\xCF\x11\xA8\xFD\x00\x80\x5F\x5C\x44\x2B"sv;

}  // namespace

std::optional<Match> asf(Bytes head) {
  if (!stands(head, 0, kHeader)) return std::nullopt;
  const std::string_view text = as_text(head);
  if (text.find(kVideo) != text.npos) return Match{Kind::wmv};
  // Only a header seen to its end shows that there is no video.
  const bool complete = holds(head, 16, 8) && le32(head, 20) == 0 && le32(head, 16) <= head.size();
  if (complete && text.find(kAudio) != text.npos) return Match{Kind::wma};
  return Match{Kind::asf};
}

}  // namespace sluice::sniffing
