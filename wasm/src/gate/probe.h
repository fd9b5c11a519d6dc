// Whether something that looks like encoded bytes is: decided by looking ahead, before anything is
// taken.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/gate.h"

namespace sluice::gate {

/// The answer to a look at a possible run.
struct Verdict {
  enum class Kind : uint8_t { need, reject, accept };
  Kind kind = Kind::reject;
  size_t skip =
      0;  ///< reject: source to pass over; accept: source before the run's first character
  bool mid_word = false;  ///< reject: what was passed over may go on
  size_t prefix = 0;      ///< accept: bytes before the run that belong to it
  bool hex = false;
  bool pairs = false;    ///< hex digits two by two
  bool uri = false;      ///< in a data: URI
  bool armor = false;    ///< reject: it stands in ASCII armor, which is text however long
  std::string declared;  ///< the MIME type of a data: URI
  size_t column = 0;     ///< reject: characters of items that are all of one length
  std::string quote;     ///< accept: source of the quote before it, in a list in a string
};

/// Shortest items that are one run without a known signature: shorter ones may be names.
inline constexpr size_t kMinOpaqueItem = 60;

/// Characters (base64, hex) or bytes of source (byte arrays) below which nothing is ever taken.
inline constexpr size_t kShortest = 64;

/// Whether what stands before a place ends like the prefix of a data: URI.
bool ends_data_prefix(std::string_view behind);

/// Whether the string that ends a document's source so far, its opening quote, is the value of a
/// `blob`: bytes in base64 (MCP, all revisions), whatever they look like.
bool begins_blob(std::string_view source);

/// What stands before a possible run.
struct Before {
  std::string_view text;  ///< source in the same string
  bool armored = false;   ///< ASCII armor was open there
  bool blob = false;      ///< it begins a string that `begins_blob`
};

/// Looks at the base64 or hex run that may begin at `at`. `need` means that the bytes at hand do
/// not suffice; never when `final`.
Verdict probe_run(const uint8_t* at, const uint8_t* end, bool final, const Before& before,
                  const GateOptions& options);

/// Looks at the pairs of hex digits that may begin at `at`, where `mark` bytes of source spell
/// `\x`.
Verdict probe_pairs(const uint8_t* at, const uint8_t* end, bool final, size_t mark,
                    const GateOptions& options);

/// Looks at the array of byte values that may begin at `at`, a bracket. `behind` is the source
/// before it: a Buffer's `"type":"Buffer","data":` makes a signature unnecessary.
Verdict probe_array(const uint8_t* at, const uint8_t* end, bool final, std::string_view behind,
                    bool in_string, const GateOptions& options);

/// Looks at the list whose items from `at` on, which is behind a quote, may be one run.
Verdict probe_items(const uint8_t* at, const uint8_t* end, bool final, const GateOptions& options);

/// Whether base64 at `at` begins for certain like a file; nothing when the bytes at hand do not
/// suffice.
std::optional<bool> begins_file(const uint8_t* at, const uint8_t* end, bool final,
                                const std::vector<Signature>& signatures);

/// Whether characters of base64 without a known signature are bytes all the same: upper case, lower
/// case and digits all present, and each of the two specials at 0.5–3.5 %, or a printable decoded
/// head.
bool looks_encoded(std::string_view characters);

}  // namespace sluice::gate
