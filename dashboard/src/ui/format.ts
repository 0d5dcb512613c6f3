const LOCALE = 'en'
const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']
const STEPS: ReadonlyArray<[unit: Intl.RelativeTimeFormatUnit, seconds: number]> = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]
const numbers = new Intl.NumberFormat(LOCALE)
const compact = new Intl.NumberFormat(LOCALE, { notation: 'compact', maximumFractionDigits: 1 })
const percents = new Intl.NumberFormat(LOCALE, { style: 'percent', maximumFractionDigits: 1 })
const relative = new Intl.RelativeTimeFormat(LOCALE, { numeric: 'auto' })
const dates = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium' })
const times = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'short' })

/** `1,234`. */
export function formatNumber(value: number): string {
  return numbers.format(value)
}

/** `1.2K`. */
export function formatCompact(value: number): string {
  return compact.format(value)
}

/** `12.5%` for 0.125. */
export function formatPercent(value: number): string {
  return percents.format(value)
}

/** `1.5 MB`: units of 1,000, as storage is sold. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** power
  const digits = power === 0 || value >= 100 ? 0 : 1
  return `${value.toLocaleString(LOCALE, { maximumFractionDigits: digits })} ${UNITS[power]}`
}

/** `Nov 24, 2026`. */
export function formatDate(at: string | number | Date): string {
  return dates.format(new Date(at))
}

/** `Nov 24, 2026, 9:30 AM`. */
export function formatTime(at: string | number | Date): string {
  return times.format(new Date(at))
}

/** `5 minutes ago`, `in 2 days`. */
export function formatAgo(at: string | number | Date, now = Date.now()): string {
  const seconds = (new Date(at).getTime() - now) / 1000
  const [unit, size] = STEPS.find(([, step]) => Math.abs(seconds) >= step) ?? ['second', 1]
  if (unit === 'second' && Math.abs(seconds) < 45) return 'just now'
  return relative.format(Math.round(seconds / size), unit)
}
