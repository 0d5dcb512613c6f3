#!/bin/sh
# Creates the files of test/corpus/files of further programs: each writes its format in its own way. Needs Debian's packages
# graphicsmagick, netpbm, webp, apngasm, gifsicle, libavif-bin, librsvg2-bin, potrace, graphviz, gnuplot-nox, qrencode, zint,
# pngquant, optipng, libjpeg-turbo-progs, ffmpeg, ghostscript, groff, djvulibre-bin, sox, lame, vorbis-tools, opus-tools and
# libopenjp2-tools. A missing program is reported, and its file stays unchanged.
cd "$(dirname "$0")/../../test/corpus/files" || exit 1
try() { # try <file> <command…>
  out=$1; shift
  "$@" >/dev/null 2>&1 </dev/null && [ -s "$out" ] || { rm -f "$out"; echo "not made: $out" >&2; }
}
to() { # to <file> <command…>: the command writes to its standard output
  out=$1; shift
  "$@" >"$out" 2>/dev/null </dev/null && [ -s "$out" ] || { rm -f "$out"; echo "not made: $out" >&2; }
}
W=$(mktemp -d)
trap 'rm -rf "$W"' EXIT
convert -size 64x48 gradient:red-blue -fill white -draw 'circle 32,24 32,10' -depth 8 -strip "PNG24:$W/a.png"
convert -size 64x48 gradient:green-yellow -fill black -draw 'rectangle 10,10 30,40' -depth 8 -strip "PNG24:$W/b.png"
convert -size 64x48 xc:none -fill '#c80032' -draw 'circle 32,24 32,6' -depth 8 -strip "PNG32:$W/clear.png"
convert "$W/a.png" "$W/a.ppm"; convert "$W/a.png" -monochrome "$W/a.pbm"; convert "$W/b.png" "$W/b.ppm"

# Animations
try img2webp.webp img2webp -loop 2 -lossless -d 80 "$W/a.png" -lossy -q 60 -d 120 "$W/b.png" -o img2webp.webp
cp "$W/a.png" "$W/frame1.png"; cp "$W/b.png" "$W/frame2.png"
try apngasm.png apngasm apngasm.png "$W/frame1.png" 1 10
convert -delay 20 "$W/a.png" "$W/b.png" "$W/moving.gif"
try gifsicle.gif gifsicle -O3 --lossy=40 --interlace "$W/moving.gif" -o gifsicle.gif
try gif2webp.webp gif2webp -mixed "$W/moving.gif" -o gif2webp.webp
try avifenc-sequence.avif avifenc -s 9 --min 30 --max 40 --fps 5 "$W/a.png" "$W/b.png" -o avifenc-sequence.avif

# Still images
try cwebp-near.webp cwebp -near_lossless 40 -alpha_q 50 "$W/clear.png" -o cwebp-near.webp
try avifenc-ten.avif avifenc -s 9 -d 10 -y 444 "$W/a.png" avifenc-ten.avif
try avifenc-alpha.avif avifenc -s 9 --irot 1 "$W/clear.png" avifenc-alpha.avif
try avifenc-grey.avif avifenc -s 9 -y 400 "$W/a.png" avifenc-grey.avif
to cjpeg-arithmetic.jpg cjpeg -arithmetic -quality 80 "$W/a.ppm"
to cjpeg-rgb.jpg cjpeg -rgb -quality 80 "$W/a.ppm"
to cjpeg-restarts.jpg cjpeg -progressive -restart 1 -smooth 10 "$W/a.ppm"
convert "$W/a.png" -sampling-factor 1x2 -quality 80 "$W/odd.jpg"
to jpegtran.jpg jpegtran -rotate 90 -progressive "$W/odd.jpg"
try gm.jpg gm convert "$W/a.png" -comment 'of GraphicsMagick' gm.jpg
try gm.tif gm convert "$W/a.png" -compress LZW -endian MSB gm.tif
try gm-fax.tif gm convert "$W/a.pbm" -compress Fax gm-fax.tif
try optipng.png optipng -quiet -clobber -i 1 -o 3 "$W/b.png" -out optipng.png
try pngquant.png pngquant 16 --force --output pngquant.png "$W/clear.png"
to netpbm.png pnmtopng -interlace -text /dev/null "$W/a.ppm"
to netpbm.bmp ppmtobmp -windows "$W/a.ppm"
pnmquant 16 "$W/a.ppm" >"$W/few.ppm" 2>/dev/null
to netpbm-os2.bmp ppmtobmp -os2 "$W/few.ppm"
to netpbm.ico ppmtowinicon "$W/few.ppm"
to netpbm.sgi pnmtosgi "$W/a.ppm"
to netpbm.gif ppmtogif -interlace "$W/few.ppm"
to netpbm.xpm ppmtoxpm "$W/few.ppm"
try openjpeg-lossy.jp2 opj_compress -i "$W/a.ppm" -o openjpeg-lossy.jp2 -r 20,10,1 -I -p RPCL
try cjxl-progressive.jxl cjxl -d 1 -p "$W/a.png" cjxl-progressive.jxl
try cjxl-jpeg.jxl cjxl --lossless_jpeg=1 gm.jpg cjxl-jpeg.jxl
try ffmpeg.exr ffmpeg -y -bitexact -i "$W/a.png" -compression zip16 ffmpeg.exr

# Drawings
to potrace.svg potrace -s -o - "$W/a.pbm"
printf 'digraph { rankdir=LR; node [style=filled fillcolor=gold]; a -> b -> c; a -> c [label="and"] }' >"$W/a.dot"
to graphviz.svg dot -Tsvg "$W/a.dot"
to graphviz.pdf dot -Tpdf "$W/a.dot"
try gnuplot.svg gnuplot -e "set term svg size 200,150; set output 'gnuplot.svg'; plot sin(x)"
try qrencode.svg qrencode -t SVG --rle -o qrencode.svg 'a text of its own'
try qrencode.png qrencode -t PNG -o qrencode.png 'a text of its own'
try zint.emf zint -d 12345 -o zint.emf
try zint.gif zint -b QRCODE -d 12345 -o zint.gif
try zint.pcx zint -d 12345 -o zint.pcx
try rsvg.pdf rsvg-convert -f pdf -o rsvg.pdf qrencode.svg

# Documents
cat >"$W/page.ps" <<'PS'
%!PS
<< /PageSize [200 150] >> setpagedevice
0.9 0.2 0.1 setrgbcolor 20 20 90 110 rectfill 0 setgray /Helvetica findfont 24 scalefont setfont 60 60 moveto (Page) show showpage
PS
for d in psdrgb:psd bmp16m:bmp tiffg4:tif pcx24b:pcx; do
  try "gs-${d%:*}.${d#*:}" gs -q -dNOPAUSE -dBATCH -r36 -sDEVICE="${d%:*}" -o "gs-${d%:*}.${d#*:}" "$W/page.ps"
done
printf '.LP\nA page of groff\n.br\nwith two lines.\n' >"$W/page.ms"
to groff.pdf groff -ms -Tpdf "$W/page.ms"
try c44.djvu c44 -slice 40 "$W/a.ppm" c44.djvu

# Sound
try sox.wav sox -n -r 22050 -e ima-adpcm sox.wav synth 0.3 sine 440
try sox.8svx sox -n -r 8000 -b 8 sox.8svx synth 0.2 sine 440
try sox.aifc sox -n -r 22050 sox.aifc synth 0.2 sine 440
sox -n -r 44100 -b 16 -c 1 "$W/tone.wav" synth 0.3 sine 440 2>/dev/null
try lame.mp3 lame --quiet -V 5 --tt Tone --tc own "$W/tone.wav" lame.mp3
try oggenc.ogg oggenc -Q -q 1 -o oggenc.ogg "$W/tone.wav"
try opusenc.opus opusenc --quiet --bitrate 32 "$W/tone.wav" opusenc.opus
