import { METRICS, type UsageRow } from './report.ts'

const COLUMNS = ['day', 'client', 'storedBytes', 'uploads', ...METRICS] as const

/** Saves the rows as a CSV file, with the names of the API as its header. */
export function saveCsv(rows: readonly UsageRow[], name: string): void {
  const lines = rows.map((row) => COLUMNS.map((column) => row[column] ?? '').join(','))
  const text = `${[COLUMNS.join(','), ...lines].join('\n')}\n`
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  link.download = name
  link.click()
  // After the browser has begun to read it.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
