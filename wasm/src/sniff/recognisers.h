// The recognisers: each reads the head of one family of files, starting where its signature stands.
#pragma once

#include <cstdint>
#include <optional>

#include "sluice/bytes.h"
#include "sniff/structure.h"
#include "sniff/types.h"

namespace sluice::sniffing {

/// A recognised head. `certain`: neither text nor random data gets here by chance.
struct Match {
  Kind kind;
  bool certain = true;
};

/// Looks at a head and says what it is, or nothing.
using Recogniser = std::optional<Match> (*)(Bytes head);

// containers.cpp: ZIP (APPNOTE.TXT 6.3) and OLE ([MS-CFB])
std::optional<Match> zip(Bytes head);
std::optional<Kind> refine_by_both_ends(const Glimpse& file);
std::optional<Match> ole(Bytes head);

// media.cpp: chunk files, little-endian (RIFF, RF64) and big-endian (IFF, AIFF, DjVu)
std::optional<Match> riff(Bytes head);
std::optional<Match> iff(Bytes head);

// media.cpp: ISO/IEC 14496-12 boxes, QuickTime atoms, JPEG 2000 and JPEG XL containers
std::optional<Match> boxes(Bytes head);

// media.cpp: RFC 8794
std::optional<Match> ebml(Bytes head);

// media.cpp: RFC 3533
std::optional<Match> ogg(Bytes head);

// media.cpp: Advanced Systems Format
std::optional<Match> asf(Bytes head);

// media.cpp: ID3v2, MPEG audio frames, ADTS, program and transport streams
std::optional<Match> id3(Bytes head);
std::optional<Match> mpeg_frames(Bytes head);
std::optional<Match> program_stream(Bytes head);
std::optional<Match> transport_stream(Bytes head);

// containers.cpp: archives
std::optional<Match> tar(Bytes head);
std::optional<Match> bzip2(Bytes head);
std::optional<Match> skippable_frame(Bytes head);
std::optional<Match> ar(Bytes head);
std::optional<Match> cpio(Bytes head);

// images.cpp
std::optional<Match> jpeg(Bytes head);
std::optional<Match> bmp(Bytes head);
std::optional<Match> icon(Bytes head);
std::optional<Match> jxl_codestream(Bytes head);
std::optional<Match> fits(Bytes head);

// programs.cpp: OpenType table directory
std::optional<Match> sfnt(Bytes head);

// programs.cpp
std::optional<Match> dos_program(Bytes head);
std::optional<Match> cafebabe(Bytes head);

// programs.cpp: data files
std::optional<Match> hdf5(Bytes head);
std::optional<Match> arrow_stream(Bytes head);
std::optional<Match> pcapng(Bytes head);
std::optional<Match> sqlite(Bytes head);
std::optional<Match> las(Bytes head);
std::optional<Match> pickle(Bytes head);
std::optional<Match> der(Bytes head);

// values.cpp
std::optional<Match> messagepack(Bytes head);
std::optional<Match> cbor(Bytes head);
bool is_bson(const Glimpse& file);

// tables.cpp: what a few fields have to agree on
std::optional<Match> netpbm(Bytes head);
std::optional<Match> arj(Bytes head);
std::optional<Match> fat(Bytes head);
std::optional<Match> ext(Bytes head);
std::optional<Match> matlab_4(Bytes head);
std::optional<Match> mrc(Bytes head);
std::optional<Match> mgh(Bytes head);
std::optional<Match> dbase(Bytes head);
std::optional<Match> pgp(Bytes head);

// text_formats.cpp
std::optional<Match> postscript(Bytes head);
std::optional<Match> marked_up(Bytes head);

/// What the built-in table says of a head, containers refined.
std::optional<Match> match_signatures(Bytes head);

}  // namespace sluice::sniffing
