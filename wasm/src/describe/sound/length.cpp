#include "describe/sound/length.h"

#include <string>

#include "describe/families.h"

namespace sluice {
namespace {

/// Nothing lasts longer: what says so is broken.
constexpr uint64_t kMostSeconds = 10'000 * 3'600;

void append_two_digits(std::string& line, uint64_t number) {
  line += static_cast<char>('0' + number / 10);
  line += static_cast<char>('0' + number % 10);
}

sound::Length length_of(const Glimpse& file) {
  using Reader = sound::Length (*)(const Glimpse&);
  static constexpr Reader kReaders[] = {sound::wav_length, sound::aiff_length, sound::flac_length,
                                        sound::ogg_length, sound::mp3_length,  sound::mp4_length};
  for (const Reader read : kReaders) {
    const sound::Length length = read(file);
    if (length.units > 0 && length.rate > 0) return length;
  }
  return {};
}

}  // namespace

void append_length(std::string& line, const Glimpse& file) {
  const auto [units, rate] = length_of(file);
  if (rate == 0) return;
  const uint64_t seconds = units / rate + (units % rate >= rate - rate / 2 ? 1 : 0);
  if (seconds == 0 || seconds > kMostSeconds) return;
  const uint64_t hours = seconds / 3'600;
  line += ", ";
  if (hours > 0) {
    line += std::to_string(hours);
    line += ':';
    append_two_digits(line, seconds / 60 % 60);
  } else {
    line += std::to_string(seconds / 60);
  }
  line += ':';
  append_two_digits(line, seconds % 60);
}

}  // namespace sluice
