import type { ListOptions } from '../../../../client/index.ts'

export const SORTS = [
  '-uploaded',
  'uploaded',
  'name',
  '-name',
  '-size',
  'size',
  'key',
  '-key',
] as const satisfies ReadonlyArray<ListOptions['sort']>
export const TYPES = ['image', 'video', 'audio', 'text', 'application'] as const satisfies ReadonlyArray<
  ListOptions['type']
>

export type Sort = (typeof SORTS)[number]
export type FileType = (typeof TYPES)[number]

/** What the URL of the page says about the list. Default: all files of the folder, the newest first. */
export interface FilesSearch {
  sort?: Sort
  /** A part of the name. */
  q?: string
  type?: FileType
  tag?: string
  /** Days in UTC, both inclusive. */
  from?: string
  to?: string
  /** The key of the file whose details are open. */
  file?: string
}

const DAY = /^20\d\d-\d\d-\d\d$/

/** Reads the parameters of the URL, and ignores what is invalid. */
export function readFilesSearch(given: Record<string, unknown>): FilesSearch {
  const search: FilesSearch = {}
  const sort = SORTS.find((one) => one === given.sort)
  const type = TYPES.find((one) => one === given.type)
  if (sort && sort !== '-uploaded') search.sort = sort
  if (type) search.type = type
  for (const name of ['q', 'tag', 'file'] as const) {
    // A number in a URL is read as a number.
    const text = typeof given[name] === 'number' ? String(given[name]) : given[name]
    if (typeof text === 'string' && text !== '') search[name] = text
  }
  for (const name of ['from', 'to'] as const) {
    const day = given[name]
    if (typeof day === 'string' && DAY.test(day)) search[name] = day
  }
  return search
}

/** The filters in use. With any of them, the list includes all folders below. */
export function filtersOf({ q, type, tag, from, to }: FilesSearch) {
  return { q, type, tag, from, to }
}

export function isFiltered(search: FilesSearch): boolean {
  return Object.values(filtersOf(search)).some((value) => value !== undefined)
}

/** A search without these members. */
export function without(search: FilesSearch, ...names: Array<keyof FilesSearch>): FilesSearch {
  const rest = { ...search }
  for (const name of names) delete rest[name]
  return rest
}
