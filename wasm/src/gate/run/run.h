// The exact lexer of base64 and hex runs in JSON string source, and its decoder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gate/run/token.h"
#include "sluice/codec.h"
#include "sluice/sniff.h"

namespace sluice::gate {

/// Limits of the lines of a wrapped run, in characters.
inline constexpr size_t kMinColumn = 16;
inline constexpr size_t kMaxColumn = 1024;

/// Maximum bytes of source of a line break with its indentation.
inline constexpr size_t kMaxBreak = 96;

/// Maximum characters of an item of a list that is one run, and of source between two items.
inline constexpr size_t kMaxItem = 131'072;
inline constexpr size_t kMaxItemBreak = 88;

/// The bytes of a line feed at `at`, however escaped, if a quote follows it, else 0. Empty if bytes
/// are missing.
std::optional<size_t> read_feed(const uint8_t* at, const uint8_t* end, bool final,
                                std::string_view quote);

/// Reads one run. A run has one form: alphabet, spelling of the special characters, padding, line
/// length, line break. A change of form ends it. The result does not depend on how the input is cut
/// into pieces: incomplete elements stay with the caller, and a line that may not belong to the run
/// is held here.
///
///   JVBERi0xLjQK…rest of line 1 \n line 2 … \n last li=
///   └──────── first ──────────┘└break┘└ column ┘└─ held ─┘
///
/// Items of a list count as lines: all but the last have the same length, and the line break is
/// `","` as it is escaped at that place, or `\n","` where items are lines of one file.
class Run {
 public:
  enum class Step : uint8_t {
    more,   ///< all available bytes were read
    full,   ///< the budget is used up
    ended,  ///< the run has ended: call `finish`
  };

  /// `uri`: the run is in a data: URI, where characters may be percent-encoded.
  explicit Run(bool hex, bool uri = false) : hex_(hex), uri_(uri) {
    form_.encoding = hex ? Encoding::hex : Encoding::base64;
  }

  /// A run that begins with an item of a list. `quote` is the source of the quote before it:
  /// without backslashes it opens a JSON string, and the run is outside of strings. An item that
  /// has the signature of a file, one of the host's `signatures` included, does not continue a run.
  static Run item(std::string_view quote, const std::vector<Signature>& signatures);

  /// A run of pairs of hex digits, each behind `\x`. `mark` is the source of that prefix. Begins at
  /// a digit.
  static Run pairs(std::string_view mark);

  /// Reads elements and moves `at` behind them, up to `budget` characters in total.
  Step lex(const uint8_t*& at, const uint8_t* end, bool final, size_t budget);

  /// How many characters are missing to a whole quantum of four.
  size_t missing() const { return (4 - canon_.size() % 4) % 4; }

  /// Whether whole quanta that follow have neither escapes nor line breaks in them: the caller may
  /// decode them in place and calls `passed`. If not, `lex` has to read them.
  bool is_plain() const;
  void passed(size_t characters);
  Alphabet alphabet() const;

  /// After `ended`: decides about the last line and quantum. Source that does not belong to the run
  /// is in `given_back`.
  void finish();

  /// Decodes all whole quanta that certainly belong to the run and appends their bytes.
  void decode(std::string& bytes);

  /// Characters read so far, including those of a held line.
  size_t characters() const { return total_ + line_.size(); }
  /// Characters that are not decoded yet, in the standard alphabet, including those of a held line.
  std::string characters_at_hand() const { return canon_ + line_; }
  /// Whether the first line has another length than the others. Then the run may begin elsewhere.
  bool first_line_differs() const { return breaks_ > 0 && column_ != first_; }
  /// Bytes of source of the first line. Valid once there was a line break.
  size_t first_line_source() const { return first_source_; }
  /// Whether the run consists of items of a list, and the length of an item or line.
  bool in_items() const { return items_; }
  size_t column() const { return column_; }
  /// Bytes of source of the held item, including its separator and padding.
  size_t held_source() const { return line_source_.size() + pad_source_.size(); }
  /// Whether padding was read last. What follows is not part of the same word then.
  bool took_padding() const { return took_padding_; }

  const std::string& given_back() const { return given_back_; }
  /// After `finish`, of items outside of strings: the line feed in source before the quote that
  /// ends the last of them.
  const std::string& last_feed() const { return feed_; }
  /// After `finish`: whether the form describes JSON source, including the quotes of the items.
  bool bare() const { return bare_; }
  /// The form in terms of the decoded string. Valid after `finish`.
  const Form& form() const { return form_; }
  Form& form() { return form_; }

 private:
  bool take_letters(const uint8_t*& at, const uint8_t* end, size_t budget);
  size_t same_case(const uint8_t* at, size_t count);
  size_t plainly_spelled(const uint8_t* at, size_t count);
  bool is_plainly_spelled() const {
    return form_.encoding == Encoding::base64url || (plus_ == "+" && slash_ == "/");
  }
  bool take_special(TokenKind kind, std::string_view source);
  Step take_padding(const uint8_t*& at, const uint8_t* end, bool final);
  Step take_break(const uint8_t*& at, const uint8_t* end, bool final);
  Token token(const uint8_t* at, const uint8_t* end, bool final) const {
    return read_token(at, end, final, uri_);
  }
  Step take_item_end(const uint8_t*& at, const uint8_t* end, bool final, size_t feed);
  bool is_certain() const;
  bool is_tail(std::string_view characters, size_t over) const;
  bool accept_line();
  void next_line(std::string_view source);
  bool take_mark(const uint8_t*& at, const uint8_t* end);
  bool take_full_lines(const uint8_t*& at, const uint8_t* end, size_t budget);
  void take(const uint8_t* at, size_t count);
  void settle_line(bool certain);
  void settle_tail();
  std::string source_of_tail(size_t count) const;
  size_t room_in_line() const;

  Form form_;
  bool hex_;
  bool uri_;
  bool pairs_ = false;
  std::string quote_;  // in source, where items of a list may go on with the run
  const std::vector<Signature>* signatures_ = nullptr;
  bool items_ = false;  // they do: `break_` stands between items
  bool bare_ = false;
  bool alphabet_known_ = false;             // base64: a special was seen; hex: a letter was seen
  std::string plus_, slash_, pad_, break_;  // spellings in source; empty while not seen
  size_t total_ = 0;                        // certain characters since the run began
  size_t in_line_ = 0;
  size_t first_ = 0;   // length of the first line, once wrapped
  size_t column_ = 0;  // length of the others, once two breaks were seen
  size_t breaks_ = 0;
  size_t first_source_ = 0;
  size_t source_ = 0;        // bytes of source taken
  std::string canon_;        // certain characters not yet decoded
  std::string line_;         // characters of the line that is not certain yet
  std::string line_source_;  // its source, line break included
  size_t pads_ = 0;
  std::string pad_source_;
  bool took_padding_ = false;
  std::string feed_;        // of the item that ended last
  bool closed_ = false;     // the last item ends where its quote is
  bool last_item_ = false;  // … and the list does
  TokenKind terminator_ = TokenKind::other;
  uint8_t terminator_byte_ = 0;
  bool finished_ = false;
  std::string given_back_;
};

}  // namespace sluice::gate
