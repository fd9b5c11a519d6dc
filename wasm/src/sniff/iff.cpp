// Chunk files: a four-letter group, a size, and a form type that names the content.
#include "sniff/recognisers.h"

namespace sluice::sniffing {

//   0    4      8
//   RIFF <size> WEBP …
std::optional<Match> riff(Bytes head) {
  if (stands(head, 8, "WAVE")) return Match{Kind::wav};
  if (stands(head, 8, "WEBP")) return Match{Kind::webp};
  if (stands(head, 8, "AVI ")) return Match{Kind::avi};
  return std::nullopt;
}

//   0    4      8              AT&T 4    8      12
//   FORM <size> AIFF …         AT&T FORM <size> DJVU …
std::optional<Match> iff(Bytes head) {
  if (stands(head, 0, "AT&TFORM")) {
    const bool djvu = stands(head, 12, "DJVU") || stands(head, 12, "DJVM") ||
                      stands(head, 12, "DJVI") || stands(head, 12, "THUM");
    return djvu ? std::optional(Match{Kind::djvu}) : std::nullopt;
  }
  if (stands(head, 8, "AIFF") || stands(head, 8, "AIFC")) return Match{Kind::aiff};
  return std::nullopt;
}

}  // namespace sluice::sniffing
