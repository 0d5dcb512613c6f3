"""Creates e-books with ebooklib 0.18: with a cover of EPUB 3, with one of EPUB 2 only, and without a cover."""
import os, re, subprocess, zipfile
from ebooklib import epub

subprocess.run(['convert', '-size', '120x180', 'gradient:red-blue', 'cover.jpg'], check=True)


def book(name, cover):
    made = epub.EpubBook()
    made.set_identifier(name)
    made.set_title(name)
    if cover:
        made.set_cover('images/the cover.jpg', open('cover.jpg', 'rb').read())
    chapter = epub.EpubHtml(title='One', file_name='one.xhtml', content='<h1>One</h1>')
    made.add_item(chapter)
    made.toc = [chapter]
    made.add_item(epub.EpubNcx())
    made.add_item(epub.EpubNav())
    made.spine = ['nav', chapter]
    epub.write_epub(name, made)


book('book-cover.epub', True)
book('book-no-cover.epub', False)
with zipfile.ZipFile('book-cover.epub') as source, zipfile.ZipFile('book-epub2.epub', 'w') as target:
    for entry in source.infolist():
        content = source.read(entry)
        if entry.filename.endswith('.opf'):
            content = re.sub(rb' properties="cover-image"', b'', content)
        target.writestr(entry, content)
os.remove('cover.jpg')
