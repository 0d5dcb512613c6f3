import { cpus, totalmem } from 'node:os'

const COLUMNS = [
  { head: 'Rate', of: 'rate', unit: rateUnit, digits: 3 },
  { head: 'CPU a request', of: 'cpuMs', unit: () => 'ms' },
  { head: 'p50', of: 'p50Ms', unit: () => 'ms' },
  { head: 'p99', of: 'p99Ms', unit: () => 'ms' },
  { head: 'Peak memory', of: 'peakBytes', unit: () => 'MB', scale: 1e-6 },
]

/** Describes the machine and the date, and how to read the table. */
export function machine({ runs }) {
  const cores = cpus()
  const memory = Math.round(totalmem() / 1e9)
  const date = new Date().toISOString().slice(0, 10)
  return `${date}, Node ${process.versions.node}, ${cores.length} cores (${cores[0].model.trim()}), ${memory} GB; medians of ${runs}.`
}

/**
 * The table: Sluice's figure, the other's figure, and their ratio.
 *
 * @param {{work: object, runs: Map<string, object>[]}[]} results a work's runs, each with the figures by contender
 */
export function table(results) {
  const rows = results.flatMap(({ work, runs }) => {
    const [sluice, ...others] = work.contenders.map(({ name }) => name)
    return others.map((other) => [work.title, other, ...cells({ work, runs, sluice, other })])
  })
  const head = ['Work', 'Compared with', ...COLUMNS.map(({ head }) => head)]
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
}

function cells({ work, runs, sluice, other }) {
  if (!runs[0].has(other)) return COLUMNS.map((_, i) => (i === 0 ? 'not installed' : ''))
  return COLUMNS.map(({ of, unit, scale = 1 }) => {
    const [ours, theirs] = [sluice, other].map((name) => runs.map((run) => run.get(name)[of]))
    // The median of the runs' ratios, not the ratio of medians: noise in a run affects both its figures.
    const ratio = median(ours.map((figure, i) => figure / theirs[i]))
    const [a, b] = [ours, theirs].map((figures) => short(median(figures) * scale))
    return `**${ratio.toFixed(2)}** (${a} : ${b} ${unit(work)})`
  })
}

function rateUnit({ megabytes }) {
  return megabytes ? 'MB/s' : '/s'
}

/** With three significant digits. */
export function short(figure) {
  return figure >= 100 ? String(Math.round(figure)) : String(Number(figure.toPrecision(3)))
}

export function median(figures) {
  const sorted = figures.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
