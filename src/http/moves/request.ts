import { z } from 'zod'
import { boundedArray } from '../../core/bounded-schemas.ts'
import { folderWithin, type Grant } from '../../core/clients/grant.ts'
import { parseFolder, parseKey, SOURCE_NAME } from '../../core/files/object-key.ts'
import { parsePath } from '../../core/files/request-path.ts'
import { badParameter, Problem } from '../../core/problem.ts'
import { parseDuration } from '../../core/text/duration.ts'
import type { NamedPath } from '../../service/files/batch.ts'
import type { CopyTarget } from '../../service/moves/target.ts'
import { checkedBody } from '../body/parse.ts'
import { meaningsOf } from '../files/batch-request.ts'

// In S3 each file takes several requests. With 100 files, a response takes some seconds.
const FILES_MAX = 100
const EXPECTED_FILES = `an array of 1 to ${FILES_MAX} files`

const from = z.string('a path').describe('Path of the file, as uploads return it in `s3PathOriginal`.')
const to = z
  .string('a folder or a path')
  .describe(
    'A folder, empty for the top level: the file gets a new id. Or a path that ends with the `sourceName` of the file: it retains its id.',
  )

const listOf = <File extends z.ZodType>(file: File) =>
  z.strictObject(
    { files: boundedArray(file, { min: 1, max: FILES_MAX, expected: EXPECTED_FILES }) },
    'an object of files',
  )

/** Files to copy. */
export const copying = listOf(z.strictObject({ from, to }, 'an object of from and to'))

/** Files to move. */
export const moving = listOf(
  z.strictObject(
    {
      from,
      to,
      redirect: z
        .string('a duration')
        .describe('How long the former URLs redirect to the new ones: `90m`, `24h`, `7d`; at most `365d`.')
        .optional(),
    },
    'an object of from, to and redirect',
  ),
)

/** A file to copy or move. An invalid path becomes an outcome of its own. */
export interface NamedCopy extends NamedPath {
  to: CopyTarget | Problem
  /** At least 1000. */
  redirectMs?: number | undefined
}

/** Validates the body of a copy. @throws Problem 400 */
export function readCopying(body: unknown, grant: Grant): NamedCopy[] {
  return checkedBody(copying, body).files.map((file, i) => namedCopy(file, `files[${i}]`, grant))
}

/** Validates the body of a move. @throws Problem 400 */
export function readMoving(body: unknown, grant: Grant): NamedCopy[] {
  return checkedBody(moving, body).files.map(({ redirect, ...file }, i) => ({
    ...namedCopy(file, `files[${i}]`, grant),
    redirectMs: redirect === undefined ? undefined : redirectMsOf(redirect, `files[${i}].redirect`),
  }))
}

function namedCopy(file: { from: string; to: string }, param: string, grant: Grant): NamedCopy {
  return {
    path: file.from,
    meanings: meaningsOf(file.from, `${param}.from`, grant),
    to: targetOf(file.to, `${param}.to`, grant),
  }
}

/** @returns a Problem for an invalid target, or one outside the folder of the secret */
function targetOf(text: string, param: string, grant: Grant): CopyTarget | Problem {
  try {
    const { folder, sourceName } = parsedTarget(text, param)
    const within = folderWithin(parseFolder(folder === '' ? undefined : folder, param), grant) ?? ''
    return { folder: within, ...(sourceName === undefined ? {} : { sourceName }) }
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}

/** No folder may end with the name of a stored file, so a text is either a path or a folder. */
function parsedTarget(text: string, param: string): CopyTarget {
  const slash = text.lastIndexOf('/')
  const sourceName = text.slice(slash + 1)
  if (!SOURCE_NAME.test(sourceName)) return { folder: text.replace(/\/$/, '') }
  parsePath(text, { param })
  return { folder: parseKey(text)?.folder ?? text.slice(0, Math.max(0, slash)), sourceName }
}

function redirectMsOf(text: string, param: string): number {
  const ms = parseDuration(text)
  if (ms) return ms
  const expected = 'an integer from 1 and s, m, h or d (90m, 24h, 7d), at most 365d'
  throw badParameter({ param, expected, received: text })
}
