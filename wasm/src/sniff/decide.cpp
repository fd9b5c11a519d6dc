// The type to report when a source declares one and the bytes say something too.
#include "sluice/sniff.h"
#include "sniff/kinship.h"
#include "sniff/types.h"

namespace sluice {
namespace {

constexpr std::string_view kUnspecific = "application/octet-stream";

/// A type that the tables do not know may well be built on a common container (`application/vnd.x`
/// on ZIP) or be a kind of text; text is built on text only.
bool may_be_built_on(std::string_view declared, std::string_view container) {
  if (sniffing::find_type(declared)) return false;
  if (container == "text/plain") return true;
  if (!sniffing::is_common_container(container)) return false;
  const bool text = container == "text/html" || container == "application/xml";
  return text || !declared.starts_with("text/");
}

/// Whether what the source says stands beside what the bytes say.
bool declared_stands(std::string_view declared, std::string_view bytes) {
  return sniffing::is_kind_of(declared, bytes) || sniffing::share_container(declared, bytes) ||
         may_be_built_on(declared, bytes);
}

/// Whether files of a type begin with a signature, all of them: bytes without one are something
/// else.
bool is_always_signed(const std::string& mime) {
  constexpr std::string_view kSigned =
      " application/pdf application/zip application/gzip image/png image/jpeg image/gif "
      "image/webp ";
  return kSigned.find(" " + mime + " ") != kSigned.npos ||
         sniffing::is_kind_of(mime, "application/zip");
}

}  // namespace

FileType decide_type(std::string_view declared, const std::optional<FileType>& sniffed,
                     bool trusted) {
  const std::string mime = trusted ? sniffing::clean_mime(declared) : plain_type(declared);
  const bool specific = !mime.empty() && mime != kUnspecific;
  if (!sniffed) {
    return type_of_mime(specific && !is_always_signed(mime) ? std::string_view(mime) : kUnspecific);
  }
  if (!specific) return *sniffed;

  const std::string bytes = sniffing::clean_mime(sniffed->mime_type);
  if (bytes.empty() || mime == bytes || sniffing::is_kind_of(bytes, mime)) return *sniffed;
  return declared_stands(mime, bytes) ? type_of_mime(mime) : *sniffed;
}

}  // namespace sluice
