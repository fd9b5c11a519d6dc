// Strings of a document that stream, as text or as JSON in JSON. Part of Document.
#include <algorithm>
#include <utility>

#include "gate/document.h"
#include "gate/inner.h"
#include "sluice/tape.h"
#include "text/ascii.h"
#include "text/block.h"

namespace sluice::gate {

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

// Source of the end of a line.
constexpr size_t kLineEnd = 2;

// Where the next line begins behind a place, or npos.
size_t find_line(std::string_view source, size_t from) {
  for (size_t at = source.find("\\n", from); at != source.npos;
       at = source.find("\\n", at + kLineEnd)) {
    const size_t before = source.substr(0, at).find_last_not_of('\\');
    const size_t slashes = at - (before == source.npos ? 0 : before + 1);
    if (slashes % 2 == 0) return at + kLineEnd;
  }
  return source.npos;
}

// Where the line begins that closes a fence (CommonMark §4.5), or npos.
size_t find_fence_end(std::string_view source, size_t from, size_t ticks) {
  for (size_t at = find_line(source, from); at != source.npos; at = find_line(source, at)) {
    if (source.substr(at).find_first_not_of('`') >= ticks &&
        source.substr(at, ticks).size() == ticks)
      return at;
  }
  return source.npos;
}

}  // namespace

// The first characters of the part of the open string at hand: as many as it may have, however many
// are there.
std::string_view Document::see_part() const {
  const std::string_view all = std::string_view(out_).substr(part_begin_);
  const uint64_t kept = string_chars_ - count_string(part_begin_, out_.size());
  const uint64_t most =
      options_.max_inline_size - std::min<uint64_t>(kept, options_.max_inline_size);
  size_t end = 0;
  for (size_t counted = 0; end < all.size();) {
    const size_t size = element_size(all.substr(end));
    counted += all[end] == kMarkerOpen ? kReferenceChars : size;
    if (counted > most) break;
    end += size;
  }
  return all.substr(0, end);
}

// Where JSON begins in the open string: in out_, or npos. The first characters of a part decide. A
// value that is complete by then is not what makes the string long. A string that is all of the
// text is one, too.
size_t Document::find_inner() const {
  constexpr size_t kMostTries = 8;
  const std::string_view all = std::string_view(out_).substr(part_begin_);
  bool quoted = all.starts_with("\\\"") && part_begin_ == string_begin_ + 1;
  const size_t first = quoted ? 0 : all.find_first_of("[{");
  const size_t most = options_.max_inline_size / 2;
  if (first >= most || string_chars_ <= options_.max_inline_size || level_ >= kMaxInner) {
    return std::string::npos;
  }
  const std::string_view seen = see_part();
  size_t tries = 0;
  for (size_t at = first; at < std::min(seen.size(), most) && tries < kMostTries;
       at = seen.find_first_of("[{", at + 1), quoted = false) {
    if (!quoted && !may_begin_value(seen, at)) continue;
    // As the first element of a list, which goes on.
    std::string text = quoted ? "[" : "";
    append_unescaped(text, seen.substr(at));
    Outline outline;
    outline.push(as_bytes(text));
    if (outline.is_open() && (!quoted || outline.finish().empty())) {
      text.clear();
      append_unescaped(text, seen.substr(0, at));
      return text.find_first_not_of(kWhite) == text.npos ? part_begin_ : part_begin_ + at;
    }
    ++tries;
  }
  return std::string::npos;
}

// Where the text begins that leaves: within the first fence that is most of its part, or with the
// part.
size_t Document::find_fenced() {
  constexpr size_t kFewestTicks = 3;
  fence_ = 0;
  if (field_ || string_chars_ <= options_.max_inline_size) return part_begin_;
  const std::string_view seen = see_part();
  const size_t most = options_.max_inline_size / 2;
  // Behind a value the first fence closes that around it.
  bool closes = part_begin_ > string_begin_ + 1;
  for (size_t at = 0; at < std::min(seen.size(), most);) {
    const size_t ticks = std::min(seen.find_first_not_of('`', at), seen.size()) - at;
    const size_t line = find_line(seen, at);
    if (line == seen.npos) break;
    const bool bare = line - at == ticks + kLineEnd;
    at = line;
    if (ticks < kFewestTicks) continue;
    if (std::exchange(closes, false) && bare) continue;
    const size_t end = find_fence_end(seen, line - kLineEnd, ticks);
    if (end == seen.npos || end - line > most) {
      fence_ = ticks;
      part_source_ = string_source_ - count_source(part_begin_ + line);
      return part_begin_ + line;
    }
    at = std::min(find_line(seen, end), seen.size());
  }
  return part_begin_;
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
  std::string_view source = std::string_view(out_).substr(text_begin_, cut - text_begin_);
  const size_t closes = fence_ > 0 ? find_fence_end(source, 0, fence_) : source.npos;
  if (closes != source.npos) {
    source = source.substr(0, closes - kLineEnd);
  } else if (fence_ > 0) {
    // A line of ticks may go on.
    const size_t ticks = source.find_last_not_of('`') + 1;
    const bool begins = find_line(source, ticks - std::min(ticks, kLineEnd)) == ticks;
    if (begins) source = source.substr(0, ticks - kLineEnd);
  }
  const size_t taken = inner_ ? advance_inner(source) : advance_text(source);
  if (taken < source.size() || closes != source.npos || (inner_ && inner_->is_over())) {
    return end_part(text_begin_ + taken);
  }
  if (inner_) inner_->flush(all);
  out_.erase(text_begin_, taken);
  sound_begin_ = text_begin_ + (sound_begin_ - std::min(text_begin_ + taken, sound_begin_));
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
  fence_ = 0;
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
    if (streams() && fence_ > 0) {
      fence_ = 0;
      continue;
    }
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

}  // namespace sluice::gate
