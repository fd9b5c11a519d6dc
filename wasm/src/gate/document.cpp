// The text of a document: its strings, its runs, and what is taken out of them.
#include "gate/document.h"

#include <algorithm>

#include "gate/inner.h"
#include "sluice/tape.h"
#include "text/utf8.h"

namespace sluice::gate {

Document::Document(const GateOptions& options, SegmentLog& log, uint32_t level, bool fields)
    : options_(options),
      log_(log),
      level_(level),
      has_fields_(fields && options.divert_text && options.fields != nullptr) {
  set_bound();
}
Document::~Document() = default;

void Document::source(std::string_view text) {
  out_.append(text);
}

void Document::open_string(bool key) {
  field_ = has_fields_ && !key ? find_field() : std::nullopt;
  in_string_ = true;
  string_begin_ = out_.size();
  string_chars_ = 0;
  string_source_ = 0;
  stays_plain_ = !options_.divert_text || (level_ > 0 && collapsed() && !field_);
  out_ += '"';
  sound_begin_ = part_begin_ = out_.size();
  part_source_ = 0;
}

void Document::text(std::string_view source, size_t chars, bool sound) {
  if (source.empty()) return;
  out_.append(source);
  if (!sound) sound_begin_ = out_.size();
  string_chars_ += chars;
  string_source_ += chars;
  // A prefix may still be taken back, so until the string ends only what is out of reach counts.
  check_string(options_.max_inline_size + kReach);
}

void Document::check_string(uint64_t limit) {
  if (protecting_) limit = std::max(limit, unspent_);
  if (!streams() && !stays_plain_ && string_chars_ > limit) start_text();
}

void Document::start_text() {
  protecting_ = false;
  if (log_.size() >= max_segments() && !frames_.empty()) {
    saturate();
    stays_plain_ = true;
    return;
  }
  part_segment_ = static_cast<uint32_t>(log_.size());
  if (level_ > 0) spelling_.emplace();
  const size_t begin = field_ ? std::string::npos : find_inner();
  if (begin != std::string::npos) return start_inner(begin);
  text_begin_ = find_fenced();
  text_ = log_.open(SegmentKind::text);
}

bool Document::is_mangled() const {
  if (protecting_ || !options_.detect_runs || string_chars_ < options_.min_run_chars) return false;
  if (part_begin_ != string_begin_ + 1) return false;
  if (sound_begin_ == string_begin_ + 1) return false;
  const std::string_view inside = std::string_view(out_).substr(string_begin_ + 1);
  uint64_t references = 0;
  const std::string source = replace_markers(inside, [&](uint32_t) {
    references += kReferenceChars;
    return "";
  });
  std::string value;
  append_unescaped(value, source);
  return looks_mangled(value, count_damage(value), value.size() + references, options_.signatures);
}

void Document::close_string(bool key) {
  if (key) next_ = Place::elsewhere;
  check_string(options_.max_inline_size);
  if (!streams() && !stays_plain_ && is_mangled()) start_text();
  const bool alone = text_ >= 0 && text_begin_ == string_begin_ + 1;
  while (streams()) {
    advance(out_.size(), true);
    if (streams() && fence_ > 0) {
      fence_ = 0;  // nothing goes on
      continue;
    }
    if (streams()) end_part(out_.size());
    check_string(options_.max_inline_size);
  }
  if (part_source_ > 0) string_chars_ = count_string(string_begin_ + 1, out_.size());
  if (alone || !key) mark_if_whole();
  if (key && (options_.protect || reads_keys() || follows())) name_member();
  out_ += '"';
  count(string_chars_ + 2);
  in_string_ = false;
  constexpr size_t kPart = 8;
  const bool tells = string_chars_ > options_.max_inline_size / kPart + kReferenceChars;
  if (!field_ && !key && tells && is_block_text()) field_ = kBlockText;
  if (!field_) return;
  named_.push_back({string_begin_, out_.size() - string_begin_, *field_});
  if (collapsed()) take_named(string_begin_, out_.size());
  if (takes_texts_) take_texts();
}

// Whether a string at hand stands in a block, or in the resource of one.
bool Document::is_block_text() const {
  if (level_ > 0 || frames_.size() < 3 || is_deep() || collapsed()) return false;
  const Place around = frames_[frames_.size() - (place() == Place::entry ? 2 : 1)].place;
  return around == Place::block && options_.divert_text && !protecting_;
}

void Document::mark_if_whole() {
  if (out_.size() != string_begin_ + 1 + kMarkerBytes) return;
  const int32_t index = marker_at(out_, string_begin_ + 1);
  if (index >= 0) log_.segment(static_cast<uint32_t>(index)).whole = true;
}

std::string_view Document::behind() const {
  const std::string_view all(out_);
  const size_t begin = streams() ? text_begin_ : part_begin_;
  return all.substr(std::max(begin, all.size() - std::min(all.size(), kReach)));
}

std::string_view Document::tail() const {
  const std::string_view all(out_);
  return all.substr(all.size() - std::min(all.size(), kReach));
}

bool Document::admits_run(size_t prefix) {
  // What leaves a value before the run is counted before it, however far the value was read.
  while (inner_) {
    const size_t before = part_begin_;
    advance(out_.size() - prefix, true);
    if (part_begin_ == before) break;
    check_string(options_.max_inline_size + kReach);
  }
  if (log_.size() < max_segments()) return true;
  if (!collapsed() && !streams() && !frames_.empty()) {
    saturate();
    stays_plain_ = true;
  }
  return false;
}

void Document::take_back(size_t prefix) {
  out_.resize(out_.size() - prefix);
  string_chars_ -= prefix;
  check_string(options_.max_inline_size + kReach);
}

void Document::mark(uint32_t segment) {
  append_marker(out_, segment);
  sound_begin_ = out_.size();
  string_chars_ += kReferenceChars;
  string_source_ += log_.segment(segment).chars;
  check_string(options_.max_inline_size + kReach);
}

void Document::mark_value(uint32_t segment) {
  out_ += '"';
  append_marker(out_, segment);
  out_ += '"';
  count(kReferenceChars);
}

namespace {

// Whether source begins with an escaped surrogate whose third digit is in a range.
bool is_surrogate(std::string_view source, char low, char high) {
  if (source.size() < 6 || source[0] != '\\' || source[1] != 'u') return false;
  const char third = static_cast<char>(source[3] | 0x20);
  return (source[2] | 0x20) == 'd' && third >= low && third <= high;
}

// A place at or before `at` where no character of UTF-8 is cut.
size_t behind_character(const std::string& text, size_t begin, size_t at) {
  constexpr size_t kMostTails = 3;
  size_t back = 0;
  while (back < kMostTails && at - back > begin && is_continuation(text[at - back])) ++back;
  return is_continuation(text[at - back]) ? at : at - back;
}

}  // namespace

size_t element_size(std::string_view source) {
  if (source[0] == kMarkerOpen) return kMarkerBytes;
  if (source[0] != '\\') return 1;
  if (source[1] != 'u') return 2;
  const bool pair = (is_surrogate(source, '8', '9') || is_surrogate(source, 'a', 'b')) &&
                    is_surrogate(source.substr(6), 'c', 'f');
  return pair ? 12 : 6;
}

// Where the preceding text may be cut: inside no escape or marker, and not between the escapes of a
// surrogate pair.
size_t Document::text_cut() const {
  if (out_.size() < text_begin_ + 2 * kReach) return text_begin_;
  const size_t wanted = out_.size() - kReach;
  // A pair is 12 bytes long. Where no `\u` and no marker begins in the 12 bytes before, only a
  // backslash right before could be cut from what it escapes.
  constexpr size_t kPair = 12;
  const std::string_view text(out_);
  for (size_t cut = wanted; cut > text_begin_ + kPair && wanted - cut < 16 * kReach; --cut) {
    const std::string_view before = text.substr(cut - kPair, kPair);
    if (before.back() == '\\' || before.find(kMarkerOpen) != before.npos) continue;
    if (before.find("\\u") == before.npos) return behind_character(out_, text_begin_, cut);
  }
  // With dense escapes, walk from the start, which is always a boundary.
  size_t at = text_begin_;
  size_t safe = at;
  while (at < wanted) {
    at += element_size(text.substr(at));
    if (at <= wanted) safe = at;
  }
  return behind_character(out_, text_begin_, safe);
}

// The position that leaves kReach bytes after it and cuts no marker.
size_t Document::reach_cut() const {
  size_t cut = out_.size() - std::min(out_.size(), kReach);
  for (size_t i = 0; i + 1 < kMarkerBytes && cut > 0; ++i) {
    if (out_[cut - 1] == kMarkerClose) break;
    if (marker_at(out_, cut - 1) >= 0) return cut - 1;
    --cut;
  }
  return cut;
}

void Document::flush(bool all) {
  if (collapsed()) {
    const bool held = in_string_ && !stays_plain_;
    size_t cut = std::min(held ? string_begin_ : out_.size(), reach_cut());
    if (protecting_) cut = std::min(cut, protect_begin_);
    cut = std::max(json_begin_, cut);
    emit(static_cast<uint32_t>(json_),
         std::string_view(out_).substr(json_begin_, cut - json_begin_), false);
    out_.erase(json_begin_, cut - json_begin_);
    const size_t moved = cut - json_begin_;
    string_begin_ -= std::min(moved, string_begin_);
    sound_begin_ -= std::min(moved, sound_begin_);
    text_begin_ -= std::min(moved, text_begin_);
    part_begin_ -= std::min(moved, part_begin_);
    protect_begin_ -= std::min(moved, protect_begin_);
  }
  while (streams()) {
    const size_t before = part_begin_;
    advance(all ? out_.size() : text_cut(), all);
    if (part_begin_ == before) break;
    check_string(options_.max_inline_size + kReach);
  }
}

}  // namespace sluice::gate
