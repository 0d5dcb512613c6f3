import { z } from 'zod'
import { parseFolder, parsePath } from '../core/object-key.ts'
import { badParameter, Problem } from '../core/problem.ts'
import { commonFolder, type Grant, meaningsWithin } from '../core/scope.ts'
import type { NamedPath } from '../service/many-files.ts'
import { bodyRefusal } from './body-refusal.ts'
import { boundedArray } from './bounded.ts'

const PATHS_MAX = 1000
const EXPECTED_PATHS = `an array of 1 to ${PATHS_MAX} paths`
const EXPECTED_LIMIT = `an integer from 1 to ${PATHS_MAX}`

const paths = boundedArray(z.string('a path'), { min: 1, max: PATHS_MAX, expected: EXPECTED_PATHS })
const limit = z.int(EXPECTED_LIMIT).min(1, EXPECTED_LIMIT).max(PATHS_MAX, EXPECTED_LIMIT)

const deletion = z.strictObject(
  {
    paths: paths.optional(),
    prefix: z.string('a folder').optional(),
    all: z.literal(true, 'true').optional(),
    limit: limit.optional(),
    now: z.boolean('true or false').optional(),
  },
  'an object of paths, or of prefix or all and limit; and of now',
)
const restoration = z.strictObject({ paths }, 'an object of paths')

export type Deletion = { how: 'for good' | undefined } & (
  | { paths: NamedPath[] }
  /** `folder` undefined: none that the secret is for. */
  | { paths?: undefined; folder: string | undefined; limit: number }
)

/** @throws Problem 400 */
export function readDeletion(body: unknown, grant: Grant): Deletion {
  const read = deletion.safeParse(body)
  if (!read.success) throw bodyRefusal(read.error, body)
  const { now, prefix, all, limit: most = PATHS_MAX } = read.data
  const how = now ? 'for good' : undefined
  const asked = [read.data.paths, prefix, all].filter((member) => member !== undefined)
  if (asked.length !== 1 || (read.data.paths && read.data.limit !== undefined))
    throw badParameter({
      param: 'the body',
      expected: 'one of paths, prefix and all, limit with one of the last two,',
      received: Object.keys(read.data).join(', ') || undefined,
    })
  if (read.data.paths) return { how, paths: namedPaths(read.data.paths, grant) }
  if (prefix === '')
    throw badParameter({ param: 'prefix', expected: 'a folder, or "all": true,', received: prefix })
  const folder = prefix === undefined ? '' : parseFolder(prefix.replace(/\/$/, ''), 'prefix')
  return { how, folder: commonFolder(folder, grant.folder ?? ''), limit: most }
}

/** @throws Problem 400 */
export function readRestoration(body: unknown, grant: Grant): NamedPath[] {
  const read = restoration.safeParse(body)
  if (!read.success) throw bodyRefusal(read.error, body)
  return namedPaths(read.data.paths, grant)
}

/** As an upload has answered them: not encoded. One that no file may have is told of with the others. */
function namedPaths(received: readonly string[], grant: Grant): NamedPath[] {
  return received.map((path, i) => ({ path, meanings: meaningsOf(path, `paths[${i}]`, grant) }))
}

function meaningsOf(path: string, param: string, grant: Grant): NamedPath['meanings'] {
  try {
    return meaningsWithin(parsePath(path, { param }), grant)
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}
