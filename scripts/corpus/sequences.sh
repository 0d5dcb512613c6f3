#!/bin/sh
# Creates the animations of AVIF, HEIC and JPEG XL in test/corpus/files with avifenc (libavif), ffmpeg and cjxl (libjxl).
cd "$(dirname "$0")/../../test/corpus/files" || exit 1
try() { # try <file> <command…>
  out=$1; shift
  "$@" >/dev/null 2>&1 </dev/null && [ -s "$out" ] || { rm -f "$out"; echo "not made: $out" >&2; }
}
frames=$(mktemp -d)
i=0
for colour in '#c80000' '#00c800' '#0000c8' '#c8c800'; do
  i=$((i + 1))
  # A white square moves to the right.
  square="rectangle $((i * 10)),10 $((i * 10 + 8)),25"
  convert -size 64x48 "xc:$colour" -fill white -draw "$square" -depth 8 -strip "PNG24:$frames/$i.png"
  convert "$frames/$i.png" \( -size 48x64 gradient:white-black -rotate 90 \) -alpha off -compose CopyOpacity -composite \
    -depth 8 -strip "PNG32:$frames/alpha-$i.png"
done
of() { for n in 1 2 3 4; do printf '%s ' "$frames/$1$n.png"; done; }

# Frames of 0.1, 0.1, 0.3 and 0.3 s.
set -- $(of alpha-)
try avif-sequence.avif avifenc -s 6 --min 5 --max 12 --timescale 10 --duration 1 "$1" "$2" --duration 3 "$3" "$4" avif-sequence.avif
# A sequence without a still image: the track of a video, with the handler of images.
ffmpeg -v error -y -framerate 5 -i "$frames/%d.png" -c:v libx265 -x265-params log-level=none:bframes=3 -crf 5 -pix_fmt yuv444p -tag:v hvc1 \
  -brand msf1 -f mp4 "$frames/made.mp4" </dev/null
try heic-sequence.heic python3 -c "
import sys
made = bytearray(open(sys.argv[1], 'rb').read())
at = made.index(b'vide', made.index(b'hdlr'))
made[at:at + 4] = b'pict'
open('heic-sequence.heic', 'wb').write(made)" "$frames/made.mp4"
ffmpeg -v error -y -framerate 5 -i "$frames/alpha-%d.png" -plays 3 -f apng "$frames/made.apng" </dev/null
try jxl-sequence.jxl cjxl "$frames/made.apng" jxl-sequence.jxl -d 0
rm -r "$frames"
