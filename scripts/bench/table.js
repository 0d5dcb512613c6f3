import { cpus, totalmem } from 'node:os'

const COLUMNS = [
  { head: 'Rate', of: 'rate', unit: (unit) => unit },
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
  return `${date}, Node ${process.versions.node}, ${cores.length} cores (${cores[0].model.trim()}), ${memory} GB; ${runs === 1 ? 'one run' : `medians of ${runs}`}.`
}

/**
 * The comparison of a work with each other contender: its figure, the other's, and their ratio, by the names of the figures.
 *
 * @param {{work: object, runs: Map<string, object>[]}} result a work's runs, each with the figures by contender
 */
export function ratiosOf({ work, runs }) {
  const [sluice, ...others] = work.contenders
  return others.map(({ name, targets = {} }) => {
    const row = { work: work.name, title: work.title, other: name, targets, unit: rateUnit(work) }
    if (!runs[0].has(name)) return { ...row, isInstalled: false }
    const figures = COLUMNS.map(({ of }) => {
      const [ours, theirs] = [sluice.name, name].map((contender) => runs.map((run) => run.get(contender)[of]))
      // The median of the runs' ratios, not the ratio of medians: noise in a run affects both its figures.
      const ratio = median(ours.map((figure, i) => figure / theirs[i]))
      return [of, { ratio, ours: median(ours), theirs: median(theirs) }]
    })
    const isDisturbed = runs.some((run) => [sluice.name, name].some((each) => run.get(each).isDisturbed))
    return { ...row, isInstalled: true, isDisturbed, figures: Object.fromEntries(figures) }
  })
}

/** The table in Markdown. A target is behind its ratio. */
export function table(rows) {
  const head = ['Work', 'Compared with', ...COLUMNS.map(({ head }) => head)]
  const lines = rows.map((row) => [
    `${row.title}${row.isDisturbed ? ' (disturbed)' : ''}`,
    row.other,
    ...cells(row),
  ])
  return [head, head.map(() => '---'), ...lines].map((row) => `| ${row.join(' | ')} |`).join('\n')
}

function cells({ isInstalled, figures, targets, unit: unitOfRate }) {
  if (!isInstalled) return COLUMNS.map((_, i) => (i === 0 ? 'not installed' : ''))
  return COLUMNS.map(({ of, unit, scale = 1 }) => {
    const { ratio, ours, theirs } = figures[of]
    const target = targets[of] === undefined ? '' : `, target ${targets[of]}`
    return `**${ratio.toFixed(2)}** (${short(ours * scale)} : ${short(theirs * scale)} ${unit(unitOfRate)}${target})`
  })
}

// A ratio that is worse by less than this may be noise.
const TOLERANCE = 1.1

/** One sentence for each target that was missed. A rate should be higher than its target, all other figures lower. */
export function missedTargets(rows) {
  return rows.flatMap(({ work, other, figures, targets }) =>
    Object.entries(figures ? targets : {}).flatMap(([of, target]) => {
      const { ratio } = figures[of]
      const isMissed = of === 'rate' ? ratio < target / TOLERANCE : ratio > target * TOLERANCE
      return isMissed ? [`${work}: ${of} is ${ratio.toFixed(2)} of ${other}, the target is ${target}.`] : []
    }),
  )
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
