// The type to report when a source declares one and the bytes say something too.
#include "sluice/sniff.h"
#include "sniff/kinship.h"
#include "sniff/types.h"

namespace sluice {
namespace {

constexpr std::string_view kUnspecific = "application/octet-stream";

/// A type that the tables do not know may well be built on a common container (`application/vnd.x`
/// on ZIP); text is built on text only.
bool may_be_built_on(std::string_view declared, std::string_view container) {
  if (sniffing::find_type(declared) || !sniffing::is_common_container(container)) return false;
  const bool text = container == "text/html" || container == "application/xml";
  return text || !declared.starts_with("text/");
}

/// Whether what the source says stands beside what the bytes say.
bool declared_stands(std::string_view declared, std::string_view bytes) {
  return sniffing::is_kind_of(declared, bytes) || sniffing::share_container(declared, bytes) ||
         may_be_built_on(declared, bytes);
}

}  // namespace

FileType decide_type(std::string_view declared, const std::optional<FileType>& sniffed) {
  const std::string mime = sniffing::clean_mime(declared);
  const bool specific = !mime.empty() && mime != kUnspecific;
  if (!sniffed) return type_of_mime(specific ? std::string_view(mime) : kUnspecific);
  if (!specific) return *sniffed;

  const std::string bytes = sniffing::clean_mime(sniffed->mime_type);
  if (bytes.empty() || mime == bytes || sniffing::is_kind_of(bytes, mime)) return *sniffed;
  return declared_stands(mime, bytes) ? type_of_mime(mime) : *sniffed;
}

}  // namespace sluice
