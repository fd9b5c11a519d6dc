// JSON strings: the fast scan, the exact lexer, and what begins in a string. Part of Gate::Pass.
#include <algorithm>

#include "gate/pass.h"
#include "gate/run/token.h"
#include "gate/scan.h"
#include "json/scan.h"
#include "sluice/codec.h"
#include "sluice/tape.h"

namespace sluice {

namespace {

bool may_open_array(const uint8_t* bracket, const uint8_t* end) {
  if (bracket + 1 == end) return true;
  const uint8_t* at = bracket + 1;
  while (at < end && at - bracket <= 3 && is_digit(*at)) ++at;
  return at == end || *at == ' ' || *at == '\\' || (at > bracket + 1 ? *at == ',' : *at == '-');
}

// How many bytes behind the least that bytes need a probe may look at.
constexpr size_t kSlack = 4'096;

bool is_dump(std::string_view head) {
  return head.starts_with("00000000: ");
}

// Counts letters of either alphabet at `at`, up to the shortest line of a run.
size_t short_word(const uint8_t* at, const uint8_t* end) {
  size_t size = 0;
  while (size < gate::kMinColumn && at + size < end && gate::is_base64_letter(at[size])) ++size;
  return size;
}

}  // namespace

bool Gate::Pass::string() {
  if (starts_) return try_start();
  return lane_ == Lane::scan ? scan_lane() : exact_lane();
}

// Scans bytes that cannot matter. A stretch that could be a run goes to the exact lexer.
bool Gate::Pass::scan_lane() {
  const gate::Scan scan = gate::scan_string(at_, end_, detects_ ? stretch_ : nullptr);
  ascii_ = ascii_ && scan.ascii;
  sound_ = sound_ && scan.sound;
  if (scan.long_stretch) {
    at_ = stretch_ = scan.stretch;
    lane_ = Lane::exact;
    return true;
  }
  at_ = scan.at;
  stretch_ = detects_ ? scan.stretch : at_;
  if (at_ < end_) return special();
  // A stretch that may still become long is scanned again from its start with more bytes.
  if (final_) stretch_ = at_;
  commit(stretch_);
  at_ = stretch_;
  return false;
}

// Reads elements of runs up to the next byte that cannot belong to one.
bool Gate::Pass::exact_lane() {
  if (at_ == end_) {
    commit(at_);
    return false;
  }
  const uint8_t c = *at_;
  if (c == '%') return percent();
  if (c < 0x2B || c > 0x7A) return leave_exact_lane();
  if (c == '[' && may_open_array(at_, end_)) {
    mid_word_ = false;
    return try_array(true);
  }
  if (mid_word_) {
    const size_t size = any_base64_span({at_, static_cast<size_t>(end_ - at_)});
    at_ += size;
    mid_word_ = at_ == end_;
    return true;
  }
  if (gate::is_base64_letter(c)) return word();
  if (c != '\\') {
    ++at_;
    return true;
  }
  const gate::Token token = gate::read_token(at_, end_, final_);
  if (token.kind == gate::TokenKind::need) {
    commit(at_);
    return wait();
  }
  if (token.kind == gate::TokenKind::plus || token.kind == gate::TokenKind::slash) return try_run();
  if (token.kind == gate::TokenKind::group && at_[token.length - 1] == 'x') {
    return try_pairs(token.length);
  }
  return group(token.length);
}

// Most words are too short to begin a run, unless an escaped special character continues them.
bool Gate::Pass::word() {
  const size_t size = short_word(at_, end_);
  if (size == gate::kMinColumn) return try_run();
  const uint8_t* behind = at_ + size;
  gate::Token token{gate::TokenKind::other, 0};
  if (behind < end_) {
    token = gate::read_token(behind, end_, final_, *behind == '%' && in_data_uri());
  }
  if (token.kind == gate::TokenKind::need || (behind == end_ && !final_)) {
    commit(at_);
    return wait();
  }
  if (token.kind == gate::TokenKind::plus || token.kind == gate::TokenKind::slash) return try_run();
  at_ = behind;
  return true;
}

// The first character of a run may be percent-encoded behind the prefix of a data: URI.
bool Gate::Pass::percent() {
  if (!in_data_uri()) return leave_exact_lane();
  const gate::Token token = gate::read_token(at_, end_, final_, true);
  if (token.kind == gate::TokenKind::need) return wait();
  const bool begins = token.kind == gate::TokenKind::plus || token.kind == gate::TokenKind::slash;
  return begins ? try_run() : leave_exact_lane();
}

bool Gate::Pass::in_data_uri() {
  commit(at_);
  return gate::ends_data_prefix(document_.behind());
}

bool Gate::Pass::leave_exact_lane() {
  stretch_ = at_;
  mid_word_ = false;
  lane_ = Lane::scan;
  return true;
}

// Handles what stopped the scan: a quote, a control byte, a bracket, or no whole escape.
bool Gate::Pass::special() {
  if (*at_ == '"') {
    end_string();
    return true;
  }
  if (*at_ == '\\') return escape();
  if (*at_ == '[') {
    if (detects_ && may_open_array(at_, end_)) return try_array(true);
    pass_bracket();
    return true;
  }
  return fail(Code::json_syntax, at_, "a control character inside a string has to be escaped");
}

void Gate::Pass::pass_escape(size_t size) {
  if (at_[1] == '"') stretch_ = at_ + size;
  sound_ = sound_ && !gate::may_stand_for_damage(at_[1]);
  at_ += size;
}

// Checks one escape, a pair or `\uXXXX`. It is never cut.
bool Gate::Pass::escape() {
  const auto left = static_cast<size_t>(end_ - at_);
  const size_t size = escape_bytes(at_, end_);
  const bool spells = size == 2 && detects_ && !final_;
  if (size > 0 && (!spells || left > 2)) {
    if (size == 2 && detects_ && left > 2 && gate::may_spell_bytes(at_)) return try_spelled();
    pass_escape(size);
    return true;
  }
  const bool unicode = left >= 2 && at_[1] == 'u';
  if (size > 0 || left < (unicode ? kMaxEscape : 2)) {
    if (lane_ == Lane::exact) stretch_ = at_;
    if (final_) return fail(Code::json_end, end_, "the document ends inside a string");
    commit(stretch_);
    at_ = stretch_;
    return false;
  }
  return fail(Code::json_syntax, at_,
              unicode ? "\\u has to be followed by four hexadecimal digits"
                      : "this escape does not exist in JSON");
}

// Skips a group: some backslashes and what they escape.
bool Gate::Pass::group(uint32_t length) {
  const size_t backslashes = gate::count_backslashes(at_, end_);
  if (backslashes % 2 == 1 && backslashes <= gate::kMaxBackslashes) {
    // The last backslash is a JSON escape and is checked like any other.
    at_ += backslashes - 1;
    return escape();
  }
  at_ += length;
  return true;
}

// A run never contains a bracket.
void Gate::Pass::pass_bracket() {
  ++at_;
  stretch_ = at_;
}

bool Gate::Pass::try_run() {
  commit(at_);
  const std::string_view text = document_.behind();
  const bool blob = text.empty() && gate::begins_blob(document_.tail());
  const gate::Verdict verdict =
      gate::probe_run(at_, end_, final_, {text, armored_, blob}, options_);
  if (verdict.kind == gate::Verdict::Kind::need) return wait();
  armored_ = verdict.armor;
  if (verdict.kind == gate::Verdict::Kind::accept && document_.admits_run(verdict.prefix)) {
    begin_run(verdict);
    return true;
  }
  at_ += verdict.kind == gate::Verdict::Kind::reject ? verdict.skip : 1;
  mid_word_ = verdict.kind == gate::Verdict::Kind::accept || verdict.mid_word;
  return true;
}

// `\x` may begin pairs of hex digits. Otherwise it is a group like others, and its digits may begin
// a run.
bool Gate::Pass::try_pairs(uint32_t length) {
  const bool pair = static_cast<size_t>(end_ - at_) > length + 2 && at_[length + 2] == '\\';
  if (!pair && static_cast<size_t>(end_ - at_) <= length + 2 && !final_) {
    commit(at_);
    return wait();
  }
  if (const size_t prefix = gate::find_python(before()); prefix > 0) {
    if (const auto tried = try_bytes(gate::Spelled::python, prefix, 0)) return *tried;
  }
  if (!pair) return group(length);
  commit(at_);
  const gate::Verdict verdict = gate::probe_pairs(at_, end_, final_, length, options_);
  if (verdict.kind == gate::Verdict::Kind::need) return wait();
  if (verdict.kind == gate::Verdict::Kind::accept && document_.admits_run(verdict.prefix)) {
    begin_run(verdict);
    return true;
  }
  if (verdict.kind == gate::Verdict::Kind::accept) return group(length);
  at_ += verdict.skip;
  mid_word_ = true;
  return true;
}

// Moves the prefix from the document to the run's form.
void Gate::Pass::begin_run(const gate::Verdict& verdict) {
  const auto* mark = reinterpret_cast<const char*>(at_);
  if (verdict.pairs) {
    run_.emplace(gate::Run::pairs({mark, verdict.skip}));
  } else {
    run_.emplace(verdict.quote.empty() ? gate::Run(verdict.hex, verdict.uri)
                                       : gate::Run::item(verdict.quote, options_.signatures));
  }
  commit(at_ + verdict.skip);
  at_ += verdict.skip;
  const std::string_view behind = document_.behind();
  const std::string prefix(behind.substr(behind.size() - verdict.prefix));
  document_.take_back(verdict.prefix);
  append_unescaped(run_->form().prefix, prefix);
  segment_ = log_.open(SegmentKind::run);
  log_.segment(segment_).declared = verdict.declared;
  segment_source_ = verdict.prefix;
  expect_ = Expect::in_run;
}

bool Gate::Pass::try_array(bool in_string) {
  if (in_string) {
    commit(at_);
  } else {
    lay();
  }
  const gate::Verdict verdict = gate::probe_bytes(gate::Spelled::array, at_, end_, final_,
                                                  document_.tail(), in_string, options_);
  if (verdict.kind == gate::Verdict::Kind::need) return wait();
  if (verdict.kind == gate::Verdict::Kind::reject || !document_.admits_run()) {
    if (!in_string) return open(false);
    pass_bracket();
    return true;
  }
  begin_bytes(gate::Spelled::array, in_string);
  return true;
}

void Gate::Pass::begin_bytes(gate::Spelled spelled, bool in_string) {
  array_in_string_ = in_string;
  segment_ = log_.open(SegmentKind::run);
  segment_source_ = 0;
  reader_ = gate::open_reader(spelled, in_string);
  expect_ = Expect::in_bytes;
}

// An object outside of strings has bytes if its first key is "0".
bool Gate::Pass::try_object() {
  const uint8_t* key = at_ + 1;
  while (key < end_ && is_white(*key) && key - at_ < static_cast<ptrdiff_t>(gate::kMaxSpace)) ++key;
  const size_t seen = std::min<size_t>(3, static_cast<size_t>(end_ - key));
  if (as_text(key, key + seen) != std::string_view("\"0\"").substr(0, seen)) return open(true);
  if (seen < 3) return final_ ? open(true) : wait();
  lay();
  const gate::Verdict verdict =
      gate::probe_bytes(gate::Spelled::object, at_, end_, final_, "", false, options_);
  if (verdict.kind == gate::Verdict::Kind::need) return wait();
  if (verdict.kind == gate::Verdict::Kind::reject || !document_.admits_run()) return open(true);
  begin_bytes(gate::Spelled::object, false);
  return true;
}

// A whole string may be bytes: the lines of a dump, or characters of Latin-1.
bool Gate::Pass::try_start() {
  constexpr size_t kLook = 24;
  const std::string_view head = as_text(at_, end_).substr(0, kLook);
  if (head.size() < kLook && !final_) return wait();
  starts_ = false;
  if (is_dump(head)) return try_bytes(gate::Spelled::dump, 0, 0).value_or(true);
  const bool beyond =
      std::any_of(head.begin(), head.end(), [](char c) { return static_cast<uint8_t>(c) >= 0x80; });
  const bool latin1 = beyond || head.find("\\u00") != head.npos;
  return !latin1 || try_bytes(gate::Spelled::latin1, 0, 0).value_or(true);
}

// The source of the open string before this place, as far as it is in reach.
std::string Gate::Pass::before() const {
  const std::string_view here = as_text(copied_, at_);
  if (here.size() >= gate::kReach) return std::string(here.substr(here.size() - gate::kReach));
  return std::string(document_.behind()).append(here);
}

// An escape that may begin bytes, or stand in them.
bool Gate::Pass::try_spelled() {
  const bool quote = at_[1] == '"';
  const size_t prefix = quote ? gate::find_object(before()) : gate::find_python(before());
  std::optional<bool> tried;
  if (prefix > 0) {
    tried = try_bytes(quote ? gate::Spelled::object : gate::Spelled::python, prefix, 0);
  } else if (quote) {
    const std::string_view head = as_text(at_ + 2, end_).substr(0, kDumpDigits);
    const bool cut = head.size() < kDumpDigits && !final_;
    if (cut || is_dump(head)) tried = try_bytes(gate::Spelled::dump, 0, 2);
  }
  if (tried) return *tried;
  pass_escape(2);
  return true;
}

// Tries bytes that begin `prefix` bytes before this place or, without one, `skip` behind it. Empty
// if there are none; then nothing has happened.
std::optional<bool> Gate::Pass::try_bytes(gate::Spelled spelled, size_t prefix, size_t skip) {
  std::string source;
  const size_t most = options_.min_run_chars + kSlack;
  const std::string_view rest = as_text(at_ + skip, end_);
  if (prefix > 0) {
    source = before();
    source.erase(0, source.size() - prefix).append(rest.substr(0, most));
  }
  const Bytes bytes = as_bytes(prefix > 0 ? source : rest);
  const bool final = final_ && (prefix == 0 || rest.size() <= most);
  const gate::Verdict verdict = gate::probe_bytes(
      spelled, bytes.data(), bytes.data() + bytes.size(), final, "", true, options_);
  if (verdict.kind == gate::Verdict::Kind::need) {
    starts_ = prefix == 0 && skip == 0;
    if (lane_ == Lane::exact) stretch_ = at_;
    commit(stretch_);
    at_ = stretch_;
    return wait();
  }
  if (verdict.kind == gate::Verdict::Kind::reject) return std::nullopt;
  commit(at_);
  if (!document_.admits_run(prefix)) return std::nullopt;
  at_ += skip;
  commit(at_);
  document_.take_back(prefix);
  put_back(std::string_view(source).substr(0, prefix));
  begin_bytes(spelled, true);
  return true;
}

// Handles a string in an array: the first item of a run, or an ordinary string.
bool Gate::Pass::try_items() {
  const uint8_t* item = at_ + 1;
  const auto left = static_cast<size_t>(end_ - item);
  const size_t size = std::min(std::max(gate::kMinColumn, rejected_column_), left);
  const size_t letters = any_base64_span({item, size});
  if (letters == left && !final_) return wait();
  const bool escape = letters < left && item[letters] == '\\';
  if (letters < gate::kMinColumn && !escape) {
    rejected_column_ = 0;
    return begin_string(false);
  }
  if (letters == rejected_column_ && letters < left && item[letters] == '"') {
    return begin_string(false);
  }
  const gate::Verdict verdict = gate::probe_items(item, end_, final_, options_);
  if (verdict.kind == gate::Verdict::Kind::need) return wait();
  lay();
  if (verdict.kind == gate::Verdict::Kind::reject || !document_.admits_run()) {
    rejected_column_ = verdict.column <= gate::kMaxColumn ? verdict.column : 0;
    return begin_string(false);
  }
  rejected_column_ = 0;
  run_.emplace(gate::Run::item("\"", options_.signatures));
  in_items_ = true;
  segment_ = log_.open(SegmentKind::run);
  segment_source_ = 1;
  ++at_;
  ++line_characters_;
  expect_ = Expect::in_run;
  return true;
}

void Gate::Pass::end_string() {
  commit(at_);
  document_.close_string(key_);
  ++at_;
  ++line_characters_;
  plain_ = at_;
  after_string(key_);
}

}  // namespace sluice
