// As base64 has them: PNG, JPEG, GIF, WebP.
const PICTURE = /^(?:iVBORw0KGgo|\/9j\/|R0lGOD|UklGR)/
// Excalidraw and draw.io have them in their styles; librsvg takes none: WOFF, WOFF2, TrueType, OpenType.
const FONT = /^(?:d09G|AAEAA|dHJ1Z|T1RUT)/
const HEADER_MAX_LENGTH = 200
const URI = new RegExp(`(?<![\\w-])data:([^,]{0,${HEADER_MAX_LENGTH}})(,[ \\n]*)?`, 'gi')

/**
 * The pictures in the `data:` URIs of a tag or style, encoded as they are; undefined when there is anything else, as an
 * SVG or styles, which librsvg would take for what they are by whatever media type.
 *
 * @param text as `plainly` has it
 * @param most looks no further than one past it
 */
export function picturesIn(text: string, { most }: { most: number }): Buffer[] | undefined {
  const pictures: Buffer[] = []
  for (const { index, 0: start, 1: header = '', 2: comma } of text.matchAll(URI)) {
    // Words, as in aria-label="Data: 3".
    if (comma === undefined && header.length < HEADER_MAX_LENGTH) continue
    const begun = index + start.length
    const head = text.slice(begun, begun + 20)
    if (!/;[ \n]*base64[ \n]*$/i.test(header) || !(PICTURE.test(head) || FONT.test(head))) return undefined
    if (PICTURE.test(head)) pictures.push(Buffer.from(payload(text, begun), 'base64'))
    if (pictures.length > most) break
  }
  return pictures
}

/** Up to what is neither base64 nor white space: with a header that is encoded in another way it cannot be read. */
function payload(text: string, begun: number): string {
  const mark = /[^\w+/=\s]/g
  mark.lastIndex = begun
  return text.slice(begun, mark.exec(text)?.index)
}

/** A text with its entities and the escapes of CSS resolved. */
export function plainly(text: string, entities: ReadonlyMap<string, string>): string {
  if (!/[&\\]/.test(text)) return text
  return text
    .replace(/&(?:#(?:x([\da-f]+)|(\d+))|([\w:.-]+));/gi, (_, hex, decimal, name) =>
      name === undefined
        ? character(Number.parseInt(hex ?? decimal, hex ? 16 : 10))
        : (entities.get(name) ?? ' '),
    )
    .replace(/\\([\da-f]{1,6})\s?/gi, (_, hex) => character(Number.parseInt(hex, 16)))
    .replace(/\\\r?\n?/g, '')
}

function character(code: number): string {
  // Addresses lose tabs and line breaks.
  return code < 0x20 || code > 0x10ffff ? '' : String.fromCodePoint(code)
}
