/** The sum of the samples with these labels; 0 when there are none. @throws Error when no metric has this name */
export function sampleOf(text: string, name: string, labels: Readonly<Record<string, string>> = {}): number {
  const family = name.replace(/_(count|sum|bucket)$/, '')
  if (![name, family].some((one) => text.includes(`# TYPE ${one} `))) throw new Error(`no metric ${name}`)
  const samples = text.split('\n').flatMap((line) => {
    const [, found, inBraces = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    const has = new Map([...inBraces.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, of]) => [label, of]))
    const isWanted = Object.entries(labels).every(([label, of]) => has.get(label) === of)
    return found === name && isWanted ? [Number(value)] : []
  })
  return samples.reduce((sum, value) => sum + value, 0)
}

/** Where a process says that its metrics are. */
export function metricsUrl({ output }: { output(): string }): string {
  const url = /"url":"(http:[^"]*\/metrics)"/.exec(output())?.[1]
  if (url === undefined) throw new Error(`no address of metrics in:\n${output()}`)
  return url
}
