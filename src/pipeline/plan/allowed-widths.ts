import type { ParameterSpec, ParameterValue } from '../../core/plugin-api/parameter.ts'

type Values = ReadonlyMap<string, ParameterValue>

/**
 * Replaces the requested width by an allowed one: the next larger one, or the largest. `dpr` is multiplied into the
 * width and removed, so that equal sizes are one variant. A height is scaled with the width, so that the aspect ratio
 * stays as requested.
 *
 * @param widths ascending, at least one
 * @param height the parameter for heights, with its bounds
 */
export function withAllowedWidth(
  requested: Values,
  { widths, height }: { widths: readonly number[]; height: ParameterSpec | undefined },
): Values {
  const [w, h, dpr = 1] = ['w', 'h', 'dpr'].map((name) => numberOf(requested.get(name)))
  if (w === undefined) return requested
  // Whole pixels: 100 times 1.1 is a little more than 110.
  const wanted = Math.round(w * dpr)
  const width = widths.find((each) => each >= wanted) ?? widths.at(-1) ?? wanted
  const values = new Map(requested).set('w', width)
  values.delete('dpr')
  if (h !== undefined) values.set('h', within(height, Math.round((h * width) / w)))
  return values
}

function numberOf(value: ParameterValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined
}

/** Limits a height to the bounds of its parameter, for extreme aspect ratios. */
function within(spec: ParameterSpec | undefined, height: number): number {
  return spec?.type === 'integer' ? Math.min(Math.max(height, spec.min), spec.max) : height
}
