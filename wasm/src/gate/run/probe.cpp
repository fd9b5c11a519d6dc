#include "gate/run/probe.h"

#include <algorithm>

#include "gate/run/run.h"
#include "gate/run/token.h"
#include "gate/scan.h"
#include "sluice/codec.h"
#include "sluice/describe.h"
#include "sluice/sniff.h"
#include "text/ascii.h"

namespace sluice::gate {

namespace {

constexpr std::string_view kBase64 = ";base64,";
constexpr size_t kMaxPrefix = 200;
constexpr size_t kMagicCharacters = kMagicHead * 2;

Verdict waiting() {
  Verdict verdict;
  verdict.kind = Verdict::Kind::need;
  return verdict;
}

struct DataUri {
  bool present = false;
  size_t prefix = 0;
  std::string declared;
};

bool is_uri_character(char c) {
  return is_alphanumeric(c) || is_among(c, ".+/;=-_:");
}

// `data:image/png;base64,` at the end of the text before a run.
DataUri find_data_uri(std::string_view behind) {
  DataUri uri;
  if (!ends_data_prefix(behind)) return uri;
  uri.present = true;
  const std::string_view head = behind.substr(0, behind.size() - kBase64.size());
  const size_t at = head.rfind("data:");
  if (at == std::string_view::npos || behind.size() - at > kMaxPrefix) return uri;
  const std::string_view media = head.substr(at + 5);
  if (!std::all_of(media.begin(), media.end(), is_uri_character)) return uri;
  uri.prefix = behind.size() - at;
  uri.declared = media.substr(0, media.find(';'));
  return uri;
}

// `\x`, however escaped, at the end of the text before hex digits.
size_t escaped_x(std::string_view behind) {
  if (behind.size() < 2 || behind.back() != 'x') return 0;
  size_t at = behind.size() - 1;
  while (at > 0 && behind[at - 1] == '\\') --at;
  const size_t size = behind.size() - at;
  return size >= 2 && size <= kMaxBackslashes ? size : 0;
}

/// The first bytes that characters stand for.
std::string decode_first(std::string_view characters, bool hex, size_t most) {
  const Alphabet alphabet = hex ? Alphabet::hex
                            : characters.find_first_of("-_") != std::string_view::npos
                                ? Alphabet::url
                                : Alphabet::standard;
  characters = characters.substr(0, hex ? most * 2 : (most + 2) / 3 * 4);
  std::string bytes(decoded_capacity(characters.size()), '\0');
  const Decoded done =
      decode(as_bytes(characters), alphabet, reinterpret_cast<uint8_t*>(bytes.data()));
  bytes.resize(std::min(done.written, most));
  return bytes;
}

std::string decoded_head(std::string_view characters, bool hex, size_t limit) {
  return decode_first(characters, hex, std::min(limit, kMagicHead));
}

// Whether ASCII armor (RFC 9580 §6, RFC 7468) is open at the end of a text.
bool is_armored(std::string_view behind, bool armored) {
  const size_t begin = behind.rfind("-----BEGIN");
  const size_t end = behind.rfind("-----END");
  if (begin == std::string_view::npos && end == std::string_view::npos) return armored;
  return end == std::string_view::npos || (begin != std::string_view::npos && begin > end);
}

// Characters that a run needs at least, and before the decision is final.
struct Needs {
  size_t enough;   // with a signature
  size_t certain;  // without one
};

Needs needs_of(const DataUri& uri, const GateOptions& options) {
  if (uri.present) return {kShortest, kShortest};
  const size_t without = options.require_magic
                             ? std::max(options.max_inline_size + 1, options.min_run_chars)
                             : options.min_run_chars;
  return {options.min_run_chars, without};
}

// How much source a rejected candidate lets the lexer skip. If its first line has another length
// than the others, the run may begin at the next line.
Verdict reject(const Run& run, size_t source) {
  Verdict verdict;
  verdict.skip = source;
  if (run.first_line_differs()) verdict.skip = run.first_line_source();
  if (run.in_items()) verdict.skip = source - run.held_source();
  verdict.mid_word = !run.first_line_differs() && !run.took_padding();
  return verdict;
}

// The source of the quote before an item of a list. The quote of a member's value is behind a
// colon.
std::string_view item_quote(std::string_view behind) {
  if (!behind.ends_with('"')) return {};
  size_t at = behind.size() - 1;
  while (at > 0 && behind[at - 1] == '\\') --at;
  const std::string_view quote = behind.substr(at);
  if (quote.size() < 2 || quote.size() > kMaxBackslashes) return {};
  std::string_view before = behind.substr(0, at);
  for (;;) {
    if (before.ends_with(' ')) {
      before.remove_suffix(1);
      continue;
    }
    const size_t size = before.size();
    const bool escape =
        size > 1 && before[size - 2] == '\\' &&
        (before[size - 1] == 'n' || before[size - 1] == 'r' || before[size - 1] == 't');
    if (!escape) break;
    before.remove_suffix(1);
    while (before.ends_with('\\')) before.remove_suffix(1);
  }
  return before.ends_with('[') || before.ends_with(',') ? quote : std::string_view{};
}

/// Whether a good part of a head is NUL, which text is not.
bool has_zeros(std::string_view head) {
  const auto zeros = static_cast<size_t>(std::count(head.begin(), head.end(), '\0'));
  return zeros * 10 > head.size() * 3;
}

/// Characters that are looked at of what begins with zeros, to see how it ends or goes on.
constexpr size_t kFarCharacters = 65'536;

/// A disc image says what it is behind 32 KB (ECMA-119 §6.2.1, §8.1), which are mostly zeros.
bool is_disc(const Run& run) {
  constexpr size_t kPlace = 32'769;
  constexpr std::string_view kMark = "CD001";
  const std::string first = decode_first(run.characters_at_hand(), false, kPlace + kMark.size());
  return first.size() > kPlace && std::string_view(first).substr(kPlace) == kMark;
}

bool looks_like_bytes(const Run& run) {
  const bool names = run.in_items() && run.column() < kMinOpaqueItem;
  return !names && looks_encoded(run.characters_at_hand(), run.took_padding());
}

}  // namespace

bool is_cut(std::string_view behind) {
  if (behind.starts_with("\\n")) behind.remove_prefix(2);
  if (behind.starts_with(' ')) behind.remove_prefix(1);
  if (behind.starts_with("...") || behind.starts_with("…") || behind.starts_with("\\u2026")) {
    return true;
  }
  if (behind.empty() || !is_among(behind[0], "<[(")) return false;
  behind.remove_prefix(1);
  return behind.starts_with("trunc") || behind.starts_with("...") || behind.starts_with("…");
}

namespace {

Verdict probe(const uint8_t* at, const uint8_t* end, bool final, bool hex, const DataUri& uri,
              const Before& before, const GateOptions& options) {
  const Needs needs = needs_of(uri, options);
  const uint8_t* p = at;
  const std::string_view quote = hex || uri.present ? "" : item_quote(before.text);
  Run run = quote.empty() ? Run(hex, uri.present) : Run::item(quote, options.signatures);
  Run::Step step = run.lex(p, end, final, std::max(needs.enough, kMagicCharacters));
  if (step == Run::Step::more) return waiting();
  if (step == Run::Step::full || run.characters() >= needs.enough) {
    Verdict accepted;
    accepted.kind = Verdict::Kind::accept;
    accepted.hex = hex;
    accepted.quote = quote;
    const std::string head = decoded_head(run.characters_at_hand(), hex, options.max_probe_bytes);
    if (uri.present) {
      // A file of which the rest is missing is none, and what is left of it may stay in its text.
      if (step == Run::Step::full) step = run.lex(p, end, final, options.max_inline_size);
      const auto seen = static_cast<size_t>(end - p);
      const bool ended = step == Run::Step::ended;
      if (step == Run::Step::more || (ended && seen < kBehindRun && !final)) return waiting();
      if (ended && is_cut(as_text({p, std::min(seen, kBehindRun)}))) {
        return reject(run, static_cast<size_t>(p - at));
      }
    }
    if (uri.present || has_magic(as_bytes(head), options.signatures)) return accepted;
    if (hex || before.armored) return reject(run, static_cast<size_t>(p - at));
    if (step == Run::Step::full) step = run.lex(p, end, final, needs.certain);
    if (step == Run::Step::more) return waiting();
    if (run.characters() >= needs.certain) {
      if (before.blob || looks_like_bytes(run)) return accepted;
      if (has_zeros(head)) {
        if (step == Run::Step::full) step = run.lex(p, end, final, kFarCharacters);
        if (step == Run::Step::more) return waiting();
        if (looks_like_bytes(run) || is_disc(run)) return accepted;
      }
    }
  }
  return reject(run, static_cast<size_t>(p - at));
}

size_t hex_span(const uint8_t* at, const uint8_t* end) {
  return alphabet_span({at, std::min<size_t>(static_cast<size_t>(end - at), kShortest)},
                       Alphabet::hex);
}

}  // namespace

bool looks_encoded(std::string_view characters, bool padded) {
  size_t upper = 0, lower = 0, digits = 0, plus = 0, slash = 0;
  for (const char c : characters) {
    upper += is_upper(c);
    lower += is_lower(c);
    digits += is_digit(c);
    plus += c == '+' || c == '-';
    slash += c == '/' || c == '_';
  }
  const std::string head = decoded_head(characters, false, kMagicHead);
  if (has_zeros(head) && (padded || (plus > 0 && slash > 0))) return true;
  if (upper == 0 || lower == 0 || digits == 0) return false;
  const auto usual = [&](size_t count) {
    return count * 1000 >= characters.size() * 5 && count * 1000 <= characters.size() * 35;
  };
  if (usual(plus) && usual(slash)) return true;
  return !head.empty() && std::all_of(head.begin(), head.end(), [](char c) {
    return (c >= ' ' && c < '\x7F') || c == '\n' || c == '\r' || c == '\t';
  });
}

bool ends_data_prefix(std::string_view behind) {
  return behind.ends_with(kBase64);
}

bool begins_blob(std::string_view source) {
  const auto drop_space = [&source] {
    source = source.substr(0, source.find_last_not_of(" \t\n\r") + 1);
  };
  if (!source.ends_with('"')) return false;
  source.remove_suffix(1);
  drop_space();
  if (!source.ends_with(':')) return false;
  source.remove_suffix(1);
  drop_space();
  return source.ends_with("\"blob\"");
}

Verdict probe_run(const uint8_t* at, const uint8_t* end, bool final, const Before& before,
                  const GateOptions& options) {
  // Most words are short, so one look decides.
  const auto size = static_cast<size_t>(end - at);
  if (size < kShortest + 2 && !final) return waiting();
  const size_t word = any_base64_span({at, std::min(size, kShortest)});
  const DataUri uri = find_data_uri(before.text);
  const bool goes_on = word < size && (at[word] == '\\' || (at[word] == '%' && uri.present));
  if (word < kMinColumn && !goes_on) {
    Verdict verdict;
    verdict.skip = word;
    return verdict;
  }
  Before here = before;
  here.armored = is_armored(before.text, before.armored);
  const bool zero_x = size > 2 && at[0] == '0' && (at[1] | 0x20) == 'x' && is_hex_digit(at[2]);
  const size_t skip = zero_x ? 2 : 0;
  const size_t digits = hex_span(at + skip, end);
  if (!uri.present && (digits == kShortest || (digits >= kMinColumn && at + skip + digits < end &&
                                               at[skip + digits] == '\\'))) {
    Verdict verdict = probe(at + skip, end, final, true, uri, here, options);
    if (verdict.kind == Verdict::Kind::accept) {
      verdict.skip = skip;
      verdict.prefix = zero_x ? 2 : escaped_x(before.text);
      return verdict;
    }
    if (verdict.kind == Verdict::Kind::need) return verdict;
  }
  Verdict verdict = probe(at, end, final, false, uri, here, options);
  if (verdict.kind == Verdict::Kind::accept) {
    verdict.uri = uri.present;
    verdict.prefix = uri.prefix;
    verdict.declared = uri.declared;
  }
  verdict.armor = here.armored;
  return verdict;
}

namespace {

// Whether the next item visibly has another length than `size` characters. Lists of short items
// have many of them, so the second one is in view.
bool is_followed_otherwise(const uint8_t* at, const uint8_t* end, size_t size) {
  const auto space = [end](const uint8_t* p) {
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) ++p;
    return p;
  };
  const uint8_t* p = space(at + size + 1);
  if (p < end && *p != ',') return true;
  p = p < end ? space(p + 1) : p;
  if (p < end && *p != '"') return true;
  const auto left = static_cast<size_t>(end - p);
  return left > size + 1 && p[size + 1] != '"';
}

}  // namespace

Verdict probe_items(const uint8_t* at, const uint8_t* end, bool final, const GateOptions& options) {
  const ShortString item = short_string(at, end);
  if (item.closed && options.min_run_chars > 2 * kShortString &&
      is_followed_otherwise(at, end, item.bytes)) {
    return {};
  }
  const Needs needs = needs_of({}, options);
  const uint8_t* p = at;
  Run run = Run::item("\"", options.signatures);
  size_t budget = std::max(needs.enough, kMagicCharacters);
  Run::Step step = run.lex(p, end, final, budget);
  while (step == Run::Step::full && !run.in_items() && budget <= kMaxItem) {
    budget *= 2;
    step = run.lex(p, end, final, budget);
  }
  if (step == Run::Step::more) return waiting();
  Verdict verdict;
  if (run.in_items() && run.characters() >= needs.enough) {
    const std::string characters = run.characters_at_hand();
    const std::string head = decoded_head(characters, false, options.max_probe_bytes);
    bool accepted = has_magic(as_bytes(head), options.signatures);
    if (!accepted && run.column() >= kMinOpaqueItem) {
      if (step == Run::Step::full) step = run.lex(p, end, final, needs.certain);
      if (step == Run::Step::more) return waiting();
      accepted = run.characters() >= needs.certain && looks_like_bytes(run);
    }
    if (accepted) verdict.kind = Verdict::Kind::accept;
  }
  verdict.column = run.column();
  return verdict;
}

std::optional<bool> begins_file(const uint8_t* at, const uint8_t* end, bool final,
                                const std::vector<Signature>& signatures) {
  Run run(false);
  if (run.lex(at, end, final, kMagicCharacters) == Run::Step::more) return std::nullopt;
  return has_magic(as_bytes(decoded_head(run.characters_at_hand(), false, kMagicHead)), signatures);
}

Verdict probe_pairs(const uint8_t* at, const uint8_t* end, bool final, size_t mark,
                    const GateOptions& options) {
  Run run = Run::pairs(as_text({at, mark}));
  const uint8_t* p = at + mark;
  const size_t enough = std::max(options.min_run_chars, kMagicCharacters);
  const Run::Step step = run.lex(p, end, final, enough);
  if (step == Run::Step::more) return waiting();
  Verdict verdict;
  verdict.skip = std::max(mark, static_cast<size_t>(p - at));
  if (run.characters() < options.min_run_chars) return verdict;
  const std::string head = decoded_head(run.characters_at_hand(), true, options.max_probe_bytes);
  if (!has_magic(as_bytes(head), options.signatures)) return verdict;
  verdict.kind = Verdict::Kind::accept;
  verdict.skip = verdict.prefix = mark;
  verdict.hex = verdict.pairs = true;
  return verdict;
}

namespace {

// Whether the source before an array ends like a Buffer's, apart from white space and backslashes.
bool in_buffer(std::string_view behind) {
  constexpr std::string_view kBuffer = "\"type\":\"Buffer\",\"data\":";
  size_t left = kBuffer.size();
  for (size_t i = behind.size(); i > 0 && left > 0; --i) {
    const char c = behind[i - 1];
    const bool escape = i > 1 && behind[i - 2] == '\\' && (c == 'n' || c == 'r' || c == 't');
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\\' || escape) continue;
    if (c != kBuffer[--left]) return false;
  }
  return left == 0;
}

}  // namespace

Verdict probe_bytes(Spelled spelled, const uint8_t* at, const uint8_t* end, bool final,
                    std::string_view behind, bool in_string, const GateOptions& options) {
  const bool list = spelled <= Spelled::object;
  const bool buffer = spelled == Spelled::array && in_buffer(behind);
  const size_t enough = buffer ? kShortest : options.min_run_chars;
  // Of the others each byte takes more source.
  const size_t budget = spelled == Spelled::latin1  ? std::max(enough, kMagicHead * 6)
                        : spelled == Spelled::array ? enough
                                                    : enough + kMagicHead;
  const uint8_t* p = at;
  Verdict verdict;
  verdict.skip = 1;
  const auto probe = [&](ByteReader& reader) {
    std::string bytes;
    const ByteReader::Step step = reader.lex(p, end, final, budget, bytes);
    if (step == ByteReader::Step::more) return waiting();
    const Bytes head = as_bytes(std::string_view(bytes).substr(0, options.max_probe_bytes));
    bool accepted = buffer || (list ? has_magic(head, options.signatures) : has_binary_magic(head));
    // What is damaged, or text that only begins like a file, is no file.
    if (spelled == Spelled::latin1) {
      accepted = accepted && step != ByteReader::Step::broken && !is_text(bytes);
    }
    if (accepted && reader.source() >= enough) verdict.kind = Verdict::Kind::accept;
    return verdict;
  };
  if (!list) return probe(*open_reader(spelled, in_string));
  ByteArray array(spelled == Spelled::object, in_string);
  return probe(array);
}

size_t find_object(std::string_view behind) {
  const size_t size = behind.size();
  const auto drop = [&](char c) {
    const bool dropped = behind.ends_with(c);
    while (behind.ends_with(c)) behind.remove_suffix(1);
    return dropped;
  };
  for (bool goes_on = true; goes_on;) {
    goes_on = drop(' ') || drop('\\');
    const bool escape =
        behind.size() > 1 && behind[behind.size() - 2] == '\\' && is_among(behind.back(), "nrt");
    if (escape) behind.remove_suffix(1);
    goes_on = goes_on || escape;
  }
  if (!behind.ends_with('{') || size - behind.size() > kMaxSpace) return 0;
  return size - behind.size() + 1;
}

size_t find_python(std::string_view behind) {
  constexpr size_t kLook = 64;
  constexpr std::string_view kByteArray = "bytearray(";
  size_t at = behind.rfind('b');
  while (at != behind.npos && behind.size() - at <= kLook) {
    const size_t quote = behind.find_first_not_of('\\', at + 1);
    const bool opens = quote != behind.npos && (behind[quote] == '"' || behind[quote] == '\'');
    // The letter of an escape belongs to no word.
    const bool escape = at > 1 && behind[at - 2] == '\\' && is_among(behind[at - 1], "nrt");
    if (opens && (at == 0 || escape || !is_alphanumeric(behind[at - 1]))) {
      const bool calls = behind.substr(0, at).ends_with(kByteArray);
      return behind.size() - at + (calls ? kByteArray.size() : 0);
    }
    at = at == 0 ? behind.npos : behind.rfind('b', at - 1);
  }
  return 0;
}

}  // namespace sluice::gate
