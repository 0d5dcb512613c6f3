import { formatBytes, formatNumber } from '../../ui/format.ts'
import { HEALTH } from './texts.ts'

const clock = new Intl.DateTimeFormat('en', { timeStyle: 'medium' })

/** `9:30:05 AM`. */
export function formatClock(at: number): string {
  return clock.format(at)
}

/** The value of a variable, with a unit when its name ends with one: `5.4 GB`, `1 h 30 min`. */
export function formatSetting(name: string, value: number | string | readonly string[]): string {
  if (typeof value === 'number') {
    if (name.endsWith('_BYTES')) return formatBytes(value)
    if (name.endsWith('_SECONDS')) return HEALTH.duration(value)
    if (name.endsWith('PORT')) return String(value)
    return formatNumber(value)
  }
  return (typeof value === 'string' ? value : value.join(', ')) || HEALTH.empty
}
