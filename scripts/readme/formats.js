import { FORMATS } from '../../src/core/media/formats.ts'
import { FORMATS_BY_NAME, ZIPS_BY_NAME } from '../../src/core/media/further-formats.ts'

/** The rows of the table of docs/reference/formats.md. */
export function formats() {
  const byName = new Set([...FORMATS_BY_NAME, ...ZIPS_BY_NAME].map(([name]) => name))
  return FORMATS.map(({ name, group, mediaType, extension }) => [
    `\`${name}\``,
    `\`${group}\``,
    `\`${mediaType}\``,
    `\`.${extension}\``,
    byName.has(name) ? 'name' : '',
  ])
}
