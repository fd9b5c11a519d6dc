// Runs and byte arrays on their way to the store: part of Gate::Pass.
#include <algorithm>

#include "gate/pass.h"

namespace sluice {

bool Gate::Pass::run() {
  const uint8_t* begin = at_;
  const gate::Run::Step step = run_->lex(at_, end_, final_, SIZE_MAX);
  const auto taken = static_cast<size_t>(at_ - begin);
  segment_source_ += taken;
  line_characters_ += taken;
  if (step == gate::Run::Step::ended) {
    end_run();
    return true;
  }
  bytes_.clear();
  run_->decode(bytes_);
  log_.data(segment_, bytes_);
  return false;
}

void Gate::Pass::end_run() {
  run_->finish();
  bytes_.clear();
  run_->decode(bytes_);
  log_.data(segment_, bytes_);
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
  if (closed) {
    log_.close(segment_);
    document_.mark_value(segment_);
    end_value();
    return;
  }
  segment.form.prefix.clear();
  log_.close(segment_);
  document_.open_container(false);
  document_.mark_value(segment_);
  document_.source(separator);
  expect_ = Expect::value;
}

}  // namespace sluice
