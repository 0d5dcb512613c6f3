import { short } from '../table.js'

const ms = (figure) => short(figure)
const mb = (bytes) => short(bytes / 1e6)
const shown = (bounds) => (bounds ? bounds.map((share) => `${Math.round(100 * share)} %`).join(' to ') : '')

const COSTS = {
  title: 'CPU time · median time, ms',
  cell: ({ cpuMs, p50Ms }) => `${ms(cpuMs)} · ${ms(p50Ms)}`,
}
const OF_REDIS = {
  title: 'Redis: round trips · commands · KB · CPU time in µs, per request',
  cell: ({ redis }) =>
    [redis.roundTrips, redis.commands, redis.bytes / 1000, redis.cpuMs * 1000].map(short).join(' · '),
}
const PROCESS = [
  { title: 'Start, s', cell: ({ startSeconds }) => short(startSeconds) },
  { title: 'Memory of the process, MB', cell: ({ residentBytes }) => mb(residentBytes) },
  { title: 'Index, MB', cell: ({ indexBytes }) => mb(indexBytes) },
  { title: 'Index, bytes per file', cell: ({ indexBytesPerFile }) => short(indexBytesPerFile) },
  { title: 'Time to fill the index, s', cell: ({ fillSeconds }) => short(fillSeconds) },
  { title: 'CPU time of a node, share', cell: ({ nodeShares }) => shown(nodeShares?.cpu) },
  { title: 'Memory of a node, share', cell: ({ nodeShares }) => shown(nodeShares?.memory) },
]
const PROCESSES = [
  { title: 'Requests per second', cell: ({ rate }) => short(rate) },
  { title: 'CPU time of a request, ms', cell: ({ cpuMs }) => ms(cpuMs) },
  { title: 'Median · 99th percentile, ms', cell: ({ p50Ms, p99Ms }) => `${ms(p50Ms)} · ${ms(p99Ms)}` },
  { title: 'Memory of all processes, MB', cell: ({ residentBytes }) => mb(residentBytes) },
  { title: 'Redis commands of a request', cell: ({ redis }) => short(redis.commands) },
  { title: 'CPU time of Redis per request, µs', cell: ({ redis }) => short(redis.cpuMs * 1000) },
]
const both = ({ p50Ms, p99Ms }) => `${short(p50Ms)} · ${short(p99Ms)}`
const COMPARISON = [
  { title: 'Median · 99th percentile alone, ms', cell: ({ alone }) => both(alone) },
  { title: 'Median · 99th percentile during a comparison, ms', cell: ({ comparing }) => both(comparing) },
  { title: 'Ratio of both', cell: ({ ratio }) => both(ratio) },
  { title: 'Time of a comparison, s', cell: ({ comparisonSeconds }) => short(comparisonSeconds) },
]
const UNCHANGED = [
  { title: 'Time, s', cell: ({ seconds }) => short(seconds) },
  { title: 'CPU time of all processes, µs per file', cell: ({ cpuMicros }) => short(cpuMicros) },
  { title: 'CPU time of Redis, µs per file', cell: ({ redisMicros }) => short(redisMicros) },
  { title: 'CPU time of the S3 server, µs per file', cell: ({ s3Micros }) => short(s3Micros) },
  { title: 'Other programs, cores', cell: ({ otherCores }) => short(otherCores) },
]

const isProcess = ({ work }) => work === 'process'
const NAMES = {
  files: 'files',
  derivatives: 'derivatives of one file',
  processes: 'web processes',
  comparison: 'files',
  unchanged: 'files',
}

const placeOf = ({ index, files }) => (files ? `${index} with ${files.toLocaleString('en')} files` : index)

/** The tables of all groups that were measured, in Markdown. */
export function tables(rows) {
  const of = (group) => rows.filter((row) => row.group === group)
  const [files, derivatives, processes, comparison, unchanged] = Object.keys(NAMES).map(of)
  const parts = [
    ...figureTables(files.filter(isProcess), PROCESS),
    ...costTables(files.filter((row) => !isProcess(row))),
    ...costTables(derivatives),
    ...figureTables(processes, PROCESSES),
    ...figureTables(comparison, COMPARISON),
    ...figureTables(unchanged, UNCHANGED),
  ]
  return parts.join('\n\n')
}

/** A table of costs by index, and one of Redis. */
function costTables(rows) {
  return [
    ...tableOf(rows, { ...COSTS, lineOf: ({ work, index }) => `${work}, ${index} index` }),
    ...tableOf(
      rows.filter(({ index }) => index !== 'embedded'),
      { ...OF_REDIS, lineOf: ({ work, index }) => `${work}, ${index}` },
    ),
  ]
}

/** One table with a line for each figure. */
function figureTables(rows, figures) {
  const lines = rows.flatMap((row) => figures.map(({ title, cell }) => ({ ...row, title, cell })))
  const lineOf = ({ work, index, files, title }) =>
    work === 'process' ? `${title}, ${index} index` : `${work}, ${placeOf({ index, files })}: ${title}`
  return tableOf(lines, { title: 'Figure', lineOf, cell: (figures, row) => row.cell(figures) })
}

/** @returns {string[]} a table with a column for each count, or nothing when there are no rows */
function tableOf(rows, { title, lineOf, cell }) {
  if (rows.length === 0) return []
  const counts = [...new Set(rows.map(({ count }) => count))].sort((a, b) => a - b)
  const names = [...new Set(rows.map(lineOf))]
  const cellsOf = (name) =>
    counts.map((count) => {
      const row = rows.find((one) => one.count === count && lineOf(one) === name)
      if (!row) return ''
      return `${cell(row.figures, row)}${row.figures.isDisturbed ? ' (disturbed)' : ''}`
    })
  const heads = counts.map((count) => `${count.toLocaleString('en')} ${NAMES[rows[0].group]}`)
  const lines = [
    [title, ...heads],
    ['---', ...counts.map(() => '---')],
    ...names.map((name) => [name, ...cellsOf(name)]),
  ]
  return [lines.map((line) => `| ${line.join(' | ')} |`).join('\n')]
}
