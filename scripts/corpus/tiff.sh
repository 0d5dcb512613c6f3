#!/bin/sh
# Creates the TIFF files of test/corpus/files that come from GDAL 3.6 (`gdal-*`) and libtiff 4.5 (`tiffcp-*`), and those with
# unusual tags (`tags-*`). Needs gdal-bin, libtiff-tools, ImageMagick and Python.
cd "$(dirname "$0")/../../test/corpus/files" || exit 1
here=png-PNG24.png
geo() { # geo <name> <options…>: with coordinates, as a GeoTIFF
  out=gdal-$1.tif; shift
  gdal_translate -q -a_srs EPSG:4326 -a_ullr 13.0 52.6 13.5 52.3 "$@" "$out" && rm -f "$out.aux.xml"
}

geo deflate -co COMPRESS=DEFLATE -co PREDICTOR=2 -mo AREA=test $here
geo tiled -co TILED=YES -co BLOCKXSIZE=16 -co BLOCKYSIZE=16 -co COMPRESS=LZW $here
geo large-tile -co TILED=YES -co BLOCKXSIZE=512 -co BLOCKYSIZE=512 -co COMPRESS=DEFLATE $here
geo band -co INTERLEAVE=BAND -a_nodata 0 $here
geo jpeg -co COMPRESS=JPEG -co PHOTOMETRIC=YCBCR $here
geo webp -co COMPRESS=WEBP $here
geo zstd -co COMPRESS=ZSTD $here
geo bigtiff -co BIGTIFF=YES $here
geo one-bit -b 1 -scale 0 255 0 1 -co NBITS=1 $here
geo four-bits -b 1 -scale 0 255 0 15 -co NBITS=4 $here
geo miniswhite -b 1 -co PHOTOMETRIC=MINISWHITE $here
geo two-bands -b 1 -b 2 $here
geo five-bands -b 1 -b 2 -b 3 -b 1 -b 2 -co COMPRESS=DEFLATE $here
geo mask -b 1 -b 2 -b 3 -mask 4 --config GDAL_TIFF_INTERNAL_MASK YES png-PNG32.png
geo uint16 -b 1 -ot UInt16 -scale 0 255 0 60000 $here
geo int16 -b 1 -ot Int16 -scale 0 255 -100 8000 -a_nodata -9999 $here
geo int32 -b 1 -ot Int32 $here
geo float32 -b 1 -ot Float32 -scale 0 255 -10.5 800.25 -a_nodata -9999 -co COMPRESS=DEFLATE $here
geo float64 -b 1 -ot Float64 -co COMPRESS=LZW -co PREDICTOR=3 $here
geo complex -b 1 -ot CFloat32 $here
convert -size 600x400 gradient:red-blue -depth 8 large.png
geo cog -of COG -co COMPRESS=DEFLATE large.png
convert $here -depth 8 -compress none plain.tif
tiffcp -c lzw:2 plain.tif tiffcp-lzw.tif
tiffcp -c packbits -r 5 plain.tif tiffcp-strips.tif
tiffcp -p separate -c zip plain.tif tiffcp-separate.tif
tiffcp -t -w 16 -l 16 -c zip plain.tif tiffcp-tiles.tif
tiffcp -B plain.tif tiffcp-big-endian.tif
tiffcp -c lzma plain.tif tiffcp-lzma.tif
tiffcp -c g3:2d tiff-fax.tif tiffcp-g3.tif
python3 ../../../scripts/corpus/tags.py plain.tif
rm -f large.png plain.tif
