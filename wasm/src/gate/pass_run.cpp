// Runs and byte arrays on their way to the store: part of Gate::Pass.
#include <algorithm>
#include <cstring>
#include <utility>

#include "gate/pass.h"
#include "sluice/tape.h"

namespace sluice {

// The fast path: almost all bytes of a large run are decoded from the window straight into the log.
void Gate::Pass::run_straight() {
  if (!run_->is_plain() || end_ - at_ < 4) return;
  const Bytes rest{at_, end_};
  const Decoded done =
      decode(rest, run_->alphabet(), log_.room(segment_, decoded_capacity(rest.size())));
  log_.written(segment_, done.written);
  run_->passed(done.read);
  line_characters_ += done.read;
  segment_source_ += done.read;
  at_ += done.read;
}

bool Gate::Pass::run() {
  if (!run_ended_) {
    // Complete the quantum that an earlier piece left open.
    gate::Run::Step step = lex_run(run_->characters() + run_->missing());
    if (step == gate::Run::Step::full) {
      log_decoded();
      run_straight();
      step = lex_run(SIZE_MAX);
    }
    log_decoded();
    run_ended_ = step == gate::Run::Step::ended;
    if (!run_ended_) return false;
  }
  // What follows may say that the rest of the file is missing.
  const std::string_view behind = as_text(at_, end_).substr(0, gate::kBehindRun);
  if (behind.size() < gate::kBehindRun && !final_) return false;
  run_ended_ = false;
  log_.segment(segment_).cut = !run_->took_padding() && gate::is_cut(behind);
  end_run();
  return true;
}

gate::Run::Step Gate::Pass::lex_run(size_t most) {
  const uint8_t* begin = at_;
  const gate::Run::Step step = run_->lex(at_, end_, final_, most);
  count_lines(begin);
  segment_source_ += static_cast<size_t>(at_ - begin);
  return step;
}

void Gate::Pass::log_decoded() {
  bytes_.clear();
  run_->decode(bytes_);
  log_.data(segment_, bytes_);
}

// Counts lines and characters of the source that was read since `from`.
void Gate::Pass::count_lines(const uint8_t* from) {
  while (const void* found = std::memchr(from, '\n', static_cast<size_t>(at_ - from))) {
    ++line_;
    line_characters_ = 0;
    from = static_cast<const uint8_t*>(found) + 1;
  }
  line_characters_ += count_chars(as_text(from, at_));
}

// Puts source back to be read again. It may be longer than what the window still holds of it.
void Gate::Pass::put_back(std::string_view source) {
  const auto lines = std::count(source.begin(), source.end(), '\n');
  line_ -= static_cast<uint64_t>(lines);
  line_characters_ = lines > 0 ? 0 : line_characters_ - source.size();
  const auto here = static_cast<size_t>(at_ - window_.data());
  const size_t lost = source.size() - std::min(source.size(), here);
  window_.insert(window_.begin(), source.begin(), source.begin() + static_cast<ptrdiff_t>(lost));
  filled_ += lost;
  at_ = window_.data() + (here + lost - source.size());
  end_ = window_.data() + filled_;
  plain_ = copied_ = stretch_ = at_;
}

void Gate::Pass::end_run() {
  run_->finish();
  log_decoded();
  const std::string& given_back = run_->given_back();
  Segment& segment = log_.segment(segment_);
  segment.form = run_->form();
  segment.chars = segment_source_ - given_back.size();
  if (in_items_) return end_items();
  log_.close(segment_);
  document_.mark(segment_);
  copied_ = stretch_ = at_;
  if (run_->in_items()) {
    // An item that does not continue this run may begin another.
    put_back(given_back);
  } else {
    document_.text(given_back, count_chars(given_back), false);
  }
  mid_word_ = !run_->took_padding();
  lane_ = Lane::exact;
  expect_ = Expect::in_string;
  run_.reset();
}

// Replaces the items by one string. An item that does not continue this run may begin another.
void Gate::Pass::end_items() {
  put_back(run_->given_back());
  const size_t quote = run_->last_feed().size() + 1;  // of the last item
  at_ += quote;
  line_characters_ += quote;
  Segment& segment = log_.segment(segment_);
  segment.chars += quote;
  segment.whole = true;
  segment.bare = run_->bare();
  log_.close(segment_);
  run_.reset();
  in_items_ = false;
  plain_ = at_;
  document_.mark_value(segment_);
  end_value();
}

bool Gate::Pass::bytes() {
  const uint8_t* begin = at_;
  bytes_.clear();
  const gate::ByteReader::Step step = reader_->lex(at_, end_, final_, SIZE_MAX, bytes_);
  count_lines(begin);
  segment_source_ += count_chars(as_text(begin, at_));
  log_.data(segment_, bytes_);
  if (step == gate::ByteReader::Step::more) return false;
  end_bytes(step == gate::ByteReader::Step::closed);
  return true;
}

// An array or object that breaks off keeps how it begins and its rest; the bytes so far become its
// first element.
void Gate::Pass::end_bytes(bool closed) {
  Segment& segment = log_.segment(segment_);
  segment.form = reader_->form(closed);
  segment.chars = segment_source_;
  segment.whole = closed && !array_in_string_;
  segment.bare = !array_in_string_;
  std::string separator = reader_->separator();
  const bool object = segment.form.encoding == Encoding::byte_object;
  reader_.reset();
  if (array_in_string_) {
    log_.close(segment_);
    document_.mark(segment_);
    if (!closed) document_.text(separator, count_chars(separator), true);
    copied_ = stretch_ = at_;
    mid_word_ = false;
    expect_ = Expect::in_string;
    return;
  }
  plain_ = at_;
  if (closed) {
    log_.close(segment_);
    document_.mark_value(segment_);
    end_value();
    return;
  }
  const std::string prefix = std::exchange(segment.form.prefix, "");
  log_.close(segment_);
  if (object) {
    // The next key is no number.
    separator.pop_back();
    put_back("\"");
  }
  document_.open_container(object);
  document_.source(prefix);
  document_.mark_value(segment_);
  document_.source(separator);
  document_.count(prefix.size() + separator.size());
  expect_ = object ? Expect::key : Expect::value;
}

// Treats a bracket as text, since no array of byte values begins there.
void Gate::Pass::settle_bracket() {
  const bool due = expect_ == Expect::value || expect_ == Expect::value_or_end;
  if (!status_.ok() || !due || consumed_ == filled_ || window_[consumed_] != '[') return;
  at_ = plain_ = window_.data() + consumed_;
  end_ = window_.data() + filled_;
  wait_until_ = 0;
  if (open(false)) pass_space();
  lay();
  consumed_ = static_cast<size_t>(at_ - window_.data());
}

// Nothing is extracted from a protected member, and a number or word may continue.
bool Gate::Pass::open_bytes(std::string_view declared, std::string_view filename) {
  settle_bracket();
  const bool due = expect_ == Expect::value || expect_ == Expect::value_or_end;
  if (!status_.ok() || !due || consumed_ != filled_ || document_.protecting()) return false;
  if (!document_.admits_run()) return false;
  segment_ = log_.open(SegmentKind::run);
  log_.segment(segment_).declared = declared;
  log_.segment(segment_).filename = filename;
  return true;
}

uint8_t* Gate::Pass::bytes_room(size_t size) {
  return log_.room(segment_, size);
}

void Gate::Pass::bytes_written(size_t size) {
  log_.written(segment_, size);
}

void Gate::Pass::close_bytes() {
  Segment& segment = log_.segment(segment_);
  segment.whole = true;
  segment.chars = (segment.bytes + 2) / 3 * 4 + 2;
  log_.close(segment_);
  document_.mark_value(segment_);
  end_value();
}

}  // namespace sluice
