// One pass over one document: the JSON lexer that drives the gate.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gate/document.h"
#include "gate/run/byte_array.h"
#include "gate/run/probe.h"
#include "gate/run/run.h"
#include "gate/segment_log.h"
#include "sluice/gate.h"

namespace sluice {

/// Holds a window over the input: what is not consumed yet, and the bytes just pushed. Every
/// decision is made on bytes in the window. If they are not enough, the pass waits for more, so
/// chunk boundaries never change a result.
class Gate::Pass {
 public:
  explicit Pass(GateOptions options);

  uint8_t* input(size_t size);
  Status push(size_t size, bool final);
  Status finish();

  bool open_bytes(std::string_view declared, std::string_view filename);
  uint8_t* bytes_room(size_t size);
  void bytes_written(size_t size);
  void close_bytes();

  gate::SegmentLog& log() { return log_; }
  const std::string& reduced() const { return document_.out(); }

 private:
  enum class Expect : uint8_t {
    value,
    value_or_end,  // behind `[`
    key_or_end,    // behind `{`
    key,           // behind a comma in an object
    colon,
    comma_or_end,
    nothing,  // the document is complete
    in_string,
    in_run,
    in_bytes,  // inside bytes that are no run, in a string or not
  };
  enum class Lane : uint8_t { scan, exact };

  // Each step consumes what it can from `at_`. Returns false if it needs more bytes or set an
  // error.
  bool step();
  bool structure();
  bool begin_value(uint8_t c);
  bool begin_string(bool key);
  bool members();
  void name(std::string_view key);
  void after_string(bool key);
  void pass_space();
  void pass(size_t bytes, size_t characters);
  void lay();
  bool number();
  bool literal(std::string_view word);
  [[gnu::cold]] bool fail_word(std::string_view expected);
  bool open(bool object);
  bool close();
  void end_value();

  bool string();
  bool scan_lane();
  bool exact_lane();
  bool leave_exact_lane();
  bool special();
  bool escape();
  void pass_escape(size_t size);
  bool group(uint32_t length);
  void pass_bracket();
  bool word();
  [[gnu::cold]] bool percent();
  bool in_data_uri();
  bool try_run();
  [[gnu::cold]] bool try_pairs(uint32_t length);
  [[gnu::cold]] void begin_run(const gate::Verdict& verdict);
  bool try_array(bool in_string);
  bool try_object();
  [[gnu::cold]] std::optional<bool> try_bytes(gate::Spelled spelled, size_t prefix, size_t skip);
  std::string before() const;
  [[gnu::cold]] bool try_start();
  [[gnu::cold]] bool try_spelled();
  void begin_bytes(gate::Spelled spelled, bool in_string);
  bool try_items();
  void end_string();

  bool run();
  void run_straight();
  gate::Run::Step lex_run(size_t most);
  void log_decoded();
  bool bytes();
  [[gnu::cold]] void settle_bracket();
  void end_run();
  [[gnu::cold]] void end_items();
  void count_lines(const uint8_t* from);
  [[gnu::cold]] void put_back(std::string_view source);
  [[gnu::cold]] void end_bytes(bool closed);

  void commit(const uint8_t* upto);
  [[gnu::cold]] bool skip_byte_order_mark();
  bool wait();
  [[gnu::cold]] bool fail(Code code, const uint8_t* at, std::string_view message);

  GateOptions options_;
  gate::SegmentLog log_;
  gate::Document document_;

  std::vector<uint8_t> window_;
  size_t consumed_ = 0;  // of the window
  size_t filled_ = 0;
  size_t wait_until_ = 0;  // bytes in the window before another try is worth it
  const uint8_t* at_ = nullptr;
  const uint8_t* end_ = nullptr;
  const uint8_t* plain_ = nullptr;   // structure before this is in the document
  const uint8_t* copied_ = nullptr;  // string source before this is in the document
  bool ascii_ = true;                // string source behind `copied_`, as in a `Scan`
  bool sound_ = true;
  const uint8_t* stretch_ = nullptr;  // where the bytes that could be a run began
  bool final_ = false;

  Expect expect_ = Expect::value;
  bool begun_ = false;
  Lane lane_ = Lane::scan;
  bool key_ = false;
  bool detects_ = false;  // runs in the open string
  bool mid_word_ = false;
  bool armored_ = false;
  bool array_in_string_ = false;
  bool starts_ = false;         // the open string has just begun
  bool in_items_ = false;       // the run is items of an array, outside of strings
  size_t rejected_column_ = 0;  // items as long as those before them begin no run either
  uint32_t segment_ = 0;
  uint64_t segment_source_ = 0;
  std::optional<gate::Run> run_;
  bool run_ended_ = false;  // what follows is waited for
  std::unique_ptr<gate::ByteReader> reader_;
  std::string bytes_;

  uint64_t line_ = 1;
  uint64_t line_characters_ = 0;  // code points of this line already consumed
  Status status_;
};

}  // namespace sluice
