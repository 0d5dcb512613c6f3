import type { ParameterSpec, ParameterValue } from '../../core/plugin-api/parameter.ts'

type Values = ReadonlyMap<string, ParameterValue>

/**
 * What was asked for with a width that is allowed: the next larger one, past the largest the largest. `dpr` is multiplied
 * in first and is 1 from then on, so that equal sizes are one variant; a height keeps the shape that was asked for.
 *
 * @param widths ascending, at least one
 * @param height what a height may be
 */
export function withAllowedWidth(
  asked: Values,
  { widths, height }: { widths: readonly number[]; height: ParameterSpec | undefined },
): Values {
  const [w, h, dpr = 1] = ['w', 'h', 'dpr'].map((name) => numberOf(asked.get(name)))
  if (w === undefined) return asked
  // Whole pixels: 100 times 1.1 is a little more than 110.
  const wanted = Math.round(w * dpr)
  const width = widths.find((each) => each >= wanted) ?? widths.at(-1) ?? wanted
  const values = new Map(asked).set('w', width)
  values.delete('dpr')
  if (h !== undefined) values.set('h', within(height, Math.round((h * width) / w)))
  return values
}

function numberOf(value: ParameterValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined
}

/** A very long shape is cut at the bounds of the height. */
function within(spec: ParameterSpec | undefined, height: number): number {
  return spec?.type === 'integer' ? Math.min(Math.max(height, spec.min), spec.max) : height
}
