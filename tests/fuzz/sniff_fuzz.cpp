// Fuzzes the signatures: whatever the bytes, an answer comes from the tables and follows the rules.
//
// The first byte of the input says how much of the rest is a declared MIME type and how much a
// host's base64 prefix; what is left is the head.
#include <algorithm>
#include <cstdlib>

#include "sluice/sniff.h"

namespace {

using sluice::FileType;

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_known(const FileType& type) {
  static const std::vector<FileType> kKnown = sluice::known_types();
  return std::find(kKnown.begin(), kKnown.end(), type) != kKnown.end();
}

void check(sluice::Bytes head, std::string_view declared, std::string_view prefix) {
  const auto plain = sluice::sniff(head);
  require(!plain || is_known(*plain));
  require(plain || !sluice::has_magic(head));

  const FileType mine{"application/x-mine", "mine", "my file"};
  const std::vector<sluice::Signature> extra = {{std::string(prefix), mine}};
  const auto with_extra = sluice::sniff(head, extra);
  require(with_extra == plain || with_extra == mine);
  require(with_extra || !sluice::has_magic(head, extra));
  require(!plain || with_extra);

  const FileType decided = sluice::decide_type(declared, plain);
  require(!decided.mime_type.empty() && !decided.extension.empty() && !decided.label.empty());
  require(decided.mime_type.size() <= 127);
  // The decision is stable: declaring what was decided changes nothing.
  require(sluice::decide_type(decided.mime_type, plain).mime_type == decided.mime_type);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const sluice::Bytes input(data, size);
  if (input.empty()) return 0;
  const sluice::Bytes rest = input.subspan(1);
  const size_t declared = std::min<size_t>(input[0] >> 4, rest.size());
  const size_t prefix = std::min<size_t>(input[0] & 15, rest.size() - declared);
  check(rest.subspan(declared + prefix), sluice::as_text(rest.first(declared)),
        sluice::as_text(rest.subspan(declared, prefix)));
  return 0;
}
