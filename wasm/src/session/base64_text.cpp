#include "session/base64_text.h"

#include <algorithm>

namespace sluice {

// Characters up to the padding go to `open_`; nothing may follow padding.
bool Base64Text::take(std::string_view text) {
  const size_t pad = text.find('=');
  const std::string_view letters = text.substr(0, pad);
  if (!letters.empty() && pads_ > 0) return false;
  url_ = url_ || letters.find_first_of("-_") != std::string_view::npos;
  standard_ = standard_ || letters.find_first_of("+/") != std::string_view::npos;
  if (url_ && standard_) return false;
  open_ += letters;
  characters_ += letters.size();
  if (pad == std::string_view::npos) return true;
  const std::string_view pads = text.substr(pad);
  if (pads.find_first_not_of('=') != std::string_view::npos) return false;
  pads_ += pads.size();
  return pads_ <= 2;
}

bool Base64Text::take_words(std::string_view text) {
  constexpr std::string_view kWhite = " \t\r\n";
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(kWhite), text.size());
    if (end > 0 && !take(text.substr(0, end))) return false;
    if (end == text.size()) break;
    loose_ = true;
    text.remove_prefix(end + 1);
  }
  return true;
}

bool Base64Text::push(std::string_view text, std::string& bytes) {
  if (!take_words(text)) return false;
  const size_t whole = open_.size() / 4 * 4;
  const size_t before = bytes.size();
  bytes.resize(before + decoded_capacity(whole));
  const Decoded done = sluice::decode(as_bytes(std::string_view(open_).substr(0, whole)),
                                      url_ ? Alphabet::url : Alphabet::standard,
                                      reinterpret_cast<uint8_t*>(bytes.data()) + before);
  bytes.resize(before + done.written);
  open_.erase(0, whole);
  return done.read == whole;
}

bool Base64Text::finish(std::string& bytes) {
  if (characters_ == 0) return false;
  const size_t over = open_.size();
  padded_ = over == 0 || pads_ > 0;
  if (pads_ != 0 && (over == 0 || over + pads_ != 4)) return false;
  if (over == 0) return true;
  uint8_t tail[4];
  const auto size = decode_tail(as_bytes(open_), url_ ? Alphabet::url : Alphabet::standard, tail);
  if (!size) return false;
  bytes.append(reinterpret_cast<const char*>(tail), *size);
  return true;
}

Form Base64Text::form() const {
  Form form;
  form.encoding = url_ ? Encoding::base64url : Encoding::base64;
  form.padded = padded_;
  return form;
}

}  // namespace sluice
