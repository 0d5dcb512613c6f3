#!/usr/bin/env bash
# Makes libreoffice.* in the folder of the first argument, with LibreOffice: documents of two pages, tables and slides.
set -euo pipefail
target=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat > libreoffice.html <<'END'
<html><body><h1>Quarterly report</h1><p>Tea and coffee.</p><table border=1><tr><td>Tea</td><td>3</td></tr></table>
<p style="page-break-before: always">Second page</p></body></html>
END
printf 'name,price\nTea,3\nCoffee,4\n' > libreoffice.csv
slide() {
  echo "<draw:page draw:name=\"$1\"><draw:frame svg:x=\"2cm\" svg:y=\"2cm\" svg:width=\"20cm\" svg:height=\"4cm\">"
  echo "<draw:text-box><text:p>$1 slide</text:p></draw:text-box></draw:frame></draw:page>"
}
names=urn:oasis:names:tc:opendocument:xmlns
cat > libreoffice.fodp <<END
<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="$names:office:1.0" xmlns:text="$names:text:1.0" xmlns:draw="$names:drawing:1.0"
  xmlns:svg="$names:svg-compatible:1.0" office:version="1.2"
  office:mimetype="application/vnd.oasis.opendocument.presentation">
<office:body><office:presentation>$(slide First)$(slide Second)</office:presentation></office:body></office:document>
END

convert() {
  soffice "-env:UserInstallation=file://$work/profile" --headless "${@:3}" --convert-to "$2" --outdir "$target" "$1"
}
for filter in odt:writer8 'docx:MS Word 2007 XML' 'doc:MS Word 97' 'rtf:Rich Text Format'; do
  convert libreoffice.html "$filter" '--infilter=HTML (StarWriter)'
done
for format in ods xlsx xls; do convert libreoffice.csv "$format"; done
for format in odp pptx; do convert libreoffice.fodp "$format"; done
