#!/bin/sh
# Creates the files of test/corpus/files with ImageMagick 6, ffmpeg, Info-ZIP, 7-Zip, bsdtar and the usual compressors.
# A missing program, or one without support for a format, is reported, and its file stays unchanged.
SCRIPTS=$(cd "$(dirname "$0")" && pwd)
cd "$SCRIPTS/../../test/corpus/files" || exit 1
try() { # try <file> <command…>
  out=$1; shift
  "$@" >/dev/null 2>&1 </dev/null && [ -s "$out" ] || { rm -f "$out"; echo "not made: $out" >&2; }
}
im() { out=$1; shift; try "$out" convert "$@"; }
PICTURE='-size 48x36 gradient:red-blue'

for f in jpg png gif webp bmp tif ico cur psd jp2 j2c avif heic jxl tga pcx dds dpx hdr pbm pgm ppm pam pfm xbm xpm sgi ras pict miff fits wbmp mng jng xwd viff vicar hrz dcx palm; do
  im "im.$f" $PICTURE "im.$f"
done
for c in none lzw zip jpeg rle; do im "tiff-$c.tif" $PICTURE -compress "$c" "tiff-$c.tif"; done
im tiff-fax.tif $PICTURE -monochrome -compress group4 tiff-fax.tif
im tiff-big-endian.tif $PICTURE -endian MSB tiff-big-endian.tif
im tiff-little-endian.tif $PICTURE -endian LSB tiff-little-endian.tif
im tiff-bigtiff.tif $PICTURE TIFF64:tiff-bigtiff.tif
im tiff-pages.tif $PICTURE $PICTURE tiff-pages.tif
im tiff-gray16.tif $PICTURE -colorspace Gray -depth 16 tiff-gray16.tif
im tiff-cmyk.tif $PICTURE -colorspace CMYK tiff-cmyk.tif
im tiff-palette.tif $PICTURE -type Palette tiff-palette.tif
im tiff-float.tif $PICTURE -define quantum:format=floating-point -depth 32 tiff-float.tif
im tiff-late-directory.tif -size 120x90 gradient:red-blue -compress none tiff-late-directory.tif
im jpeg-gray.jpg $PICTURE -colorspace Gray jpeg-gray.jpg
im jpeg-cmyk.jpg $PICTURE -colorspace CMYK jpeg-cmyk.jpg
im jpeg-progressive.jpg $PICTURE -interlace JPEG jpeg-progressive.jpg
im jpeg-420.jpg $PICTURE -sampling-factor 4:2:0 jpeg-420.jpg
im jpeg-q10.jpg $PICTURE -quality 10 jpeg-q10.jpg
for t in PNG8 PNG24 PNG32 PNG48 PNG64; do im "png-$t.png" $PICTURE "$t:png-$t.png"; done
im png-gray.png $PICTURE -colorspace Gray png-gray.png
im png-bilevel.png $PICTURE -monochrome png-bilevel.png
im png-interlaced.png $PICTURE -interlace PNG png-interlaced.png
im png-transparent.png -size 48x36 gradient:none-red png-transparent.png
im gif-animated.gif -delay 10 $PICTURE -size 48x36 xc:green gif-animated.gif
im gif-87.gif $PICTURE GIF87:gif-87.gif
im gif-transparent.gif -size 48x36 gradient:none-red gif-transparent.gif
im webp-lossless.webp $PICTURE -define webp:lossless=true webp-lossless.webp
im webp-alpha.webp -size 48x36 gradient:none-red webp-alpha.webp
im webp-animated.webp -delay 10 $PICTURE -size 48x36 xc:green webp-animated.webp
im bmp-2.bmp $PICTURE BMP2:bmp-2.bmp
im bmp-3.bmp $PICTURE BMP3:bmp-3.bmp
im psb.psb $PICTURE psb.psb
im psd-raw.psd $PICTURE -compress none -depth 8 psd-raw.psd
im psd-deep.psd $PICTURE -depth 16 psd-deep.psd
im psd-grey.psd $PICTURE -colorspace Gray -depth 8 psd-grey.psd
im psd-palette.psd $PICTURE -depth 8 -type Palette psd-palette.psd
im psd-bitmap.psd $PICTURE -monochrome -depth 1 -type bilevel psd-bitmap.psd
im psd-runs.psd $PICTURE -fill white -draw 'rectangle 10,0 20,35 rectangle 24,0 24,35' -compress RLE -depth 8 psd-runs.psd
im psd-cmyk.psd $PICTURE -depth 8 -colorspace CMYK psd-cmyk.psd
# Transparent at the left. Photoshop draws the merged image on white, ImageMagick does not do that itself.
im psd-alpha.psd -size 64x48 xc:white \( xc:'#c80032' \( -size 48x64 gradient:white-black -rotate 90 \) -alpha off -compose CopyOpacity -composite \) \
  -compose Over -composite \( -size 48x64 gradient:white-black -rotate 90 \) -alpha off -compose CopyOpacity -composite -depth 8 psd-alpha.psd
im im-svg.svg $PICTURE im-svg.svg

heic() { out=$1; try "$out" heif-enc -q 60 "$2" -o "$out"; rm -f "$2"; } # heic <file> <png>
convert -size 64x48 gradient:red-blue PNG24:plain.png && heic plain.heic plain.png
[ -f plain.heic ] && python3 "$SCRIPTS/turned-heic.py" plain.heic heic-turned.heic; rm -f plain.heic
ffmpeg -v error -y -f lavfi -i 'mandelbrot=size=512x512:maxiter=300:start_scale=0.003:start_x=-0.743643887037:start_y=0.131825904205,noise=alls=6' \
  -frames:v 1 photo.png </dev/null && heic heic-photo.heic photo.png
convert -size 64x48 gradient:red-blue PNG48:ten.png && heic heic-ten.heic ten.png
convert -size 64x48 xc:'#c80032' \( -size 48x64 gradient:white-black -rotate 90 \) -alpha off -compose CopyOpacity -composite PNG32:alpha.png &&
  heic heic-alpha.heic alpha.png
# With the profile of Display P3 that sharp has.
(cd .. && node -e "require('sharp')('files/im.png').resize(64, 48, { fit: 'fill' }).withIccProfile('p3').toFile('files/p3.png')") &&
  heic heic-p3.heic p3.png

jxl() { out=$1; shift; try "$out" cjxl "$1" "$out" -d 0; rm -f "$1"; } # jxl <file> <picture>
convert $PICTURE -depth 8 -strip PNG24:plain.png && jxl jxl-lossless.jxl plain.png
convert $PICTURE -depth 16 -strip PNG48:deep.png && jxl jxl-deep.jxl deep.png
convert -size 64x48 xc:'#c80032' \( -size 48x64 gradient:white-black -rotate 90 \) -alpha off -compose CopyOpacity -composite -depth 8 -strip PNG32:alpha.png &&
  jxl jxl-alpha.jxl alpha.png
convert -size 64x48 gradient:red-blue -sampling-factor 4:4:4 -quality 95 turned.jpg && exiftool -q -n -overwrite_original -Orientation=6 turned.jpg &&
  jxl jxl-turned.jxl turned.jpg
(cd .. && node -e "require('sharp')('files/png-PNG24.png').withIccProfile('p3').toFile('files/p3.png')") && jxl jxl-p3.jxl p3.png
cp gif-animated.gif moving.gif && jxl jxl-animated.jxl moving.gif

im jp2-deep.jp2 $PICTURE -depth 16 jp2-deep.jp2
im jp2-gray.jp2 $PICTURE -depth 8 -colorspace Gray jp2-gray.jp2
im jp2-alpha.jp2 -size 48x36 gradient:none-red -depth 8 jp2-alpha.jp2
convert $PICTURE -depth 8 plain.ppm
try jp2-tiles.jp2 opj_compress -i plain.ppm -o jp2-tiles.jp2 -t 20,20 -n 3
try jp2-bare.j2k opj_compress -i plain.ppm -o jp2-bare.j2k; rm -f plain.ppm
try jp2-420.jp2 ffmpeg -y -bitexact -i png-PNG24.png -pix_fmt yuv420p jp2-420.jp2

SOUND='-y -bitexact -f lavfi -i sine=d=0.3:r=44100 -ac 1'
ff() { out=$1; shift; try "$out" ffmpeg "$@" "$out"; }
for f in mp3 mp2 m4a m4b aac flac wav aif ogg oga opus spx ac3 wv wma caf au voc tta mka w64 dts eac3 adx amr; do
  case $f in
    amr) ff sound.amr -y -bitexact -f lavfi -i sine=d=0.3:r=8000 -ac 1 -ar 8000 ;;
    m4b) ff sound.m4b $SOUND -f ipod ;;
    mka) ff sound.mka $SOUND -f matroska ;;
    *) ff "sound.$f" $SOUND -strict -2 ;;
  esac
done
ff mp3-id3v23.mp3 $SOUND -id3v2_version 3 -metadata title=Tone
ff mp3-stereo.mp3 -y -bitexact -f lavfi -i sine=d=0.3 -ac 2
ff mp3-no-tag.mp3 $SOUND -write_id3v2 0 -write_xing 0
ff wav-24.wav $SOUND -c:a pcm_s24le
ff wav-float.wav $SOUND -c:a pcm_f32le
ff wav-ulaw.wav $SOUND -c:a pcm_mulaw
ff flac-24.flac $SOUND -sample_fmt s32
ff m4a-alac.m4a $SOUND -c:a alac
ff ogg-flac.ogg $SOUND -c:a flac
ff mp4-sound.mp4 $SOUND

MOVIE='-y -bitexact -f lavfi -i testsrc=d=0.4:s=64x48:r=5 -pix_fmt yuv420p'
for f in mp4 m4v mov webm mkv avi mpg ogv flv wmv m2ts f4v vob nut asf swf; do ff "movie.$f" $MOVIE; done
ff movie-ts.mpegts $MOVIE -f mpegts
ff movie.3gp -y -bitexact -f lavfi -i testsrc=d=0.4:s=176x144:r=5 -c:v h263
ff movie.3g2 -y -bitexact -f lavfi -i testsrc=d=0.4:s=176x144:r=5 -c:v h263
ff movie.mxf -y -bitexact -f lavfi -i testsrc=d=0.1:s=64x48:r=25 -c:v mpeg2video
ff mp4-late-moov.mp4 $MOVIE
ff mp4-early-moov.mp4 $MOVIE -movflags +faststart
ff mp4-fragmented.mp4 $MOVIE -movflags frag_keyframe+empty_moov
ff mp4-hevc.mp4 $MOVIE -c:v libx265
ff mp4-mpeg4.mp4 $MOVIE -c:v mpeg4
ff webm-vp9.webm $MOVIE -c:v libvpx-vp9
ff mkv-h264.mkv $MOVIE -c:v libx264
ff mov-prores.mov -y -bitexact -f lavfi -i testsrc=d=0.2:s=64x48:r=5 -c:v prores
ff avi-mjpeg.avi -y -bitexact -f lavfi -i testsrc=d=0.4:s=64x48:r=5 -c:v mjpeg
ff apng.apng -y -bitexact -f lavfi -i testsrc=d=0.4:s=64x48:r=5

printf 'a text of its own\n' > text.txt
for n in csv tsv md css js json html xml ics vcf vtt svg; do
  case $n in
    json) printf '{"a":1}' ;;
    html) printf '<!doctype html><p>a' ;;
    xml) printf '<?xml version="1.0"?><a/>' ;;
    svg) printf '<svg xmlns="http://www.w3.org/2000/svg" width="48" height="36"><rect width="20" height="20"/></svg>' ;;
    ics) printf 'BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n' ;;
    vcf) printf 'BEGIN:VCARD\r\nEND:VCARD\r\n' ;;
    vtt) printf 'WEBVTT\n\n00:00.000 --> 00:01.000\na\n' ;;
    *) printf 'a,b\n1,2\n' ;;
  esac > "text.$n"
done
gzip -nc text.svg > drawing.svgz
printf 'garbage\001\002\003\377' > garbage.xyz
printf '\001\002\003\377garbage' > garbage.html
head -c 400 im.jpg > truncated.jpg
head -c 200 png-PNG24.png > truncated.png
head -c 560 im.gif > truncated.gif
head -c 500 png-interlaced.png > truncated-interlaced.png
head -c 50 webp-lossless.webp > truncated.webp
for f in gz bz2 xz zst lz4 lzma; do
  case $f in gz) c='gzip -n' ;; bz2) c=bzip2 ;; xz) c=xz ;; zst) c=zstd ;; lz4) c=lz4 ;; lzma) c='xz --format=lzma' ;; esac
  $c -c text.txt > "text.txt.$f" 2>/dev/null || rm -f "text.txt.$f"
done
try archive.zip zip -X archive.zip text.txt
try archive-stored.zip zip -0X archive-stored.zip text.txt
try archive.jar zip -X archive.jar text.txt
try archive.kmz zip -X archive.kmz text.xml
try archive.7z 7z a archive.7z text.txt
for f in ustar pax gnutar cpio iso9660 ar xar zip 7zip; do
  case $f in gnutar) o=gnu.tar ;; ustar|pax) o=$f.tar ;; iso9660) o=disc.iso ;; *) o=bsdtar.$f ;; esac
  try "$o" bsdtar --format "$f" -cf "$o" text.txt
done
try archive.tar.gz bsdtar -czf archive.tar.gz text.txt
python3 ../../../scripts/corpus/documents.py
python3 ../../../scripts/corpus/raw.py
find . -size +120k -print -delete
