#include "json/spelling.h"

#include <algorithm>

#include "json/scan.h"
#include "sluice/codec.h"
#include "sluice/tape.h"
#include "text/ascii.h"
#include "text/block.h"
#include "text/utf8.h"

namespace sluice {

namespace {

/// Characters that some writers escape without need. Others are escaped so seldom that they have no
/// spelling.
constexpr std::string_view kSeldom = "/<>&'+`=\x7F";

/// The letters of short escapes, and what they stand for.
constexpr std::string_view kLetters = "\"\\/bfnrt";
constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";

constexpr size_t kMostLevels = 8;

char letter_for(char c) {
  const size_t at = kMeant.find(c);
  return at == kMeant.npos ? '\0' : kLetters[at];
}

bool is_high_surrogate(uint32_t unit) {
  return (unit & 0xFC00) == 0xD800;
}

bool is_surrogate(uint32_t unit) {
  return (unit & 0xF800) == 0xD800;
}

bool is_separator(std::string_view text) {
  return text.starts_with("\xE2\x80\xA8") || text.starts_with("\xE2\x80\xA9");
}

void append_unit(std::string& out, uint32_t unit, bool upper) {
  const char bytes[2] = {static_cast<char>(unit >> 8), static_cast<char>(unit & 0xFF)};
  out += "\\u";
  encode(as_bytes({bytes, 2}), Alphabet::hex, false, upper, out);
}

}  // namespace

Spelling::Spelling() {
  watch();
}

bool Spelling::settle(How& known, How how) {
  if (known == How::open) {
    known = how;
    watch();
  }
  return known == how;
}

// What has to be looked at: what is not plain for certain. The others are looked for as
// backslashes, which are found anyway.
void Spelling::watch() {
  for (size_t i = 0; i < watched_.size(); ++i) {
    const auto c = static_cast<uint8_t>(kSeldom[i]);
    watched_[i] = ascii_[c] == How::plain ? '\\' : kSeldom[i];
  }
}

template <typename Bytes>
auto Spelling::stops(Bytes bytes) const {
  auto found = bytes.is('\\') | bytes.is('"') | bytes.below(0x20);
  for (const char c : watched_) found = found | bytes.is(static_cast<uint8_t>(c));
  if (others_[basic] != How::plain) return found | bytes.high();
  if (others_[separator] != How::plain) found = found | bytes.is(0xE2);
  if (others_[beyond] != How::plain) found = found | bytes.from(0xF0, 0x0F);
  // A surrogate, which is never plain.
  return found | bytes.is(0xED);
}

// Digits of one case, as long as they have letters.
bool Spelling::settle_case(std::string_view digits) {
  for (const char c : digits) {
    if (!is_letter(c)) continue;
    if (case_known_ && upper_ != is_upper(c)) return false;
    upper_ = is_upper(c);
    case_known_ = true;
  }
  return true;
}

// The bytes of the escape that begins `source`; 0 if it has another spelling.
size_t Spelling::take_escape(std::string_view source) {
  if (source[1] != 'u') {
    const auto meant = static_cast<uint8_t>(kMeant[kLetters.find(source[1])]);
    return settle(ascii_[meant], How::brief) ? 2 : 0;
  }
  const uint32_t unit = hex4(source.data() + 2);
  bool pair = is_high_surrogate(unit) && source.size() >= 2 * kMaxEscape && source[6] == '\\' &&
              source[7] == 'u';
  pair = pair && (hex4(source.data() + 8) & 0xFC00) == 0xDC00;
  const size_t size = pair ? 2 * kMaxEscape : kMaxEscape;
  if (unit < 0x80) {
    const auto c = static_cast<char>(unit);
    const bool may = unit < 0x20 || letter_for(c) != '\0' || is_among(c, kSeldom);
    if (!may || !settle(ascii_[unit], How::unit)) return 0;
  } else if (pair) {
    if (!settle(others_[beyond], How::unit)) return 0;
  } else if (!is_surrogate(unit)) {
    const Kind kind = unit == 0x2028 || unit == 0x2029 ? separator : basic;
    if (!settle(others_[kind], How::unit)) return 0;
  }
  for (size_t at = 0; at < size; at += kMaxEscape) {
    if (!settle_case(source.substr(at + 2, 4))) return 0;
  }
  return size;
}

// The bytes of the plain character that begins `source`; 0 if it has another spelling.
size_t Spelling::take_plain(std::string_view source) {
  const auto lead = static_cast<uint8_t>(source[0]);
  if (lead < 0x80) return settle(ascii_[lead], How::plain) ? 1 : 0;
  // The rest of a character that an earlier piece began.
  if (lead < 0xC0) return 1;
  // The separators' first byte begins much punctuation: whether it is one shows in its third.
  const Kind kind = lead >= 0xF0 ? beyond : is_separator(source) ? separator : basic;
  if (lead == 0xED && source.size() > 1 && static_cast<uint8_t>(source[1]) >= 0xA0) return 0;
  return settle(others_[kind], How::plain) ? 1 : 0;
}

size_t Spelling::learn(std::string_view source) {
  const char* const begin = source.data();
  const char* const end = begin + source.size();
  const char* at = begin;
  for (;;) {
    at = find_first(at, end, [this](auto bytes) { return stops(bytes); });
    if (at == end) return source.size();
    const std::string_view rest(at, static_cast<size_t>(end - at));
    const size_t taken = *at == '\\' ? take_escape(rest) : take_plain(rest);
    if (taken == 0) return static_cast<size_t>(at - begin);
    at += taken;
  }
}

void Spelling::write(std::string_view text, std::string& out) const {
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end;) {
    const char* const stop = find_first(at, end, [this](auto bytes) { return stops(bytes); });
    out.append(at, stop);
    if (stop == end) return;
    const auto byte = static_cast<uint8_t>(*stop);
    at = stop + 1;
    if (byte < 0x80) {
      const char letter = letter_for(*stop);
      const bool must = byte < 0x20 || byte == '"' || byte == '\\';
      How how = ascii_[byte];
      if (how == How::open) how = !must ? How::plain : letter != '\0' ? How::brief : How::unit;
      if (how == How::unit) {
        append_unit(out, byte, upper_);
      } else {
        if (how == How::brief) out += '\\';
        out += how == How::brief ? letter : *stop;
      }
      continue;
    }
    const std::string_view rest(stop, static_cast<size_t>(end - stop));
    const bool lone = byte == 0xED && rest.size() > 2 && static_cast<uint8_t>(rest[1]) >= 0xA0;
    const Kind kind = byte >= 0xF0 ? beyond : is_separator(rest) ? separator : basic;
    const size_t length = lone ? 3 : utf8_length(stop, end);
    if (length < 2 || (!lone && others_[kind] != How::unit)) {
      out += *stop;
      continue;
    }
    uint32_t code = lone ? 0xD000 | (static_cast<uint8_t>(rest[1]) & 0x3Fu) << 6 |
                               (static_cast<uint8_t>(rest[2]) & 0x3Fu)
                         : static_cast<uint32_t>(read_code_point(rest, 0).value);
    if (code > 0xFFFF) {
      code -= 0x10000;
      append_unit(out, 0xD800 + (code >> 10), upper_);
      code = 0xDC00 + (code & 0x3FF);
    }
    append_unit(out, code, upper_);
    at = stop + length;
  }
}

// --- names -----------------------------------------------------------------------------------

std::string Spelling::name() const {
  std::string out = "json";
  if (upper_) out += "-X";
  if (others_[basic] == How::unit) out += "-n";
  if (others_[beyond] == How::unit) out += "-m";
  if (others_[separator] == How::unit) out += "-l";
  if (ascii_['/'] == How::brief) out += "-s";
  std::string units;
  for (size_t c = 0; c < ascii_.size(); ++c) {
    const bool usual = c < 0x20 && letter_for(static_cast<char>(c)) == '\0';
    const char byte = static_cast<char>(c);
    if (ascii_[c] == How::unit && !usual)
      encode(as_bytes({&byte, 1}), Alphabet::hex, false, false, units);
  }
  return units.empty() ? out : out + "-u" + units;
}

std::optional<Spelling> Spelling::parse(std::string_view name) {
  Spelling spelling;
  if (!name.starts_with("json")) return std::nullopt;
  for (name.remove_prefix(4); !name.empty();) {
    const size_t end = std::min(name.find('-', 1), name.size());
    const std::string_view token = name.substr(1, end - 1);
    if (name[0] != '-' || token.empty() || token.size() > 2 * 128) return std::nullopt;
    name.remove_prefix(end);
    if (token == "X") spelling.upper_ = true;
    if (token == "n") spelling.others_[basic] = How::unit;
    if (token == "m") spelling.others_[beyond] = How::unit;
    if (token == "l") spelling.others_[separator] = How::unit;
    if (token == "s") spelling.ascii_['/'] = How::brief;
    if (token[0] != 'u') continue;
    std::string units(decoded_capacity(token.size()), '\0');
    const Decoded done =
        decode(as_bytes(token.substr(1)), Alphabet::hex, reinterpret_cast<uint8_t*>(units.data()));
    for (const char c : units.substr(0, done.written)) {
      if (static_cast<uint8_t>(c) < 0x80) spelling.ascii_[static_cast<uint8_t>(c)] = How::unit;
    }
  }
  spelling.watch();
  return spelling;
}

void append_spelled(std::string& out, std::string_view text, const std::vector<Spelling>& levels) {
  if (levels.empty()) {
    out += text;
    return;
  }
  std::string inner(text);
  for (const Spelling& level : levels) {
    std::string spelled;
    level.write(inner, spelled);
    inner = std::move(spelled);
  }
  out += inner;
}

std::optional<std::vector<Spelling>> parse_spellings(std::string_view names) {
  std::vector<Spelling> levels;
  while (!names.empty() && levels.size() < kMostLevels) {
    const size_t end = std::min(names.find('.'), names.size());
    std::optional<Spelling> level = Spelling::parse(names.substr(0, end));
    if (!level) return std::nullopt;
    levels.push_back(*level);
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  if (!names.empty()) return std::nullopt;
  return levels;
}

}  // namespace sluice
