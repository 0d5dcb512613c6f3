import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeVariables } from '../../config/load.ts'
import { root } from '../ready/run.js'

const defaults = new Map(describeVariables().map(({ name, default: value }) => [name, value]))

/** The default of a variable of the environment, as a number. */
export function defaultOf(name) {
  const value = defaults.get(name)
  if (value === undefined || !/^\d+$/.test(value)) throw new Error(`${name} has no number as its default`)
  return Number(value)
}

/** A constant number of a source file: most are of no use to other files, and so are not exported. */
export function constantOf(file, name) {
  const text = readFileSync(join(root, 'src', file), 'utf8')
  const given = new RegExp(`const ${name} = ([\\d_ *]+)$`, 'm').exec(text)?.[1]
  if (given === undefined) throw new Error(`src/${file} has no constant number ${name}`)
  return given
    .split(/\*(?!\*)(?<!\*\*)/)
    .reduce((product, factor) => product * Number(factor.replaceAll('_', '')), 1)
}

/** The largest side of an image in a format, in pixels. */
export function maxSideOf(format) {
  const text = readFileSync(join(root, 'src', 'engines/image/failures.ts'), 'utf8')
  const given = new RegExp(`format: '${format}', maxSide: ([\\d_]+)`).exec(text)?.[1]
  if (given === undefined) throw new Error(`src/engines/image/failures.ts has no side of ${format}`)
  return Number(given.replaceAll('_', ''))
}

const UNITS = [
  [1024 ** 3, 'GiB'],
  [1024 ** 2, 'MiB'],
  [1024, 'KiB'],
  [1e9, 'GB'],
  [1e6, 'MB'],
  [1e3, 'KB'],
]
/** Bytes in the unit with the smallest whole number: `5 GiB`, `40 MB`. */
export function bytes(count) {
  const fitting = UNITS.filter(([size]) => count >= size && count % size === 0)
  const [size, unit] = fitting.sort(([a], [b]) => b - a)[0] ?? [1, 'bytes']
  return `${count / size} ${unit}`
}

export function megapixels(count) {
  return `${count / 1e6} megapixels`
}

/** Seconds in the largest unit that fits without decimals. */
export function duration(seconds) {
  const [size, unit] = [
    [86_400, 'day'],
    [3600, 'hour'],
    [60, 'minute'],
  ].find(([size]) => seconds % size === 0) ?? [1, 'second']
  const count = seconds / size
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
