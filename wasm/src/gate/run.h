// The exact lexer of base64 and hex runs in JSON string source, and its decoder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "gate/token.h"
#include "sluice/codec.h"
#include "sluice/form.h"
#include "sluice/sniff.h"

namespace sluice::gate {

/// Shortest first line that a newline may continue, and longest line of any run, in characters.
inline constexpr size_t kMinColumn = 16;
inline constexpr size_t kMaxColumn = 1024;

/// Longest line break with its indentation, in bytes of source.
inline constexpr size_t kMaxBreak = 96;

/// Longest item of a list that others may continue, in characters, and most source between two.
inline constexpr size_t kMaxItem = 131'072;
inline constexpr size_t kMaxItemBreak = 88;

/// Follows one run. It keeps to one uniform form: alphabet, spelling of the specials, padding,
/// column, line break. A change of form ends it. Chunk boundaries are data: elements that are not
/// complete stay with the caller, the line that is not certain yet is held here.
///
///   JVBERi0xLjQK…rest of line 1 \n line 2 … \n last li=
///   └──────── first ──────────┘└break┘└ column ┘└─ held ─┘
///
/// Items of a list are lines, too, all of one length but the last: the break is then `","` in the
/// spelling of where the list stands.
class Run {
 public:
  enum class Step : uint8_t {
    more,   ///< the bytes at hand are used up
    full,   ///< the budget is used up
    ended,  ///< the run is over: call `finish`
  };

  /// `uri`: in a data: URI, where characters may be percent-encoded.
  explicit Run(bool hex, bool uri = false) : hex_(hex), uri_(uri) {
    form_.encoding = hex ? Encoding::hex : Encoding::base64;
  }

  /// What an item of a list begins with; `quote` is the source of the quote before it. A quote
  /// without backslashes opens a JSON string: the whole run then stands outside of strings. An item
  /// that begins like a file of its own, by the host's `signatures` too, continues nothing.
  static Run item(std::string_view quote, const std::vector<Signature>& signatures);

  /// Pairs of hex digits, each behind `\x` in some escaping: `mark` is its source. Begins at a
  /// digit.
  static Run pairs(std::string_view mark);

  /// Reads elements from `at`, which moves forward over what was taken, until `budget` characters
  /// in all.
  Step lex(const uint8_t*& at, const uint8_t* end, bool final, size_t budget);

  /// Characters that complete the open quantum.
  size_t missing() const { return (4 - canon_.size() % 4) % 4; }

  /// How many characters at `at` are whole quanta, plainly spelled, of a run that is not wrapped:
  /// the caller decodes them where they stand and tells so by `passed`. 0 whenever the exact way
  /// has to be taken.
  size_t plain_span(const uint8_t* at, const uint8_t* end) const;
  void passed(size_t characters);
  Alphabet alphabet() const;

  /// After `ended`: settles the last line and quantum. What does not belong to the run after all is
  /// `given_back`, as source.
  void finish();

  /// Appends the bytes of whole quanta that are certain, and forgets their characters.
  void decode(std::string& bytes);

  /// Characters seen, those of a held line included.
  size_t characters() const { return total_ + line_.size(); }
  /// The characters not yet decoded, in the standard spelling, those of a held line included.
  std::string characters_at_hand() const { return canon_ + line_; }
  /// Whether a shorter or longer first line makes it doubtful that the run begins where it seems
  /// to.
  bool first_line_differs() const { return breaks_ > 0 && column_ != first_; }
  /// Bytes of source of the first line; meaningful once the run is wrapped.
  size_t first_line_source() const { return first_source_; }
  /// Whether it goes on from item to item, and how long they are.
  bool in_items() const { return items_; }
  size_t column() const { return column_; }
  /// Bytes of source of the item that is not certain yet, what separates it and its padding
  /// included.
  size_t held_source() const { return line_source_.size() + pad_source_.size(); }
  /// Whether padding was the last that was taken: what follows is no part of the same word.
  bool took_padding() const { return took_padding_; }

  const std::string& given_back() const { return given_back_; }
  /// After `finish`: whether the form speaks of JSON source, the quotes of the items included.
  bool bare() const { return bare_; }
  /// The form in terms of the string's own text; meaningful after `finish`.
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
  Step take_item_end(const uint8_t*& at, const uint8_t* end, bool final);
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
  bool closed_ = false;     // the last item ends where its quote is
  bool last_item_ = false;  // … and the list does
  TokenKind terminator_ = TokenKind::other;
  uint8_t terminator_byte_ = 0;
  bool finished_ = false;
  std::string given_back_;
};

}  // namespace sluice::gate
