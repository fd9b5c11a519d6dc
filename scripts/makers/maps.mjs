/**
 * Maps.
 * @module
 */

/** @type {import("./main.mjs").Maker[]} */
export const makers = [
  {
    maker: "GDAL",
    debian: ["gdal-bin", "python3-gdal"],
    shell: `python3 - <<'X'
import json
json.dump({"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {"n": n}, "geometry": {"type": "Point", "coordinates": [n, n]}} for n in range(9)]}, open("p.geojson", "w"))
X
gdal_create -q -of GTiff -outsize 200 100 -bands 3 -a_srs EPSG:4326 -a_ullr 0 10 20 0 g.tif; gdal_translate -q -of COG g.tif cog.tif
ogr2ogr -f GPKG p.gpkg p.geojson -nln places; ogr2ogr -f "ESRI Shapefile" p.shp p.geojson; ogr2ogr -f FlatGeobuf p.fgb p.geojson; ogr2ogr -f KML p.kml p.geojson; ogr2ogr -f GPX p.gpx p.geojson || true; ogr2ogr -f GeoJSON q.geojson p.geojson; ogr2ogr -f DXF p.dxf p.geojson
gdal_translate -q -of MBTILES -outsize 256 256 g.tif m.mbtiles || true; ogr2ogr -f LIBKML p.kmz p.geojson || true`,
    files: {
      "g.tif": ["TIFF", "200 × 100", "EPSG:4326", "3 bands"],
      "cog.tif": ["TIFF", "200 × 100", "EPSG:4326"],
      "p.gpkg": ["GeoPackage", '"places"'],
      "p.shp": ["shapefile", "points"],
      "p.fgb": ["FlatGeobuf map"],
      "p.kml": ["KML map", "9 places"],
      "p.gpx": ["GPX"],
      "q.geojson": ["GeoJSON", "9 features"],
      "m.mbtiles": ["MBTiles map"],
      "p.kmz": ["KMZ map"],
    },
  },
  {
    maker: "GPSBabel",
    debian: ["gpsbabel"],
    shell: `printf 'lat,lon,name\\n1,2,a\\n3,4,b\\n5,6,c\\n' > w.csv; gpsbabel -i unicsv -f w.csv -o gpx -F waypoints.gpx -o kml -F waypoints.kml -o geojson -F waypoints.geojson; gpsbabel -i unicsv -f w.csv -x transform,trk=wpt -o gpx -F track.gpx -o gdb -F track.gdb || true`,
    files: {
      "waypoints.gpx": ["GPX", /3 (?:points|places|waypoints)/],
      "track.gpx": ["GPX track", "3 points"],
      "waypoints.kml": ["KML map", "3 places"],
      "waypoints.geojson": ["GeoJSON", "3 features"],
    },
  },
  {
    maker: "osmium and osmctools",
    debian: ["osmium-tool", "osmctools"],
    shell: `printf '<osm version="0.6"><node id="1" version="1" timestamp="2020-01-01T00:00:00Z" lat="1" lon="2"/><node id="2" version="1" timestamp="2020-01-01T00:00:00Z" lat="1" lon="3"/><way id="1" version="1" timestamp="2020-01-01T00:00:00Z"><nd ref="1"/><nd ref="2"/></way></osm>' > o.osm; osmium cat --no-progress --overwrite o.osm -o osm.pbf -f pbf; osmium cat --no-progress --overwrite o.osm -o osmium.osm; osmconvert o.osm --out-o5m > m.o5m`,
    files: {
      "osm.pbf": [/OpenStreetMap/],
      "osmium.osm": ["OpenStreetMap data", "2 nodes"],
      "m.o5m": [/OpenStreetMap/],
    },
  },
  {
    maker: "PyShp",
    debian: ["python3-pyshp"],
    python: `
import shapefile
w = shapefile.Writer("pyshp", shapeType=shapefile.POLYGON); w.field("name", "C")
for n in range(4): w.poly([[[n, 0], [n, 1], [n + 1, 1], [n, 0]]]); w.record("x")
w.close()
`,
    files: { "pyshp.shp": ["shapefile", "polygons"], "pyshp.dbf": [/dBASE/, "4 rows"] },
  },
  {
    maker: "GeoPandas and Fiona",
    debian: ["python3-geopandas", "python3-fiona"],
    python: `
import geopandas
from shapely.geometry import Point
f = geopandas.GeoDataFrame({"n": range(6)}, geometry=[Point(n, n) for n in range(6)], crs="EPSG:4326")
f.to_file("pandas.geojson", driver="GeoJSON"); f.to_file("pandas.gpkg", driver="GPKG", layer="spots"); f.to_file("pandas.shp")
`,
    files: {
      "pandas.geojson": ["GeoJSON", "6 features"],
      "pandas.gpkg": ["GeoPackage", '"spots"'],
      "pandas.shp": ["shapefile", "points"],
    },
  },
  {
    maker: "Rasterio",
    debian: ["python3-rasterio"],
    python: `
import rasterio, numpy
from rasterio.transform import from_origin
with rasterio.open("rio.tif", "w", driver="GTiff", width=60, height=40, count=2, dtype="uint8", crs="EPSG:32632", transform=from_origin(500000, 5000000, 10, 10)) as d: d.write(numpy.zeros((2, 40, 60), dtype="uint8"))
`,
    files: { "rio.tif": ["TIFF", "60 × 40", "EPSG:32632", "2 bands"] },
  },
  {
    maker: "SpatiaLite",
    debian: ["spatialite-bin"],
    shell: `rm -f sl.sqlite; spatialite -silent sl.sqlite "CREATE TABLE towns(id INTEGER); SELECT AddGeometryColumn('towns','g',4326,'POINT','XY');" >/dev/null 2>&1`,
    files: { "sl.sqlite": [/SQLite|SpatiaLite/, "towns"] },
  },
  {
    maker: "GDAL's rasters",
    debian: ["gdal-bin"],
    shell: `gdal_create -q -of GTiff -outsize 30 20 -bands 1 -a_srs EPSG:4326 -a_ullr 0 10 20 0 s.tif; gdal_translate -q -of AAIGrid s.tif s.asc; gdal_translate -q -of VRT s.tif s.vrt; gdal_translate -q -of PNG s.tif s.png; gdal_translate -q -of netCDF s.tif s.nc || true; gdal_translate -q -of GPKG s.tif s.gpkg; gdal_translate -q -of PDF s.tif s.pdf || true; gdal_translate -q -of HFA s.tif s.img; gdal_translate -q -of SRTMHGT s.tif N00E000.hgt 2>/dev/null || true`,
    files: {
      "s.asc": [/grid|text/, "30 × 20"],
      "s.vrt": [/VRT|XML/],
      "s.gpkg": ["GeoPackage", '"s"'],
      "s.img": [/ERDAS|Imagine/],
    },
  },
  {
    maker: "GDAL's vectors",
    debian: ["gdal-bin"],
    shell: `printf 'id,x,y\\n1,2,3\\n2,3,4\\n' > v.csv; for f in "GML v.gml" "GeoJSONSeq v.geojsonl" "MapInfo_File v.mif" "PGDUMP v.sql" "DGN v.dgn" "GeoRSS v.rss" "JML v.jml" "MVT v.mvt" "TopoJSON v.topojson"; do set -- $f; ogr2ogr -f "$(echo $1 | tr _ ' ')" $2 v.csv -oo X_POSSIBLE_NAMES=x -oo Y_POSSIBLE_NAMES=y -a_srs EPSG:4326 2>/dev/null || true; done`,
    files: { "v.gml": [/GML/, "2 features"], "v.geojsonl": [/NDJSON|GeoJSON/, "2 lines"] },
  },
  {
    maker: "tokml, togpx and topojson",
    npm: ["tokml@0.4.0", "togpx@0.5.4", "topojson-server@3.0.1"],
    node: `
import { writeFileSync } from "node:fs";
import tokml from "tokml";
import togpx from "togpx";
import { topology } from "topojson-server";
const map = { type: "FeatureCollection", features: [1, 2, 3].map((n) => ({ type: "Feature", properties: { name: "p" + n }, geometry: { type: "Point", coordinates: [n, n] } })) };
writeFileSync("tokml.kml", tokml(map)); writeFileSync("togpx.gpx", togpx(map)); writeFileSync("npm.topojson", JSON.stringify(topology({ map })));
`,
    files: {
      "tokml.kml": ["KML map", "3 places"],
      "togpx.gpx": ["GPX", /3 (?:points|places|waypoints)/],
      "npm.topojson": ["TopoJSON"],
    },
  },
  {
    maker: "flatgeobuf and geotiff",
    npm: ["flatgeobuf@4.5.0", "geotiff@3.0.5"],
    node: `
import { writeFileSync } from "node:fs";
import { geojson } from "flatgeobuf";
import { writeArrayBuffer } from "geotiff";
const map = { type: "FeatureCollection", features: [1, 2, 3].map((n) => ({ type: "Feature", properties: { name: "p" + n }, geometry: { type: "Point", coordinates: [n, n] } })) };
writeFileSync("npm.fgb", geojson.serialize(map));
writeFileSync("npm.tif", Buffer.from(writeArrayBuffer(new Uint8Array(600), { width: 30, height: 20, GeographicTypeGeoKey: 4326 })));
`,
    files: { "npm.fgb": ["FlatGeobuf map", "3 features"], "npm.tif": ["TIFF", "30 × 20", "EPSG:4326"] },
  },
];
