/** Parameters of a delivery URL that place a crop. */
export interface Focus {
  func?: string
  fx?: number
  fy?: number
}

const VERTICAL = ['top', 'bottom']
const HORIZONTAL = ['left', 'right']

/**
 * The parameters for a value of `object-position`: one or two keywords in any order, or two percentages. Lengths in px have no
 * equivalent, and result in the centre.
 *
 * @see https://www.w3.org/TR/css-images-3/#the-object-position
 */
export function focusOf(position: string | undefined): Focus {
  const words = (position ?? '').trim().split(/[\s-]+/)
  const percentages = words.map((word) => /^(\d{1,2}(?:\.\d+)?|100)%$/.exec(word)?.[1])
  const [x, y = '50'] = percentages
  if (x !== undefined && percentages.every((value) => value !== undefined))
    return { fx: Number(x) / 100, fy: Number(y) / 100 }
  const keywords = [VERTICAL, HORIZONTAL].flatMap((names) => words.find((word) => names.includes(word)) ?? [])
  return keywords.length === 0 ? {} : { func: keywords.join('-') }
}
