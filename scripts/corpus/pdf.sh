#!/bin/sh
# Creates the PDF files of test/corpus/files with Ghostscript 10, qpdf 11, img2pdf 0.4 and Chromium.
cd "$(dirname "$0")/../../test/corpus/files" || exit 1

gs -q -sDEVICE=pdfwrite -o pdf-ghostscript.pdf - <<'PS'
%!PS
<< /PageSize [595 842] >> setpagedevice
0.9 0.1 0.1 setrgbcolor 0 421 595 421 rectfill
0 setgray /Helvetica findfont 40 scalefont setfont 60 300 moveto (The first page) show showpage
<< /PageSize [400 200] >> setpagedevice
0.1 0.1 0.9 setrgbcolor 0 0 200 200 rectfill
0 setgray /Times-Roman findfont 40 scalefont setfont 220 90 moveto (Second) show showpage
PS
qpdf --encrypt secret owner 256 -- pdf-ghostscript.pdf pdf-encrypted.pdf
qpdf --encrypt "" owner 256 -- pdf-ghostscript.pdf pdf-restricted.pdf
qpdf --rotate=90:1 --object-streams=generate pdf-ghostscript.pdf pdf-turned.pdf
head -c 1500 pdf-ghostscript.pdf > pdf-cut.pdf

convert -size 480x360 gradient:red-blue -quality 60 scan.jpg && img2pdf --nodate scan.jpg -o pdf-scan.pdf
cat > page.html <<'HTML'
<body style="margin:0;background:#0a0;font:40px sans-serif;-webkit-print-color-adjust:exact"><h1>Chromium</h1>
<svg width=200 height=100><linearGradient id=a><stop stop-color=red /><stop offset=1 stop-color=blue /></linearGradient>
<rect width=200 height=100 fill="url(#a)" opacity=".7"/></svg>
HTML
chromium --headless --no-sandbox --disable-gpu --no-pdf-header-footer --print-to-pdf=pdf-chromium.pdf page.html
rm -f scan.jpg page.html
