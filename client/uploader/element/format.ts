import { fill, type Texts } from './texts.ts'

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB']

/** A size for people, in powers of 1000: `12.3 MB`. */
export function sizeText(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)))
  const value = bytes / 1000 ** power
  const digits = power === 0 || value >= 100 ? 0 : 1
  return `${value.toLocaleString(undefined, { maximumFractionDigits: digits })} ${UNITS[power]}`
}

/** A duration for people, rounded up: `40 s`, `3 min`. */
export function timeText(seconds: number, texts: Pick<Texts, 'seconds' | 'minutes' | 'hours'>): string {
  const whole = Math.max(1, Math.ceil(seconds))
  if (whole < 90) return fill(texts.seconds, { count: whole })
  if (whole < 5400) return fill(texts.minutes, { count: Math.ceil(whole / 60) })
  return fill(texts.hours, { count: Math.ceil(whole / 3600) })
}

/** Accepted types for people: `images, PDF` for `image/*,.pdf`. */
export function typesText(accept: string, texts: Texts): string {
  const groups: Record<string, string> = { image: texts.images, video: texts.videos, audio: texts.audio }
  const names = accept.split(',').flatMap((one) => {
    const [group = '', format = ''] = one.trim().split('/')
    if (group === '') return []
    if (format === '*') return [groups[group] ?? group]
    return [
      (format === '' ? group.replace(/^\./, '') : format.replace(/^(x-|vnd\.)|\+xml$/g, '')).toUpperCase(),
    ]
  })
  return [...new Set(names)].join(', ')
}

/** The value of `max-size`: bytes, or a number with a unit such as `10MB`. Undefined for anything else. */
export function bytesOf(text: string | null): number | undefined {
  const [, number, unit = ''] = /^\s*(\d+(?:\.\d+)?)\s*([kmgt]?b?)\s*$/i.exec(text ?? '') ?? []
  if (number === undefined) return undefined
  const power = Math.max(0, ['', 'k', 'm', 'g', 't'].indexOf(unit.toLowerCase().replace('b', '')))
  return Math.floor(Number(number) * 1000 ** power)
}
