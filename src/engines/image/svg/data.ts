// The beginnings in base64 of PNG, JPEG, GIF, WebP.
const IMAGE = /^(?:iVBORw0KGgo|\/9j\/|R0lGOD|UklGR)/
// The beginnings in base64 of WOFF, WOFF2, TrueType, OpenType. Excalidraw and draw.io embed such fonts in their
// styles; librsvg ignores them.
const FONT = /^(?:d09G|AAEAA|dHJ1Z|T1RUT)/
const HEADER_MAX_LENGTH = 200
const URI = new RegExp(`(?<![\\w-])data:([^,]{0,${HEADER_MAX_LENGTH}})(,[ \\n]*)?`, 'gi')

/**
 * Returns the images in the `data:` URIs of a tag or style, decoded from base64; undefined when there is other data,
 * such as an SVG or styles: librsvg would detect these, whatever the media type.
 *
 * @param text as returned by {@link plainly}
 * @param most stops at one above this number
 */
export function imagesIn(text: string, { most }: { most: number }): Buffer[] | undefined {
  const images: Buffer[] = []
  for (const { index, 0: start, 1: header = '', 2: comma } of text.matchAll(URI)) {
    // Plain words, as in aria-label="Data: 3".
    if (comma === undefined && header.length < HEADER_MAX_LENGTH) continue
    const begun = index + start.length
    const head = text.slice(begun, begun + 20)
    if (!/;[ \n]*base64[ \n]*$/i.test(header) || !(IMAGE.test(head) || FONT.test(head))) return undefined
    if (IMAGE.test(head)) images.push(Buffer.from(payload(text, begun), 'base64'))
    if (images.length > most) break
  }
  return images
}

/** The text up to a character that is neither base64 nor white space. */
function payload(text: string, begun: number): string {
  const mark = /[^\w+/=\s]/g
  mark.lastIndex = begun
  return text.slice(begun, mark.exec(text)?.index)
}

/** Returns a text with its entities and its CSS escapes resolved. */
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
  // A URL loses its tabs and line breaks.
  return code < 0x20 || code > 0x10ffff ? '' : String.fromCodePoint(code)
}
