#include "gate/pass.h"

#include <algorithm>
#include <cstring>

#include "gate/scan.h"
#include "sluice/tape.h"

namespace sluice {

namespace {

// Maximum reduced text. Only reached if diverting is switched off.
constexpr size_t kMaxReduced = size_t{512} << 20;

}  // namespace

Gate::Pass::Pass(GateOptions options)
    : options_(std::move(options)), log_(options_), document_(options_, log_) {}

uint8_t* Gate::Pass::input(size_t size) {
  const size_t left = filled_ - consumed_;
  if (consumed_ > 0 && left > 0) std::memmove(window_.data(), window_.data() + consumed_, left);
  consumed_ = 0;
  filled_ = left;
  if (window_.size() < left + size) window_.resize(left + size);
  return window_.data() + left;
}

Status Gate::Pass::push(size_t size, bool final) {
  if (!status_.ok()) return status_;
  filled_ += size;
  final_ = final;
  if (!final && filled_ < wait_until_) return status_;
  wait_until_ = 0;
  at_ = window_.data();
  end_ = at_ + filled_;
  if (begun_ || skip_byte_order_mark()) {
    plain_ = copied_ = stretch_ = at_;
    while (step()) {
    }
    if (expect_ < Expect::in_string) lay();
  }
  consumed_ = static_cast<size_t>(at_ - window_.data());
  if (status_.ok()) document_.flush();
  if (status_.ok() && document_.out().size() > kMaxReduced) {
    fail(Code::too_large, at_,
         "the reduced document exceeds 512 MiB; leave auto_artifact_large_content on");
  }
  return status_;
}

// Skips a byte order mark (RFC 8259 §8.1). False while it is not certain whether there is one.
bool Gate::Pass::skip_byte_order_mark() {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  const size_t size = std::min(kMark.size(), filled_);
  const bool matches = kMark.substr(0, size) == as_text({at_, size});
  if (matches && size < kMark.size() && !final_) return false;
  if (matches && size == kMark.size()) at_ += size;
  begun_ = true;
  return true;
}

Status Gate::Pass::finish() {
  input(0);
  push(0, true);
  if (status_.ok() && expect_ != Expect::nothing) {
    fail(Code::json_end, end_, "the document ends before it is complete");
  }
  return status_;
}

bool Gate::Pass::step() {
  if (!status_.ok()) return false;
  switch (expect_) {
    case Expect::in_string:
      return string();
    case Expect::in_run:
      return run();
    case Expect::in_bytes:
      return bytes();
    default:
      return structure();
  }
}

// Waits for more bytes. What is not finished starts at `at_`.
bool Gate::Pass::wait() {
  const auto left = static_cast<size_t>(end_ - at_);
  // Try again once the window has grown by half, since each try reads all of it.
  wait_until_ = left < 64 ? 0 : left + left / 2;
  return false;
}

// Copies string source up to a position, counts it, and moves there.
void Gate::Pass::commit(const uint8_t* upto) {
  const std::string_view source = as_text(copied_, upto);
  const size_t chars = ascii_ ? source.size() : count_chars(source);
  document_.text(source, chars, sound_);
  line_characters_ += chars;
  copied_ = upto;
  ascii_ = sound_ = true;
}

bool Gate::Pass::fail(Code code, const uint8_t* at, std::string_view message) {
  status_.code = code;
  status_.message = message;
  const uint8_t* from = expect_ == Expect::in_string ? copied_ : at_;
  status_.line = line_;
  status_.column = line_characters_ + count_chars(as_text(std::min(from, at), at)) + 1;
  return false;
}

Gate::Gate(GateOptions options) : pass_(std::make_unique<Pass>(std::move(options))) {}
Gate::~Gate() = default;
Gate::Gate(Gate&&) noexcept = default;
Gate& Gate::operator=(Gate&&) noexcept = default;

uint8_t* Gate::input(size_t size) {
  return pass_->input(size);
}

Status Gate::push(size_t size) {
  return pass_->push(size, false);
}

Status Gate::push(Bytes bytes) {
  if (!bytes.empty()) std::memcpy(pass_->input(bytes.size()), bytes.data(), bytes.size());
  return bytes.empty() ? Status{} : pass_->push(bytes.size(), false);
}

bool Gate::open_bytes(std::string_view declared, std::string_view filename) {
  return pass_->open_bytes(declared, filename);
}

uint8_t* Gate::bytes_room(size_t size) {
  return pass_->bytes_room(size);
}

void Gate::bytes_written(size_t size) {
  pass_->bytes_written(size);
}

void Gate::close_bytes() {
  pass_->close_bytes();
}

Status Gate::finish() {
  return pass_->finish();
}

std::string& Gate::events() {
  return pass_->log().events();
}

const std::string& Gate::reduced() const {
  return pass_->reduced();
}

Segment& Gate::segment(uint32_t index) {
  return pass_->log().segment(index);
}

const std::vector<Segment>& Gate::segments() const {
  return pass_->log().segments();
}

}  // namespace sluice
