// What calls itself ends the process when the stack is used up, which has 8 MB or, without a limit, 2. With 2 MB,
// librsvg goes under at 32 pictures of elements by filters, and at 4,000 `:not(` or clips of clips. Layers it ends itself.
const MAX_ELEMENT_PICTURES = 4
const MAX_NESTABLE = 500
// Each layer around another holds all pixels of the result once more: 16 MB at 2000 x 2000.
const MAX_LAYERS = 16
const MAX_DEPTH_WITH_STYLED_LAYERS = 32
// One turbulence of 3000 x 3000 takes 2 s.
const MAX_PRIMITIVES = 1000
const MAX_SLOW_PRIMITIVES = 8
// A comment may stand before the colon.
const LAYER = /(?<![\w-])(?:opacity|filter|mask|mix-blend-mode|isolation)\s*[=:/]/i
const NESTABLE_STYLES = /not\(|(?<!#)clip-path/gi

/** Adds up what librsvg goes down into, element by element. Names are without prefixes, texts as `plainly` has them. */
export interface Nesting {
  /** A tag that begins an element; `alone` when it ends it as well. */
  enter(name: string, tag: string, options: { alone: boolean }): void
  leave(name: string): void
  /** What is too much, with all styles. */
  tooMuch(styles: string): string | undefined
}

export function createNesting(): Nesting {
  let nestable = 0
  let elementPictures = 0
  let primitives = 0
  let slowPrimitives = 0
  let clips = 0
  // Of every element that is open: whether it is drawn as a layer.
  const open: boolean[] = []
  let mostOpen = 0
  let layers = 0
  let mostLayers = 0
  return {
    enter(name, tag, { alone }) {
      if (name.startsWith('fe')) primitives += 1
      if (name === 'feImage') elementPictures += 1
      if (name === 'feTurbulence' || name === 'feConvolveMatrix') slowPrimitives += 1
      if ((clips > 0 || name === 'clipPath') && /clip-path|href/i.test(tag)) nestable += 1
      const layer = LAYER.test(tag)
      if (layer) mostLayers = Math.max(mostLayers, layers + 1)
      if (alone) return
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
