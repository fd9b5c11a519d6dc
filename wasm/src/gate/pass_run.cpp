// Runs and byte arrays on their way to the store: part of Gate::Pass.
#include <algorithm>

#include "gate/pass.h"

namespace sluice {

// Almost all bytes of a large run take this way: from the window, decoded, into the log.
void Gate::Pass::run_straight() {
  const size_t size = run_->plain_span(at_, end_);
  if (size == 0) return;
  uint8_t* room = log_.room(segment_, decoded_capacity(size));
  log_.written(segment_, decode({at_, size}, run_->alphabet(), room).written);
  run_->passed(size);
  at_ += size;
}

bool Gate::Pass::run() {
  const uint8_t* begin = at_;
  // What an earlier piece left of a quantum is completed first.
  gate::Run::Step step = run_->lex(at_, end_, final_, run_->characters() + run_->missing());
  if (step == gate::Run::Step::full) {
    log_decoded();
    run_straight();
    step = run_->lex(at_, end_, final_, SIZE_MAX);
  }
  const auto taken = static_cast<size_t>(at_ - begin);
  segment_source_ += taken;
  line_characters_ += taken;
  if (step == gate::Run::Step::ended) {
    end_run();
    return true;
  }
  log_decoded();
  return false;
}

void Gate::Pass::log_decoded() {
  bytes_.clear();
  run_->decode(bytes_);
  log_.data(segment_, bytes_);
}

void Gate::Pass::end_run() {
  run_->finish();
  log_decoded();
  const std::string& given_back = run_->given_back();
  Segment& segment = log_.segment(segment_);
  segment.form = run_->form();
  segment.chars = segment_source_ - given_back.size();
  log_.close(segment_);
  document_.mark(segment_);
  const auto* source = reinterpret_cast<const uint8_t*>(given_back.data());
  document_.text(source, source + given_back.size());
  copied_ = stretch_ = at_;
  mid_word_ = true;
  lane_ = Lane::exact;
  expect_ = Expect::in_string;
  run_.reset();
}

bool Gate::Pass::array() {
  const uint8_t* begin = at_;
  bytes_.clear();
  const gate::ByteArray::Step step = array_->lex(at_, end_, final_, SIZE_MAX, bytes_);
  for (const uint8_t* p = begin; p < at_; ++p) {
    ++line_characters_;
    if (*p != '\n') continue;
    ++line_;
    line_characters_ = 0;
  }
  segment_source_ += static_cast<size_t>(at_ - begin);
  log_.data(segment_, bytes_);
  if (step == gate::ByteArray::Step::more) return false;
  end_array(step == gate::ByteArray::Step::closed);
  return true;
}

// An array that breaks off keeps its bracket and what follows; the bytes so far are its first
// element.
void Gate::Pass::end_array(bool closed) {
  Segment& segment = log_.segment(segment_);
  segment.form = array_->form(closed);
  segment.chars = segment_source_;
  segment.whole = closed && !array_in_string_;
  segment.bare = !array_in_string_;
  const std::string separator = array_->separator();
  array_.reset();
  if (array_in_string_) {
    log_.close(segment_);
    document_.mark(segment_);
    const auto* source = reinterpret_cast<const uint8_t*>(separator.data());
    if (!closed) document_.text(source, source + separator.size());
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
  segment.form.prefix.clear();
  log_.close(segment_);
  document_.open_container(false);
  document_.source("[");
  document_.mark_value(segment_);
  document_.source(separator);
  document_.count(1 + separator.size());
  expect_ = Expect::value;
}

}  // namespace sluice
