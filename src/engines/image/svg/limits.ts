import { imagesIn, plainly } from './data.ts'
import { createNesting } from './nesting.ts'

// The cost of an SVG depends little on its size. Measured with librsvg: 4 KB of memory per element; 4 s for 10,000
// letters, 27 s for 20,000, and 21 GB for five million; every rule of a style is tried on every element. Nothing can
// interrupt it, so the text is inspected first, which takes the event loop up to 25 ms per MiB.
const MAX_BYTES = 4 * 1024 * 1024
const MAX_TAGS = 200_000
const MAX_TEXT = 10_000
const MAX_STYLE = 1_000_000
const MAX_STYLE_TIMES_TAGS = 1_000_000_000
const MAX_SUBSET = 10_000
const MAX_ESCAPES = 100_000
const MAX_IMAGES = 256
// Entities for plain words, as Illustrator uses for its namespaces. Other entities could hide any number of elements.
const PLAIN_ENTITIES = /^\[(?:\s|<!ENTITY\s+[\w:.-]+\s+(?:"[^"<>&%]*"|'[^'<>&%]*')\s*>)*$/
const ENTITY = /<!ENTITY\s+([\w:.-]+)\s+(?:"([^"]*)"|'([^']*)')/g

/**
 * Returns what exceeds a limit in an SVG, as the rest of `expected an SVG …`, and the embedded images, still encoded,
 * whose sizes the caller must check. Content that is not understood counts as text.
 *
 * It guards against documents that crash the process (stack overflow), need unlimited memory, or keep a thread busy
 * for minutes, by single elements or by nested ones. It does not guard against many elements that each refer to many
 * others.
 */
export function inspectSvg(bytes: Uint8Array): { tooMuch?: string; images: readonly Buffer[] } {
  if (bytes.length > MAX_BYTES) return { tooMuch: `of at most ${MAX_BYTES} bytes`, images: [] }
  const xml = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const after = (mark: string, from: number) => {
    const found = xml.indexOf(mark, from)
    return found === -1 ? xml.length : found + mark.length
  }
  const images: Buffer[] = []
  let embedded = 0
  const refused = (tooMuch: string) => ({ tooMuch, images: [] })
  if (hasManyEscapes(xml)) return refused(`of at most ${MAX_ESCAPES} entities and escapes`)
  const nesting = createNesting()
  let entities: ReadonlyMap<string, string> = new Map()
  let tags = 0
  let text = 0
  let style = 0
  let textDepth = 0
  let inStyle = false
  let declared = false
  let styles = ''
  let foreign = false
  const count = (from: number, to: number) => {
    if (inStyle) {
      style += to - from
      styles += xml.slice(from, to)
    }
    // Between elements white space has no effect, in a text it counts as letters.
    else text += textDepth > 0 ? to - from : xml.slice(from, to).trim().length
  }
  const embed = (plain: string) => {
    embedded += 1
    const found = imagesIn(plain, { most: MAX_IMAGES })
    if (found) images.push(...found)
    else foreign = true
  }
  for (let at = 0; at < xml.length && tags <= MAX_TAGS && text <= MAX_TEXT && !foreign; tags += 1) {
    const begun = xml.indexOf('<', at)
    count(at, begun === -1 ? xml.length : begun)
    if (begun === -1) break
    if (xml.startsWith('<!--', begun)) at = after('-->', begun + 4)
    else if (xml.startsWith('<?', begun)) {
      at = after('?>', begun)
      foreign ||= /data:/i.test(plainly(xml.slice(begun, at), entities))
    } else if (xml.startsWith('<![CDATA[', begun)) {
      at = after(']]>', begun)
      count(begun + 9, at)
    } else if (xml.startsWith('<!', begun)) {
      const declaration = declared ? undefined : readDeclaration(xml, begun)
      if (!declaration) return refused('without entities longer than a few words')
      declared = true
      at = declaration.end
      text += declaration.text
      entities = declaration.entities
    } else {
      at = endOfTag(xml, begun)
      const raw = xml.slice(begun, at)
      const [, slash, name = ''] = /^<(\/?)(?:[^\s/>:]*:)?([^\s/>:]*)/.exec(raw) ?? []
      const opens = slash === '' && xml[at - 2] !== '/'
      inStyle = opens && name === 'style'
      if (name === 'text') textDepth += opens ? 1 : slash === '/' ? -1 : 0
      if (slash === '/') nesting.leave(name)
      else {
        const tag = plainly(raw, entities)
        nesting.enter(name, tag, { isSelfClosing: !opens })
        if (embedded <= MAX_IMAGES && tag.includes(',') && /data:/i.test(tag)) embed(tag)
        if (name === 'include') foreign = true
      }
    }
  }
  if (tags > MAX_TAGS) return refused(`of at most ${MAX_TAGS} tags`)
  if (text > MAX_TEXT) return refused(`of at most ${MAX_TEXT} characters of text`)
  if (style > MAX_STYLE || style * tags > MAX_STYLE_TIMES_TAGS) return refused('with fewer styles')
  // A URL loses its tabs.
  const plainStyles = plainly(styles, entities).replaceAll('\t', '')
  if (/data:/i.test(plainStyles)) {
    embed(plainStyles)
    foreign ||= /@import/i.test(plainStyles)
  }
  if (foreign) return refused('without an embedded SVG, embedded styles or unknown embedded data')
  const nested = nesting.tooMuch(plainStyles)
  if (nested) return refused(nested)
  if (embedded > MAX_IMAGES || images.length > MAX_IMAGES)
    return refused(`of at most ${MAX_IMAGES} embedded images`)
  return { images }
}

function hasManyEscapes(xml: string): boolean {
  const mark = /[&\\]/g
  let found = 0
  while (found <= MAX_ESCAPES && mark.test(xml)) found += 1
  return found > MAX_ESCAPES
}

/**
 * Returns the end of a document type declaration, and the number of letters that its entities may become; undefined
 * when that cannot be determined.
 */
function readDeclaration(
  xml: string,
  open: number,
): { end: number; text: number; entities: ReadonlyMap<string, string> } | undefined {
  const end = endOfTag(xml, open)
  const subset = xml.indexOf('[', open)
  if (subset === -1 || subset > end) return { end, text: 0, entities: new Map() }
  const close = xml.indexOf(']', subset)
  if (close - subset > MAX_SUBSET || !PLAIN_ENTITIES.test(xml.slice(subset, close))) return undefined
  const entities = new Map<string, string>()
  for (const [, name = '', double, single = ''] of xml.slice(subset, close).matchAll(ENTITY)) {
    // The first declaration of a name is the valid one.
    if (!entities.has(name)) entities.set(name, double ?? single)
  }
  // Each reference may be to the longest entity.
  return { end: xml.indexOf('>', close) + 1, text: (xml.split('&').length - 1) * (close - subset), entities }
}

/** Returns the position after the `>` that is outside of attribute values. */
function endOfTag(xml: string, open: number): number {
  for (let at = open; at < xml.length; at += 1) {
    const mark = xml[at]
    if (mark === '>') return at + 1
    if (mark === '"' || mark === "'") at = xml.indexOf(mark, at + 1)
    if (at === -1) break
  }
  return xml.length
}
