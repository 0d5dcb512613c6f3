// Recursive references crash the process when they use up the stack, which has 8 MB or, without a limit, 2 MB. With 2
// MB, librsvg crashes at 32 levels of feImage, and at 4,000 nested `:not(` or clips of clips. It limits layers
// itself.
const MAX_ELEMENT_PICTURES = 4
const MAX_NESTABLE = 500
// Each nested layer holds all pixels of the result once more: 16 MB at 2000 x 2000.
const MAX_LAYERS = 16
const MAX_DEPTH_WITH_STYLED_LAYERS = 32
// One turbulence of 3000 x 3000 takes 2 s.
const MAX_PRIMITIVES = 1000
const MAX_SLOW_PRIMITIVES = 8
// A comment may precede the colon.
const LAYER = /(?<![\w-])(?:opacity|filter|mask|mix-blend-mode|isolation)\s*[=:/]/i
const NESTABLE_STYLES = /not\(|(?<!#)clip-path/gi

/** Counts the nesting in an SVG, element by element. Names are without prefixes, texts as returned by `plainly`. */
export interface Nesting {
  /** Notes the start tag of an element. @param options `isSelfClosing`: the tag also ends the element */
  enter(name: string, tag: string, options: { isSelfClosing: boolean }): void
  leave(name: string): void
  /** Returns what exceeds a limit, given all styles; undefined when nothing does. */
  tooMuch(styles: string): string | undefined
}

export function createNesting(): Nesting {
  let nestable = 0
  let elementPictures = 0
  let primitives = 0
  let slowPrimitives = 0
  let clips = 0
  // For every open element: whether it is drawn as a layer.
  const open: boolean[] = []
  let mostOpen = 0
  let layers = 0
  let mostLayers = 0
  return {
    enter(name, tag, { isSelfClosing }) {
      if (name.startsWith('fe')) primitives += 1
      if (name === 'feImage') elementPictures += 1
      if (name === 'feTurbulence' || name === 'feConvolveMatrix') slowPrimitives += 1
      if ((clips > 0 || name === 'clipPath') && /clip-path|href/i.test(tag)) nestable += 1
      const layer = LAYER.test(tag)
      if (layer) mostLayers = Math.max(mostLayers, layers + 1)
      if (isSelfClosing) return
      if (name === 'clipPath') clips += 1
      if (layer) layers += 1
      mostOpen = Math.max(mostOpen, open.push(layer))
    },
    leave(name) {
      if (name === 'clipPath') clips -= 1
      if (open.pop()) layers -= 1
    },
    tooMuch(styles) {
      if (nestable + (styles.match(NESTABLE_STYLES)?.length ?? 0) > MAX_NESTABLE)
        return `of at most ${MAX_NESTABLE} nested clip paths and ":not("`
      if (elementPictures > MAX_ELEMENT_PICTURES) return `of at most ${MAX_ELEMENT_PICTURES} feImage elements`
      if (primitives > MAX_PRIMITIVES || slowPrimitives > MAX_SLOW_PRIMITIVES) return 'with fewer filters'
      if (mostLayers > MAX_LAYERS || (mostOpen > MAX_DEPTH_WITH_STYLED_LAYERS && LAYER.test(styles)))
        return `of at most ${MAX_LAYERS} nested layers`
      return undefined
    },
  }
}
