// What librsvg makes of an SVG has little to do with its size. Measured: 4 KB of memory for each element; 4 s for 10,000
// letters, 27 s for 20,000, and 21 GB for five million; every rule of a style is tried on every element. Nothing can
// stop it once it has begun, so the text is looked through first.
const MAX_TAGS = 200_000
const MAX_TEXT = 10_000
const MAX_STYLE = 1_000_000
const MAX_STYLE_TIMES_TAGS = 1_000_000_000
const MAX_SUBSET = 10_000
// Entities that stand for plain words, as Illustrator has for its namespaces; others could hide any number of elements.
const PLAIN_ENTITIES = /^\[(?:\s|<!ENTITY\s+[\w:.-]+\s+(?:"[^"<>&%]*"|'[^'<>&%]*')\s*>)*$/

/**
 * What is too much about an SVG, or undefined: the rest of `expected an SVG …`. What is not understood counts as text.
 */
export function tooMuchOf(bytes: Uint8Array): string | undefined {
  const xml = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const after = (mark: string, from: number) => {
    const found = xml.indexOf(mark, from)
    return found === -1 ? xml.length : found + mark.length
  }
  let tags = 0
  let text = 0
  let style = 0
  let textDepth = 0
  let inStyle = false
  let declared = false
  const count = (from: number, to: number) => {
    if (inStyle) style += to - from
    // Between elements white space is for the eye, in a text it is letters.
    else text += textDepth > 0 ? to - from : xml.slice(from, to).trim().length
  }
  for (let at = 0; at < xml.length && tags <= MAX_TAGS; tags += 1) {
    const open = xml.indexOf('<', at)
    count(at, open === -1 ? xml.length : open)
    if (open === -1) break
    if (xml.startsWith('<!--', open)) at = after('-->', open + 4)
    else if (xml.startsWith('<?', open)) at = after('?>', open)
    else if (xml.startsWith('<![CDATA[', open)) {
      at = after(']]>', open)
      count(open + 9, at)
    } else if (xml.startsWith('<!', open)) {
      const declaration = declared ? undefined : readDeclaration(xml, open)
      if (!declaration) return 'without entities that stand for more than a few words'
      declared = true
      at = declaration.end
      text += declaration.text
    } else {
      at = endOfTag(xml, open)
      const [, slash, name] = /^<(\/?)(?:[^\s/>:]*:)?([^\s/>:]*)/.exec(xml.slice(open, open + 100)) ?? []
      const opens = slash === '' && xml[at - 2] !== '/'
      inStyle = opens && name === 'style'
      if (name === 'text') textDepth += opens ? 1 : slash === '/' ? -1 : 0
    }
  }
  if (tags > MAX_TAGS) return `of at most ${MAX_TAGS} tags`
  if (text > MAX_TEXT) return `of at most ${MAX_TEXT} letters`
  if (style > MAX_STYLE || style * tags > MAX_STYLE_TIMES_TAGS) return 'with fewer styles'
  return undefined
}

/** Where a document type ends, and how many letters its entities may become; undefined when that cannot be told. */
function readDeclaration(xml: string, open: number): { end: number; text: number } | undefined {
  const end = endOfTag(xml, open)
  const subset = xml.indexOf('[', open)
  if (subset === -1 || subset > end) return { end, text: 0 }
  const close = xml.indexOf(']', subset)
  if (close - subset > MAX_SUBSET || !PLAIN_ENTITIES.test(xml.slice(subset, close))) return undefined
  // Each mention of any may be of the longest.
  return { end: xml.indexOf('>', close) + 1, text: (xml.split('&').length - 1) * (close - subset) }
}

/** Past the `>` that is in no attribute's value. */
function endOfTag(xml: string, open: number): number {
  const mark = /["'>]/g
  for (mark.lastIndex = open; ; ) {
    const found = mark.exec(xml)
    if (!found) return xml.length
    if (found[0] === '>') return mark.lastIndex
    const end = xml.indexOf(found[0], mark.lastIndex)
    if (end === -1) return xml.length
    mark.lastIndex = end + 1
  }
}
