#include "gate/document.h"

#include <algorithm>
#include <iterator>

#include "codec/payload.h"
#include "gate/inner.h"
#include "sluice/config.h"
#include "sluice/describe.h"
#include "sluice/tape.h"
#include "text/ascii.h"
#include "text/block.h"
#include "text/utf8.h"

namespace sluice::gate {

// --- members with a meaning ------------------------------------------------------------------

namespace {

struct Name {
  std::string_view name;
  Member member;
};

constexpr Name kNames[] = {
    {"jsonrpc", Member::jsonrpc},
    {"result", Member::result},
    {"content", Member::blocks},
    {"messages", Member::blocks},
    {"contents", Member::entries},
    {"tools", Member::entries},
    {"resources", Member::entries},
    {"resourceTemplates", Member::entries},
    {"prompts", Member::entries},
    {"tasks", Member::entries},
    {"task", Member::entries},
    {"roots", Member::entries},
    {"resource", Member::resource},
    {"icons", Member::icons},
    {"_meta", Member::meta},
    {"requestState", Member::fixed},
    {"inputRequests", Member::fixed},
    {"inputResponses", Member::fixed},
    {"nextCursor", Member::fixed},
    {"resultType", Member::fixed},
    {"structuredContent", Member::structured},
};

}  // namespace

// Most keys are those of rows, so `elsewhere` needs no search.
Member member_named(std::string_view name, Place place) {
  if (!has_meaning(place)) return name == "icons" ? Member::icons : Member::other;
  const auto* found = std::find_if(std::begin(kNames), std::end(kNames),
                                   [name](const Name& known) { return known.name == name; });
  return found == std::end(kNames) ? Member::other : found->member;
}

Place place_of(Member member, Place place) {
  const bool result = place == Place::result;
  const bool block = place == Place::block;
  if (member == Member::result && result) return Place::result;
  if (member == Member::blocks && (result || block)) return Place::blocks;
  if (member == Member::entries && result) return Place::entries;
  if (member == Member::resource && block) return Place::entries;
  if (member == Member::structured && result) return Place::structured;
  return Place::elsewhere;
}

Place place_of_object(Place place) {
  if (place == Place::blocks) return Place::block;
  return place == Place::entries ? Place::entry : place;
}

bool is_protected(Member member, Place place) {
  if (member == Member::meta) return has_meaning(place);
  return member == Member::fixed && place == Place::result;
}

// --- the text --------------------------------------------------------------------------------

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
  text_ = log_.open(SegmentKind::text);
  text_begin_ = part_begin_;
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
    if (streams()) end_part(out_.size());
    check_string(options_.max_inline_size);
  }
  if (part_source_ > 0) string_chars_ = count_string(string_begin_ + 1, out_.size());
  if (alone || !key) mark_if_whole();
  if (key && (options_.protect || reads_keys() || follows())) name_member();
  out_ += '"';
  count(string_chars_ + 2);
  in_string_ = false;
  if (!field_) return;
  named_.push_back({string_begin_, out_.size() - string_begin_, *field_});
  if (collapsed()) take_fields(string_begin_, out_.size());
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

// The length of the unit at the start, which must not be cut: a marker, an escape, a pair of
// surrogate escapes, or one byte.
size_t element_size(std::string_view source) {
  if (source[0] == kMarkerOpen) return kMarkerBytes;
  if (source[0] != '\\') return 1;
  if (source[1] != 'u') return 2;
  const bool pair = (is_surrogate(source, '8', '9') || is_surrogate(source, 'a', 'b')) &&
                    is_surrogate(source.substr(6), 'c', 'f');
  return pair ? 12 : 6;
}

// A place at or before `at` where no character of UTF-8 is cut.
size_t behind_character(const std::string& text, size_t begin, size_t at) {
  constexpr size_t kMostTails = 3;
  size_t back = 0;
  while (back < kMostTails && at - back > begin && is_continuation(text[at - back])) ++back;
  return is_continuation(text[at - back]) ? at : at - back;
}

}  // namespace

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

// --- strings that stream ---------------------------------------------------------------------

namespace {

// Whether a value may begin at a bracket: first in its line, or behind the words of the first.
bool may_begin_value(std::string_view source, size_t bracket) {
  constexpr size_t kSentence = 300;
  std::string_view before = source.substr(0, bracket);
  if (bracket <= kSentence && !before.empty() && is_among(before.back(), " :=>(`")) return true;
  while (before.ends_with(' ')) before.remove_suffix(1);
  return before.empty() || before.ends_with("\\n") || before.ends_with("\\t");
}

// Bytes of source of the first `size` bytes of a text.
size_t source_size(std::string_view source, size_t size) {
  std::string text;
  size_t at = 0;
  while (text.size() < size) {
    const size_t element = element_size(source.substr(at));
    append_unescaped(text, source.substr(at, element));
    at += element;
  }
  return at;
}

}  // namespace

// Where JSON begins in the open string: in out_, or npos. Its first characters decide, however many
// are there. A value that is complete by then is not what makes the string long.
size_t Document::find_inner() const {
  constexpr size_t kMostTries = 8;
  const std::string_view all = std::string_view(out_).substr(part_begin_);
  const size_t first = all.find_first_of("[{");
  const bool any = first < options_.max_inline_size / 2 && part_begin_ == string_begin_ + 1 &&
                   string_chars_ > options_.max_inline_size;
  if (!any || level_ >= kMaxInner) return std::string::npos;
  size_t end = 0;
  for (size_t counted = 0; end < all.size();) {
    const size_t size = element_size(all.substr(end));
    counted += all[end] == kMarkerOpen ? kReferenceChars : size;
    if (counted > options_.max_inline_size) break;
    end += size;
  }
  const std::string_view seen = all.substr(0, end);
  size_t tries = 0;
  for (size_t at = first; at < options_.max_inline_size / 2 && tries < kMostTries;
       at = seen.find_first_of("[{", at + 1)) {
    if (!may_begin_value(seen, at)) continue;
    std::string text;
    append_unescaped(text, seen.substr(at));
    Outline outline;
    outline.push(as_bytes(text));
    if (outline.is_open()) {
      text.clear();
      append_unescaped(text, seen.substr(0, at));
      return text.find_first_not_of(kWhite) == text.npos ? part_begin_ : part_begin_ + at;
    }
    ++tries;
  }
  return std::string::npos;
}

void Document::start_inner(size_t begin) {
  constexpr std::string_view kTextName("\0text\0", 6);
  const GateOptions* options = &options_;
  if (level_ == 0) {
    if (!within_) {
      within_ = std::make_unique<GateOptions>(options_);
      within_->max_document_chars = options_.max_inline_size;
      within_->protect = false;
    }
    options = within_.get();
  }
  const bool fields =
      level_ == 0 && follows() && place() == Place::block && path_.ends_with(kTextName);
  inner_ = std::make_unique<Inner>(*options, log_, level_ + 1, fields);
  text_begin_ = begin;
}

// Passes what streams up to a place on, and ends it where it does not go on.
void Document::advance(size_t cut, bool all) {
  const std::string_view source = std::string_view(out_).substr(text_begin_, cut - text_begin_);
  const size_t taken = inner_ ? advance_inner(source) : advance_text(source);
  if (taken < source.size() || (inner_ && inner_->is_over())) {
    return end_part(text_begin_ + taken);
  }
  if (inner_) inner_->flush(all);
  out_.erase(text_begin_, taken);
  sound_begin_ = text_begin_ + (sound_begin_ - std::min(cut, sound_begin_));
}

// In a string inside another each character has to be spelled as those before.
size_t Document::advance_text(std::string_view source) {
  const auto index = static_cast<uint32_t>(text_);
  if (!spelling_) {
    emit(index, source, true, sound_begin_ <= text_begin_);
    return source.size();
  }
  for (size_t at = 0; at < source.size();) {
    if (marker_at(source, at) >= 0) {
      emit(index, source.substr(at, kMarkerBytes), true);
      at += kMarkerBytes;
      continue;
    }
    const std::string_view piece = source.substr(at, source.find(kMarkerOpen, at) - at);
    const size_t alike = spelling_->learn(piece);
    emit(index, piece.substr(0, alike), true);
    at += alike;
    if (alike < piece.size()) return at;
  }
  return source.size();
}

size_t Document::advance_inner(std::string_view source) {
  std::string text;
  for (size_t at = 0; at < source.size();) {
    if (inner_->is_over()) return at;
    if (const int32_t segment = marker_at(source, at); segment >= 0) {
      if (!inner_->mark(static_cast<uint32_t>(segment))) return at;
      at += kMarkerBytes;
      continue;
    }
    const std::string_view piece = source.substr(at, source.find(kMarkerOpen, at) - at);
    const std::optional<Spelling> before = spelling_;
    const size_t alike = spelling_ ? spelling_->learn(piece) : piece.size();
    text.clear();
    append_unescaped(text, piece.substr(0, alike));
    if (const size_t taken = inner_->push(text); taken < text.size()) {
      const size_t size = source_size(piece, taken);
      spelling_ = before;
      if (spelling_) spelling_->learn(piece.substr(0, size));
      return at + size;
    }
    at += alike;
    if (alike < piece.size()) return at;
  }
  return source.size();
}

// What streamed up to `behind` is over: what stays of it stands in its place.
void Document::end_part(size_t behind) {
  const uint64_t rest = count_source(behind);
  std::string stays;
  if (inner_) {
    stays = close_inner();
  } else {
    log_.segment(static_cast<uint32_t>(text_)).chars = string_source_ - part_source_ - rest;
    append_marker(stays, close_text());
  }
  out_.replace(text_begin_, behind - text_begin_, stays);
  part_begin_ = text_begin_ + stays.size();
  part_source_ = string_source_ - rest;
  sound_begin_ = part_begin_ + (sound_begin_ - std::min(behind, sound_begin_));
  spelling_.reset();
  // What follows may have some characters of its own.
  const uint64_t kept = count_string(string_begin_ + 1, part_begin_);
  string_chars_ = std::min<uint64_t>(kept, options_.max_inline_size / 4 * 3) +
                  count_string(part_begin_, out_.size());
}

uint32_t Document::close_text() {
  const auto index = static_cast<uint32_t>(text_);
  if (spelling_) log_.segment(index).spelling = spelling_->name();
  log_.close(index);
  text_ = -1;
  return index;
}

std::string Document::close_inner() {
  const std::string value = inner_->finish();
  inner_.reset();
  std::string stays;
  if (!spelling_) {
    append_escaped(stays, value, true);
    return stays;
  }
  for (size_t at = 0; at < value.size();) {
    const size_t marker = std::min(value.find(kMarkerOpen, at), value.size());
    spelling_->write(std::string_view(value).substr(at, marker - at), stays);
    stays.append(value, marker, kMarkerBytes);
    at = marker + kMarkerBytes;
  }
  for (uint32_t index = part_segment_; index < log_.size(); ++index) {
    Segment& segment = log_.segment(index);
    if (segment.kind == SegmentKind::run) continue;
    if (!segment.spelling.empty()) segment.spelling += '.';
    segment.spelling += spelling_->name();
  }
  return stays;
}

// Code points, with as many for each marker as a reference counts.
uint64_t Document::count_string(size_t begin, size_t end) const {
  const std::string_view text = std::string_view(out_).substr(begin, end - begin);
  const auto markers = static_cast<uint64_t>(std::count(text.begin(), text.end(), kMarkerOpen));
  return count_chars(text) + markers * (kReferenceChars - kMarkerBytes);
}

// Code points of source, with those that each marker stands for.
uint64_t Document::count_source(size_t begin) const {
  const std::string_view text = std::string_view(out_).substr(begin);
  uint64_t chars = count_chars(text);
  for (size_t at = text.find(kMarkerOpen); at != text.npos; at = text.find(kMarkerOpen, at + 1)) {
    chars += log_.segment(static_cast<uint32_t>(marker_at(text, at))).chars - kMarkerBytes;
  }
  return chars;
}

void Document::break_off() {
  while (streams()) {
    advance(out_.size(), true);
    if (streams()) end_part(out_.size());
    check_string(options_.max_inline_size + kReach);
  }
  in_string_ = false;
  if (!collapsed()) return;
  const auto index = static_cast<uint32_t>(json_);
  emit(index, std::string_view(out_).substr(json_begin_), false);
  out_.resize(json_begin_);
  Segment& segment = log_.segment(index);
  segment.bare = false;
  segment.chars = segment.bytes;
  log_.close(index);
  json_ = -1;
  append_marker(out_, index);
}

void Document::emit(uint32_t segment, std::string_view source, bool undo_escapes, bool sound) {
  while (!source.empty()) {
    const char* const end = source.data() + source.size();
    const char* const marker = sound ? end : find_byte(source.data(), end, kMarkerOpen);
    const std::string_view piece(source.data(), static_cast<size_t>(marker - source.data()));
    if (undo_escapes && find_byte(source.data(), marker, '\\') != marker) {
      auto* const room = reinterpret_cast<char*>(log_.room(segment, piece.size()));
      log_.written(segment, static_cast<size_t>(write_unescaped(room, piece) - room), sound);
    } else {
      log_.data(segment, piece, sound);
    }
    if (marker == end) return;
    log_.reference(segment, static_cast<uint32_t>(marker_at(source, piece.size())));
    source.remove_prefix(piece.size() + kMarkerBytes);
  }
}

// --- members that pass as they came ----------------------------------------------------------

// Bytes of source of the longest name that a configured path may have.
constexpr size_t kMaxNameSource = 500 * 6;

// Reads the key that closes. It may contain escapes.
void Document::name_member() {
  const std::string_view source = std::string_view(out_).substr(string_begin_ + 1);
  std::string name;
  if (source.size() <= (follows() ? kMaxNameSource : kMaxMemberSource)) {
    append_unescaped(name, source);
  }
  if (options_.protect || reads_keys()) open_member(member_named(name, place()), string_begin_);
  if (follows()) follow(name);
}

// Source that streams into a segment is not protected there. The protected members of a result that
// does stream are, because they have to stay in the document too.
void Document::open_member(Member member, size_t begin) {
  if (protecting_) return;
  const Frame& frame = frames_.back();
  next_ = place_of(member, frame.place);
  if (!options_.protect) return;
  if (frames_.size() == 1) envelope_ = envelope_ || member == Member::jsonrpc;
  const bool streams =
      collapsed() && (is_deep() || frames_.size() > json_frame_ + 1 || !frame.body);
  if (streams || unspent_ == 0) return;
  wants_array_ = member == Member::icons;
  protecting_ = wants_array_ || is_protected(member, frame.place);
  protect_begin_ = begin;
  protect_depth_ = frames_.size();
}

// An object in an array has the place of the array's elements. A result in an array is no result.
Place Document::place_within(bool object) const {
  if (frames_.empty()) return Place::result;
  const Frame& around = frames_.back();
  if (around.object) return object ? place_of_object(next_) : next_;
  const bool holds = object && (around.place == Place::blocks || around.place == Place::entries);
  return holds ? place_of_object(around.place) : Place::elsewhere;
}

void Document::open_protected(uint8_t first) {
  if (wants_array_ && first != '[') protecting_ = false;
  wants_array_ = false;
}

void Document::close_member() {
  protecting_ = false;
  if (!frames_.back().body) return;
  std::string& members = members_[frames_.size() - 1];
  members += ',';
  members.append(out_, protect_begin_);
}

void Document::spend(uint64_t chars) {
  unspent_ -= std::min(unspent_, chars);
  if (unspent_ == 0) protecting_ = false;
}

// --- series of numbers: what a model can do least with -------------------------------------------

namespace {

// How many numbers of a series are told, and the longest of them.
constexpr uint64_t kFirst = 3;

// Numbers without decimals after which an array is no series.
constexpr uint64_t kTried = 16;
constexpr size_t kMaxTold = 24;

// Digits behind the point.
size_t count_decimals(std::string_view number) {
  const size_t point = number.find('.');
  if (point == number.npos) return 0;
  return std::min(number.find_first_not_of("0123456789", point + 1), number.size()) - point - 1;
}

// Close enough to find the least and the greatest.
double value_of(std::string_view number) {
  double value = 0;
  double scale = 1;
  int64_t exponent = 0;
  bool behind_point = false, behind_e = false, down = false;
  for (const char c : number) {
    if (c == '.') behind_point = true;
    if ((c | 0x20) == 'e') behind_e = true;
    if (c == '-') down = behind_e;
    if (!is_digit(c)) continue;
    if (behind_e) {
      exponent = std::min<int64_t>(exponent * 10 + (c - '0'), 400);
    } else {
      value = value * 10 + (c - '0');
      if (behind_point) scale *= 10;
    }
  }
  value /= scale;
  for (; exponent > 0; --exponent) value = down ? value / 10 : value * 10;
  return number[0] == '-' ? -value : value;
}

}  // namespace

// What streams already needs no closer look, but for the series that does.
bool Document::add_number(std::string_view number) {
  if (is_deep() || frames_.empty() || frames_.back().object || protecting_) return false;
  if (!options_.divert_text || (collapsed() && frames_.size() != json_frame_ + 1)) return false;
  // Most arrays are of integers.
  if (series_.count == kTried && series_.decimals == 0) return false;
  if (series_.count == 0) series_ = {};
  ++series_.count;
  series_.decimals += count_decimals(number) >= 4;
  if (number.size() <= kMaxTold) {
    if (series_.count <= kFirst) series_.first.append(series_.count > 1 ? ", " : "").append(number);
    const double value = value_of(number);
    if (series_.least.empty() || value < series_.low) {
      series_.low = value;
      series_.least = number;
    }
    if (series_.greatest.empty() || value > series_.high) {
      series_.high = value;
      series_.greatest = number;
    }
  }
  return series_.is_long() && !collapsed() && log_.size() < max_segments();
}

// --- places that the configuration names -----------------------------------------------------

namespace {

// Takes the next step off a configured path. Brackets are another spelling of dots.
std::string_view take_step(std::string_view& path) {
  path.remove_prefix(std::min(path.find_first_not_of(".[]"), path.size()));
  const std::string_view step = path.substr(0, path.find_first_of(".[]"));
  path.remove_prefix(step.size());
  return step;
}

std::string_view take_name(std::string_view& path) {
  const std::string_view name = path.substr(0, path.find('\0'));
  path.remove_prefix(std::min(name.size() + 1, path.size()));
  return name;
}

bool leads_to(std::string_view configured, std::string_view path) {
  if (configured.starts_with('$')) take_step(configured);
  while (!path.empty()) {
    const std::string_view step = take_step(configured);
    const std::string_view name = take_name(path);
    if (step.empty() || (step != "*" && step != name)) return false;
  }
  return take_step(configured).empty();
}

}  // namespace

void Document::follow(std::string_view name) {
  path_.resize(frames_.back().name);
  path_.append(name).append(1, '\0');
}

void Document::next_element() {
  constexpr size_t kMostDigits = 19;
  if (!follows() || in_object()) return;
  std::string_view last = std::string_view(path_).substr(frames_.back().name);
  follow(std::to_string(decimal(take_name(last), kMostDigits).value_or(0) + 1));
}

// A path begins at the outermost container, and in a `result` or `structuredContent` around the
// value.
std::optional<uint32_t> Document::find_field() const {
  constexpr int kMostWrappers = 3;
  if (!follows() || protecting_) return std::nullopt;
  std::string_view path = path_;
  for (int around = 0; around <= kMostWrappers && !path.empty(); ++around) {
    for (uint32_t index = 0; index < options_.fields->size(); ++index) {
      if (leads_to((*options_.fields)[index].field_path, path)) return index;
    }
    const std::string_view name = take_name(path);
    if (name != "result" && name != "structuredContent") break;
  }
  return std::nullopt;
}

// Takes the configured values between two places out of what leaves as a whole. Returns where that
// ends now.
size_t Document::take_fields(size_t begin, size_t end) {
  const auto first = std::find_if(named_.begin(), named_.end(),
                                  [&](const Named& named) { return named.begin >= begin; });
  auto at = first;
  size_t gone = 0;
  for (; at != named_.end() && at->begin < end; ++at) {
    const size_t from = at->begin - gone;
    const size_t size = at->size;
    const std::string marker =
        take_field(std::string_view(out_).substr(from + 1, size - 2), at->field);
    if (marker.empty()) continue;
    out_.replace(from + 1, size - 2, marker);
    const size_t less = size - 2 - marker.size();
    for (Frame& frame : frames_) {
      if (frame.begin > from) frame.begin -= less;
    }
    gone += less;
  }
  for (auto behind = at; behind != named_.end(); ++behind) behind->begin -= gone;
  named_.erase(first, at);
  return end - gone;
}

// The marker of a value that leaves; nothing where it stays.
std::string Document::take_field(std::string_view source, uint32_t field) {
  std::string marker;
  if (source.empty()) return marker;
  size_t markers = 0;
  for (; marker_at(source, markers) >= 0; markers += kMarkerBytes) {
    log_.segment(static_cast<uint32_t>(marker_at(source, markers))).field = field + 1;
  }
  if (markers == source.size()) return marker;
  // The last one is for what leaves as a whole.
  if (log_.size() + 1 >= max_segments()) return marker;
  std::string value;
  append_unescaped(value, source);
  std::optional<Payload> payload;
  if (source.find(kMarkerOpen) == source.npos) payload = read_encoded(value);
  if (payload && is_text_type((*options_.fields)[field].mime_type) && !is_printable(payload->bytes))
    payload.reset();
  if (payload && level_ > 0 && !fit_nested(*payload, source)) payload.reset();
  Spelling spelling;
  if (!payload && level_ > 0 && spelling.learn(source) < source.size()) return marker;
  const uint32_t index = log_.open(payload ? SegmentKind::run : SegmentKind::text);
  if (payload) {
    log_.segment(index).declared = payload->declared;
    log_.data(index, payload->bytes);
  } else {
    emit(index, source, true);
  }
  Segment& segment = log_.segment(index);
  if (payload) segment.form = payload->form;
  if (!payload && level_ > 0) segment.spelling = spelling.name();
  segment.field = field + 1;
  segment.whole = true;
  segment.chars = count_chars(source);
  log_.close(index);
  append_marker(marker, index);
  return marker;
}

// --- documents of many small values: which sub-tree goes, and how it streams by --------------

namespace {

// How many sub-trees are taken out of one container before the container itself goes.
constexpr uint32_t kMaxExtracted = 8;

// Extra segments beyond the limit, for the members of an envelope.
constexpr size_t kSpare = 16;

}  // namespace

void Document::open_container(bool object) {
  if (opens_deep()) {
    deep_.push_back(object);
    return;
  }
  const Place place = place_within(object);
  const bool body = place == Place::result && frames_.size() < members_.size();
  if (body) members_[frames_.size()].clear();
  next_ = Place::elsewhere;
  frames_.push_back({object, body, place, out_.size(), chars_, 0, {}});
  if (has_fields_) {
    frames_.back().name = path_.size();
    follow(object ? "" : "0");
  }
  series_.count = 0;
  if (place == Place::structured && structured_ == 0) {
    structured_ = frames_.size() - 1;
    set_bound();
  }
  if (frames_.size() <= options_.max_depth) return;
  protecting_ = false;
  if (collapsed()) return;
  if (log_.size() < max_segments()) {
    collapse(frames_.size() - 1);
  } else {
    saturate();
  }
}

void Document::close_container() {
  if (is_deep()) {
    deep_.pop_back();
    return;
  }
  const Frame frame = frames_.back();
  const uint64_t least = least_subtree();
  frames_.pop_back();
  if (has_fields_) path_.resize(frame.name);
  if (structured_ > 0 && frames_.size() <= structured_) {
    structured_ = 0;
    set_bound();
  }
  if (collapsed()) {
    if (frames_.size() == json_frame_ && level_ == 0) end_collapse(frame.body);
    return;
  }
  series_.count = 0;
  const uint64_t chars = chars_ - frame.chars;
  if (frames_.empty() || chars < least) return;
  Candidate& candidate = frames_.back().candidate;
  candidate = frame.candidate.valid ? frame.candidate
                                    : Candidate{frame.begin, out_.size(), chars, true, frame.body};
}

// How long a document may be; and the value of `structuredContent`, which stands in a text block
// beside it too.
void Document::set_bound() {
  bound_ = options_.divert_text ? options_.max_document_chars : UINT64_MAX;
  if (structured_ == 0 || !options_.divert_text) return;
  bound_ = std::min<uint64_t>(bound_, frames_[structured_].chars + options_.max_inline_size);
}

// Half of a document, or a quarter of a value that stands in a text as well: there strings that
// stay may be most of it.
uint64_t Document::least_subtree() const {
  return structured_ > 0 ? options_.max_inline_size / 4 : options_.max_document_chars / 2;
}

// Finds the sub-tree to take out: descends from the root while one child holds so much of the
// document. That is the smallest that helps. JSON in a text may be a file, which is edited and put
// back as a whole.
void Document::shrink() {
  while (overflows() && !frames_.empty()) {
    if (level_ > 0) return collapse(0);
    if (log_.size() >= max_segments()) {
      saturate();
      return;
    }
    const size_t root = chars_ > options_.max_document_chars ? 0 : structured_;
    const uint64_t least = least_subtree();
    size_t deepest = frames_.size() - 1;
    while (deepest > root && chars_ - frames_[deepest].chars < least) --deepest;
    Frame& frame = frames_[deepest];
    if (!frame.candidate.valid || frame.extracted >= kMaxExtracted) {
      if (deepest > 0 || !keeps_root()) collapse(deepest);
      return;
    }
    extract(frame);
  }
}

// Takes a closed sub-tree out of the text that is still here.
void Document::extract(Frame& frame) {
  Candidate candidate = frame.candidate;
  candidate.end = take_fields(candidate.begin, candidate.end);
  const uint32_t index = log_.open(SegmentKind::json);
  emit(index, std::string_view(out_).substr(candidate.begin, candidate.end - candidate.begin),
       false);
  Segment& segment = log_.segment(index);
  segment.whole = true;
  segment.chars = candidate.chars;
  if (candidate.body) segment.members = members_[1];
  log_.close(index);
  std::string marker = "\"";
  append_marker(marker, index);
  marker += '"';
  out_.replace(candidate.begin, candidate.end - candidate.begin, marker);
  const size_t bytes = candidate.end - candidate.begin - marker.size();
  const uint64_t chars = candidate.chars - std::min(candidate.chars, kReferenceChars);
  chars_ -= chars;
  for (Frame& later : frames_) {
    if (later.begin < candidate.end) continue;
    later.begin -= bytes;
    later.chars -= chars;
  }
  for (Named& named : named_) {
    if (named.begin >= candidate.end) named.begin -= bytes;
  }
  frame.candidate.valid = false;
  ++frame.extracted;
  set_bound();
}

// The container's source streams into a segment from here on; in a text that of all of it.
void Document::collapse(size_t frame) {
  if (level_ > 0) frame = 0;
  take_fields(level_ > 0 ? 0 : frames_[frame].begin, out_.size());
  json_ = log_.open(SegmentKind::json);
  json_frame_ = frame;
  json_begin_ = level_ > 0 ? 0 : frames_[frame].begin;
  chars_ = frames_[frame].chars;
}

void Document::end_collapse(bool body) {
  const auto index = static_cast<uint32_t>(json_);
  emit(index, std::string_view(out_).substr(json_begin_), false);
  out_.resize(json_begin_);
  Segment& segment = log_.segment(index);
  segment.whole = true;
  segment.chars = segment.bytes;
  if (body) segment.members = members_[json_frame_];
  log_.close(index);
  json_ = -1;
  if (series_.is_long()) {
    segment.description = "JSON, " + human_size(segment.bytes) + ": array of " +
                          grouped(series_.count) + " numbers from " + series_.least + " to " +
                          series_.greatest + ", the first " + series_.first;
    segment.excerpt.clear();
  }
  series_.count = 0;
  mark_value(index);
}

// An envelope may use a few more segments than its result.
size_t Document::max_segments() const {
  return options_.max_segments + (envelope_ && frames_.size() == 1 ? kSpare : 0);
}

// A response without its id answers nothing, so an envelope stays as long as something protected
// would.
bool Document::keeps_root() const {
  return envelope_ && chars_ <= options_.max_document_chars + kMaxProtected;
}

// The limit of segments is reached, so the outermost containers stay as they are.
void Document::saturate() {
  if (collapsed() || frames_.empty()) return;
  const bool inside = frames_.size() > 1 && (envelope_ || frames_[1].body) &&
                      log_.size() < options_.max_segments + kSpare;
  collapse(inside ? 1 : 0);
}

}  // namespace sluice::gate
