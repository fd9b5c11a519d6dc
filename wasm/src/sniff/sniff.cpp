// The public face: what a file is by its bytes. Signatures of the host's configuration come before
// the built-in ones, unless those tell more.
#include "sluice/sniff.h"

#include <algorithm>

#include "sniff/recognisers.h"
#include "sniff/types.h"

namespace sluice {

// --- signatures of the configuration ---------------------------------------------------------

namespace sniffing {

namespace {

/// The six bits of a base64 character, or -1.
int six_bits(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

//   byte       0        1        2        3
//   bits       aaaaaabb bbbbcccc ccdddddd eeeeee…
//   character  0     1      2      3      4
/// Whether the base64 encoding of `head` begins with `prefix`, compared six bits a character, so
/// only bits that the head has count. A prefix that is empty or has a character outside the
/// standard alphabet (RFC 4648 §4, padding included) matches nothing.
bool begins_encoded(Bytes head, std::string_view prefix) {
  if (prefix.empty() || prefix.size() > head.size() / 3 * 4 + head.size() % 3 * 8 / 6) return false;
  for (size_t i = 0; i < prefix.size(); ++i) {
    const size_t at = i * 6 / 8;
    const uint32_t following = at + 1 < head.size() ? head[at + 1] : 0u;
    const uint32_t pair = uint32_t{head[at]} << 8 | following;
    const uint32_t expected = pair >> (10 - i * 6 % 8) & 63;
    if (six_bits(prefix[i]) != static_cast<int>(expected)) return false;
  }
  return true;
}

/// The first of `signatures` that `head` begins with; null when none does.
const Signature* match_custom(Bytes head, const std::vector<Signature>& signatures) {
  for (const Signature& signature : signatures) {
    if (begins_encoded(head, signature.base64_prefix)) return &signature;
  }
  return nullptr;
}

}  // namespace

}  // namespace sniffing

// --- what a file is --------------------------------------------------------------------------

namespace {

Bytes bounded(Bytes head) {
  return head.first(std::min(head.size(), kSniffHead));
}

/// A host's type with what it leaves out filled in from the tables.
FileType completed(const FileType& type) {
  const FileType known = type_of_mime(type.mime_type);
  FileType whole = type;
  if (whole.mime_type.empty()) whole.mime_type = known.mime_type;
  if (whole.extension.empty()) whole.extension = known.extension;
  if (whole.label.empty()) whole.label = known.label;
  return whole;
}

/// Whether the built-in table tells more of the same bytes than the host's own signature: a docx
/// where the host has only said how ZIP archives begin.
bool tells_more(const FileType& builtin, const FileType& custom) {
  return sniffing::is_kind_of(sniffing::clean_mime(builtin.mime_type),
                              sniffing::clean_mime(custom.mime_type));
}

std::optional<FileType> answer(Bytes head, const std::optional<sniffing::Match>& match,
                               const std::vector<Signature>& extra) {
  const Signature* custom = sniffing::match_custom(head, extra);
  std::optional<FileType> builtin;
  if (match) builtin = sniffing::to_file_type(sniffing::row_of(match->kind));
  if (!custom) return builtin;
  const FileType type = completed(custom->type);
  return builtin && tells_more(*builtin, type) ? *builtin : type;
}

}  // namespace

std::optional<FileType> sniff(Bytes head, const std::vector<Signature>& extra) {
  head = bounded(head);
  return answer(head, sniffing::match_signatures(head), extra);
}

std::optional<FileType> sniff(Bytes head, Bytes tail, uint64_t size,
                              const std::vector<Signature>& extra) {
  const Bytes seen = bounded(head);
  auto match = sniffing::match_signatures(seen);
  if (match && size > seen.size()) {
    if (const auto kind = sniffing::refine_by_both_ends({head, tail, size})) match->kind = *kind;
  }
  auto type = answer(seen, match, extra);
  if (type) return type;
  if (sniffing::is_bson({head, tail, size})) return type_of_mime("application/bson");
  // A disc image begins with 32 KB for programs that start from it (ECMA-119 §6.2.1); a solid's
  // triangles, of 50 bytes each, follow a header of 84 and end the file.
  if (stands(head, 32'769, "CD001")) return type_of_mime("application/x-iso9660-image");
  const bool solid = holds(head, 0, 84) && size == 84 + 50 * uint64_t{le32(head, 80)};
  return solid && le32(head, 80) > 0 ? std::optional(type_of_mime("model/stl")) : std::nullopt;
}

bool has_magic(Bytes head, const std::vector<Signature>& extra) {
  head = bounded(head);
  const auto match = sniffing::match_signatures(head);
  return (match && match->certain) || sniffing::match_custom(head, extra) != nullptr;
}

bool has_binary_magic(Bytes head) {
  const auto match = sniffing::match_signatures(bounded(head));
  if (!match || !match->certain) return false;
  return !sniffing::is_kind_of(sniffing::row_of(match->kind).mime_type, "text/plain");
}

std::vector<FileType> known_types() {
  std::vector<FileType> types;
  for (uint8_t kind = 0; kind < static_cast<uint8_t>(sniffing::Kind::count); ++kind) {
    types.push_back(sniffing::to_file_type(sniffing::row_of(sniffing::Kind{kind})));
  }
  return types;
}

}  // namespace sluice
