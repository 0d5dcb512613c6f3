/** The value of a sample, 0 when it is missing; `labels` as Prometheus writes them, in any order. */
export function sampleOf(text: string, name: string, labels: Readonly<Record<string, string>> = {}): number {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  const samples = text.split('\n').flatMap((line) => {
    const [, found, inBraces = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    return found === name && wanted.every((label) => inBraces.includes(label)) ? [Number(value)] : []
  })
  return samples.reduce((sum, value) => sum + value, 0)
}

/** Where a process says that its metrics are. */
export function metricsUrl({ output }: { output(): string }): string {
  const url = /"url":"(http:[^"]*\/metrics)"/.exec(output())?.[1]
  if (url === undefined) throw new Error(`no address of metrics in:\n${output()}`)
  return url
}
