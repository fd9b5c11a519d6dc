#include "gate/document.h"

#include <algorithm>
#include <iterator>

#include "sluice/tape.h"
#include "text/block.h"

namespace sluice::gate {

// --- members with a meaning ------------------------------------------------------------------

namespace {

struct Name {
  std::string_view name;
  Member member;
};

constexpr Name kNames[] = {
    {"jsonrpc", Member::jsonrpc},     {"result", Member::result},
    {"content", Member::blocks},      {"messages", Member::blocks},
    {"contents", Member::entries},    {"tools", Member::entries},
    {"resources", Member::entries},   {"resourceTemplates", Member::entries},
    {"prompts", Member::entries},     {"tasks", Member::entries},
    {"task", Member::entries},        {"roots", Member::entries},
    {"resource", Member::resource},   {"icons", Member::icons},
    {"_meta", Member::meta},          {"requestState", Member::fixed},
    {"inputRequests", Member::fixed}, {"inputResponses", Member::fixed},
    {"nextCursor", Member::fixed},    {"resultType", Member::fixed},
};

}  // namespace

// Most keys are those of rows, so `elsewhere` needs no search.
Member member_named(std::string_view name, Place place) {
  if (place == Place::elsewhere) return name == "icons" ? Member::icons : Member::other;
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
  return Place::elsewhere;
}

Place place_of_object(Place place) {
  if (place == Place::blocks) return Place::block;
  return place == Place::entries ? Place::entry : place;
}

bool is_protected(Member member, Place place) {
  if (member == Member::meta) return place != Place::elsewhere;
  return member == Member::fixed && place == Place::result;
}

// --- the text --------------------------------------------------------------------------------

void Document::source(std::string_view text) {
  out_.append(text);
}

void Document::open_string() {
  in_string_ = true;
  string_begin_ = out_.size();
  string_chars_ = 0;
  string_source_ = 0;
  stays_plain_ = !options_.divert_text;
  out_ += '"';
  sound_begin_ = out_.size();
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
  if (text_ < 0 && !stays_plain_ && string_chars_ > limit) start_text();
}

void Document::start_text() {
  protecting_ = false;
  if (log_.size() >= max_segments() && !frames_.empty()) {
    saturate();
    stays_plain_ = true;
    return;
  }
  text_ = log_.open(SegmentKind::text);
  text_begin_ = string_begin_ + 1;
}

bool Document::is_mangled() const {
  if (protecting_ || !options_.detect_runs || string_chars_ < options_.min_run_chars) return false;
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
  if (text_ < 0 && !stays_plain_ && is_mangled()) start_text();
  if (text_ >= 0) {
    end_text();
  } else if (!key) {
    mark_if_whole();
  } else if (options_.protect) {
    name_member();
  }
  out_ += '"';
  count(string_chars_ + 2);
  in_string_ = false;
}

void Document::end_text() {
  const auto index = static_cast<uint32_t>(text_);
  emit(index, std::string_view(out_).substr(text_begin_), true, sound_begin_ <= text_begin_);
  out_.resize(string_begin_ + 1);
  Segment& segment = log_.segment(index);
  segment.whole = true;
  segment.chars = string_source_;
  log_.close(index);
  text_ = -1;
  append_marker(out_, index);
  string_chars_ = kReferenceChars;
}

void Document::mark_if_whole() {
  if (out_.size() != string_begin_ + 1 + kMarkerBytes) return;
  const int32_t index = marker_at(out_, string_begin_ + 1);
  if (index >= 0) log_.segment(static_cast<uint32_t>(index)).whole = true;
}

std::string_view Document::behind() const {
  const std::string_view all(out_);
  const size_t begin = text_ >= 0 ? text_begin_ : string_begin_ + 1;
  return all.substr(std::max(begin, all.size() - std::min(all.size(), kReach)));
}

std::string_view Document::tail() const {
  const std::string_view all(out_);
  return all.substr(all.size() - std::min(all.size(), kReach));
}

bool Document::admits_run() {
  if (log_.size() < max_segments()) return true;
  if (!collapsed() && text_ < 0 && !frames_.empty()) {
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

}  // namespace

// Where the preceding text may be cut: after no escape that could combine with what follows.
size_t Document::text_cut() const {
  if (out_.size() < text_begin_ + 2 * kReach) return text_begin_;
  const size_t wanted = out_.size() - kReach;
  // A surrogate pair is 12 bytes long, so without a backslash in the 12 bytes before there is
  // nothing to cut.
  constexpr size_t kPair = 12;
  size_t clear = 0;
  for (size_t cut = wanted; cut > text_begin_ && wanted - cut < 16 * kReach; --cut) {
    clear = out_[cut - 1] == '\\' || out_[cut - 1] == kMarkerOpen ? 0 : clear + 1;
    if (clear > kPair) return cut + kPair;
  }
  // With dense escapes, walk from the start, which is always a boundary.
  size_t at = text_begin_;
  size_t safe = at;
  while (at < wanted) {
    at += element_size(std::string_view(out_).substr(at));
    if (at <= wanted) safe = at;
  }
  return safe;
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

void Document::flush() {
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
    protect_begin_ -= std::min(moved, protect_begin_);
  }
  if (text_ >= 0) {
    const size_t cut = text_cut();
    emit(static_cast<uint32_t>(text_),
         std::string_view(out_).substr(text_begin_, cut - text_begin_), true,
         sound_begin_ <= text_begin_);
    out_.erase(text_begin_, cut - text_begin_);
    sound_begin_ = text_begin_ + (sound_begin_ - std::min(cut, sound_begin_));
  }
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

// Reads the key that closes. It may contain escapes.
void Document::name_member() {
  const std::string_view source = std::string_view(out_).substr(string_begin_ + 1);
  std::string name;
  if (source.size() <= kMaxMemberSource) append_unescaped(name, source);
  open_member(member_named(name, place()), string_begin_);
}

// Source that streams into a segment is not protected there. The protected members of a result that
// does stream are, because they have to stay in the document too.
void Document::open_member(Member member, size_t begin) {
  if (protecting_) return;
  const Frame& frame = frames_.back();
  next_ = place_of(member, frame.place);
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
  frames_.pop_back();
  if (collapsed()) {
    if (frames_.size() == json_frame_) end_collapse(frame.body);
    return;
  }
  const uint64_t chars = chars_ - frame.chars;
  if (frames_.empty() || chars < options_.max_document_chars / 2) return;
  Candidate& candidate = frames_.back().candidate;
  candidate = frame.candidate.valid ? frame.candidate
                                    : Candidate{frame.begin, out_.size(), chars, true, frame.body};
}

// Finds the sub-tree to take out: descends from the root while one child holds at least half of the
// document limit. That is the smallest that helps.
void Document::shrink() {
  while (overflows() && !frames_.empty()) {
    if (log_.size() >= max_segments()) {
      saturate();
      return;
    }
    size_t deepest = frames_.size() - 1;
    while (deepest > 0 && chars_ - frames_[deepest].chars < options_.max_document_chars / 2)
      --deepest;
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
  const Candidate candidate = frame.candidate;
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
  frame.candidate.valid = false;
  ++frame.extracted;
}

// The container's source streams into a segment from here on.
void Document::collapse(size_t frame) {
  json_ = log_.open(SegmentKind::json);
  json_frame_ = frame;
  json_begin_ = frames_[frame].begin;
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
