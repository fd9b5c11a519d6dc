// Decides whether something that looks like encoded bytes is. It looks ahead, and extracts nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gate/run/byte_array.h"
#include "sluice/gate.h"

namespace sluice::gate {

/// What a probe found.
struct Verdict {
  enum class Kind : uint8_t { need, reject, accept };
  Kind kind = Kind::reject;
  size_t skip = 0;  ///< reject: source to skip; accept: source before the run's first character
  bool mid_word = false;  ///< reject: the skipped source may continue
  size_t prefix = 0;      ///< accept: bytes before the run that belong to it
  bool hex = false;
  bool pairs = false;    ///< hex digits in pairs, each behind `\x`
  bool uri = false;      ///< in a data: URI
  bool armor = false;    ///< reject: it is in ASCII armor, which stays text however long it is
  std::string declared;  ///< the MIME type of a data: URI
  size_t column = 0;     ///< reject: the length of the items, if all have the same
  std::string quote;     ///< accept: source of the quote before it, for a list inside a string
};

/// Minimum characters of an item to be part of a run without a known signature. Shorter items may
/// be names.
inline constexpr size_t kMinOpaqueItem = 60;

/// Minimum characters (base64, hex) or bytes of source (byte arrays) of anything that is extracted.
inline constexpr size_t kShortest = 64;

/// Whether text ends like the prefix of a data: URI.
bool ends_data_prefix(std::string_view behind);

/// Whether the string whose opening quote ends `source` is the value of a `blob`. That is base64
/// (MCP, all revisions), whatever it looks like.
bool begins_blob(std::string_view source);

/// The context before a possible run.
struct Before {
  std::string_view text;  ///< source in the same string
  bool armored = false;   ///< ASCII armor was open there
  bool blob = false;      ///< it begins a string for which `begins_blob` is true
};

/// Probes for a base64 or hex run at `at`. `need` means that more bytes are required; never
/// returned when `final`.
Verdict probe_run(const uint8_t* at, const uint8_t* end, bool final, const Before& before,
                  const GateOptions& options);

/// Probes for pairs of hex digits at `at`, where `mark` bytes of source spell `\x`.
Verdict probe_pairs(const uint8_t* at, const uint8_t* end, bool final, size_t mark,
                    const GateOptions& options);

/// Probes for bytes in a spelling of their own at `at`. `behind` is the source before it: after a
/// Buffer's `"type":"Buffer","data":` no signature is needed.
Verdict probe_bytes(Spelled spelled, const uint8_t* at, const uint8_t* end, bool final,
                    std::string_view behind, bool in_string, const GateOptions& options);

/// How many bytes at the end of a text open an object whose first key may follow, or a literal of
/// Python with bytes; 0 if none does.
size_t find_object(std::string_view behind);
size_t find_python(std::string_view behind);

/// Probes for a list whose items are one run. `at` is behind the opening quote of the first item.
Verdict probe_items(const uint8_t* at, const uint8_t* end, bool final, const GateOptions& options);

/// Source that is looked at behind a run, for the signs of a cut.
inline constexpr size_t kBehindRun = 8;

/// Whether what follows a run says that the server shortened it: `…`, `...`, `[truncated`.
bool is_cut(std::string_view behind);

/// Whether base64 at `at` has the signature of a file. Empty if more bytes are required.
std::optional<bool> begins_file(const uint8_t* at, const uint8_t* end, bool final,
                                const std::vector<Signature>& signatures);

/// Whether base64 without a known signature is still encoded bytes: it has upper case, lower case
/// and digits, and either each of the two special characters at 0.5–3.5 % or a printable decoded
/// head; or its head is NUL for a good part, which text is not, and it has both special characters
/// or is `padded`.
bool looks_encoded(std::string_view characters, bool padded);

}  // namespace sluice::gate
