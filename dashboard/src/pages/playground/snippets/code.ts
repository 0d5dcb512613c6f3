import { SIDE_MAX } from '../../../../../client/generated/limits.ts'
import { buildUrl, srcset } from '../../../../../client/index.ts'
import type { Values } from '../state.ts'

/** The code of a result, by language. */
export interface Code {
  url: string
  srcset?: string
  picture?: string
  react?: string
  curl: string
}

const WIDTHS = [320, 640, 960, 1280, 1920]
const SIZES = '(min-width: 60rem) 60rem, 100vw'

/** Code that shows a result. `srcset` and the code after it exist for images only. */
export function codeOf({
  src,
  url,
  values,
  preset = {},
  alt,
  isImage,
}: {
  /** Without parameters. */
  src: string
  url: string
  values: Values
  /** The parameters of the chosen preset. */
  preset?: Values | undefined
  alt: string
  isImage: boolean
}): Code {
  const curl = `curl -o ${shellText(fileName(src))} ${shellText(url)}`
  if (!isImage) return { url, curl }
  // Another width than that of the preset, with its height, would be another crop.
  if (preset.w !== undefined || preset.h !== undefined)
    return { curl, ...fixedSize({ src, url, values, alt }) }
  // Several widths of one picture keep its proportions.
  const { w, h, f, dpr: _dpr, ...shared } = values
  const ratio = w !== undefined && h !== undefined && values.ar === undefined ? { ar: `${w}:${h}` } : {}
  const height = w === undefined && h !== undefined ? { h } : {}
  const others = { ...shared, ...ratio }
  const widths = widthsFor(w)
  const set = (format: string | undefined) =>
    srcset(src, widths, { ...others, ...(format !== undefined && { f: format }) } as Record<string, string>)
      .split(', ')
      .join(',\n    ')
  const fallback = buildUrl(src, { ...others, ...height, ...(w !== undefined && { w: Number(w) }) } as Record<
    string,
    string
  >)
  return {
    url,
    srcset: `<img\n  src="${html(url)}"\n  srcset="${html(set(f))}"\n  sizes="${SIZES}"\n  alt="${html(alt)}">`,
    picture: [
      '<picture>',
      ...['avif', 'webp'].map(
        (format) => `  <source type="image/${format}" sizes="${SIZES}"\n    srcset="${html(set(format))}">`,
      ),
      `  <img src="${html(fallback)}" alt="${html(alt)}">`,
      '</picture>',
    ].join('\n'),
    react: reactCode({ src, alt, w, query: { ...others, ...(f !== undefined && { f }) } }),
    curl,
  }
}

/** Code for an image whose size a preset sets: it is rendered for each density of screens. */
function fixedSize({
  src,
  url,
  values: { dpr: _dpr, ...values },
  alt,
}: {
  src: string
  url: string
  values: Values
  alt: string
}): Omit<Code, 'curl'> {
  const set = (more: Values = {}) =>
    [1, 2]
      .map((dpr) => `${buildUrl(src, { ...values, ...more, ...(dpr > 1 && { dpr }) })} ${dpr}x`)
      .join(',\n    ')
  return {
    url,
    srcset: `<img\n  src="${html(url)}"\n  srcset="${html(set())}"\n  alt="${html(alt)}">`,
    picture: [
      '<picture>',
      ...['avif', 'webp'].map((f) => `  <source type="image/${f}"\n    srcset="${html(set({ f }))}">`),
      `  <img src="${html(url)}" alt="${html(alt)}">`,
      '</picture>',
    ].join('\n'),
    react: `<img\n  src="${html(url)}"\n  srcSet="${html(set().replace(/\s+(?=http)/g, ' '))}"\n  alt="${html(alt)}"\n/>`,
  }
}

function reactCode({
  src,
  alt,
  w,
  query,
}: {
  src: string
  alt: string
  w: string | undefined
  query: Values
}): string {
  const parameters = Object.entries(query).map(([name, value]) => `${memberName(name)}: ${literal(value)}`)
  return [
    "import { SluiceImage } from 'sluice/client/react'",
    '',
    '<SluiceImage',
    `  src="${html(src)}"`,
    `  alt="${html(alt)}"`,
    ...(w === undefined ? [`  sizes="${SIZES}"`] : [`  width={${Number(w) || literal(w)}}`]),
    ...(parameters.length > 0 ? [`  parameters={{ ${parameters.join(', ')} }}`] : []),
    '/>',
  ].join('\n')
}

/** Half, one, two and three times a chosen width, within what the service renders; else the usual ones. */
function widthsFor(w: string | undefined): readonly number[] {
  const width = Number(w)
  if (!(width >= 1)) return WIDTHS
  return [...new Set([0.5, 1, 2, 3].map((times) => Math.round(width * times)))].filter(
    (each) => each <= SIDE_MAX,
  )
}

function memberName(name: string): string {
  return /^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name)
}

function literal(value: string): string {
  return value !== '' && String(Number(value)) === value ? value : `'${value.replace(/['\\]/g, '\\$&')}'`
}

function html(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}

function shellText(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function fileName(src: string): string {
  return new URL(src).pathname.split('/').at(-1) || 'file'
}
