// Kinds of file by the trade of the people who use them: what a description says first of each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "facts/kinds.h"

namespace sluice::families {

/// Writes the facts of a kind, with their commas. Nothing of a person is among them.
using Append = void (*)(std::string& line, const Glimpse& file);

// data.cpp: tables and arrays
void append_tables(std::string& line, const Glimpse& file);
void append_parquet(std::string& line, const Glimpse& file);
void append_array(std::string& line, const Glimpse& file);
void append_stata(std::string& line, const Glimpse& file);
// measurements.cpp
void append_fits(std::string& line, const Glimpse& file);
void append_netcdf(std::string& line, const Glimpse& file);
void append_nifti(std::string& line, const Glimpse& file);
void append_dicom(std::string& line, const Glimpse& file);
// places.cpp: maps, models and scanned pages
void append_shapes(std::string& line, const Glimpse& file);
void append_points(std::string& line, const Glimpse& file);
void append_tiff(std::string& line, const Glimpse& file);
void append_dwg(std::string& line, const Glimpse& file);
// shapes.cpp: models, volumes, maps
void append_meshes(std::string& line, const Glimpse& file);
void append_ply(std::string& line, const Glimpse& file);
void append_map_sides(std::string& line, const Glimpse& file);
void append_mgh_sides(std::string& line, const Glimpse& file);
void append_volume(std::string& line, const Glimpse& file);
void append_features(std::string& line, const Glimpse& file);
void append_avro(std::string& line, const Glimpse& file);
void append_leaves(std::string& line, const Glimpse& file);
// keys.cpp
void append_certificate(std::string& line, const Glimpse& file);
// captures.cpp
void append_packets(std::string& line, const Glimpse& file);
void append_blocks(std::string& line, const Glimpse& file);

/// `, 12 rows`; nothing for a number that no file has.
void append_sane_count(std::string& line, uint64_t count, std::string_view noun);

/// The text from `at` on, at most `size` bytes of it.
std::string_view read_text(Bytes bytes, uint64_t at, uint64_t size);

}  // namespace sluice::families
