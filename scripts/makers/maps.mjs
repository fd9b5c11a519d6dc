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
];
