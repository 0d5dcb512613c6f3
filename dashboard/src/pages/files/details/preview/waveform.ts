/** The format of BBC's audiowaveform: a minimum and a maximum for each point, of 8 bits. */
export interface Waveform {
  bits: number
  length: number
  data: number[]
}

/** The outline of a waveform as an SVG path within 0 0 `length` 2. The loudest point reaches the edges. */
export function outlineOf({ data, length }: Waveform): string {
  const loudest = data.reduce((most, value) => Math.max(most, Math.abs(value)), 1)
  const y = (index: number) => (1 - (data[index] ?? 0) / loudest).toFixed(3)
  const points = Array.from({ length }, (_, at) => at)
  const top = points.map((at) => `${at} ${y(2 * at + 1)}`)
  const bottom = points.map((at) => `${at} ${y(2 * at)}`).reverse()
  return `M${[...top, ...bottom].join('L')}Z`
}
