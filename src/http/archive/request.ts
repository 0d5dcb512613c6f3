import { z } from 'zod'
import { boundedArray, boundedRecord } from '../../core/bounded-schemas.ts'
import { checkEntryName } from '../../core/files/archive-names.ts'
import { cleanFileName, NAME_MAX_BYTES } from '../../core/files/file-name.ts'
import { parsePath } from '../../core/files/request-path.ts'
import { MEDIA_GROUPS } from '../../core/media/groups.ts'
import { badParameter, badPath } from '../../core/problem.ts'
import { percentDecoded } from '../../core/text/percent-decoded.ts'
import type { ArchiveItem } from '../../service/archive/sources.ts'
import { bodyOf } from '../endpoint/named.ts'

const MAX_ITEMS = 100
const MAX_PARAMS = 50
const EXPECTED_ARCHIVE_NAME = `a file name of at most ${NAME_MAX_BYTES} bytes, including ".zip"`
const EXPECTED_LIST = `an array of 1 to ${MAX_ITEMS} items`

// Each text describes the expected value in error messages.
const parameters = boundedRecord(
  z
    .custom<string | number | boolean>(isScalar, 'a string, a number, true or false')
    .meta({ type: ['string', 'number', 'boolean'] }),
  {
    max: MAX_PARAMS,
    expected: 'an object',
    expectedAtMost: `an object of at most ${MAX_PARAMS} parameters`,
  },
)
const item = z.strictObject(
  {
    path: z.string('a string').describe('Path of the file, percent-encoded as in a delivery URL.'),
    type: z
      .enum(MEDIA_GROUPS, `one of ${MEDIA_GROUPS.join(', ')}`)
      .describe(
        'Type of the file in URLs. Default: that of a full key; for a short path image, else any other.',
      )
      .optional(),
    params: parameters.describe('Parameters of the delivery URL.').optional(),
    parameters: parameters.describe('The same as params.').optional(),
    name: z.string('a string').describe('Name in the archive, with folders. Default: the path.').optional(),
  },
  'an object of path, type, params (or parameters) and name',
)
/** The files of an archive. */
export const zipRequest = bodyOf('ZipRequest', {
  files: boundedArray(item, { min: 1, max: MAX_ITEMS, expected: EXPECTED_LIST }),
  archiveName: z
    .string('a string')
    .trim()
    .transform((name) => (/\.zip$/i.test(name) ? name : `${name}.zip`))
    .refine((name) => name !== '.zip' && cleanFileName(name) === name, EXPECTED_ARCHIVE_NAME)
    .describe('Name of the archive.')
    .default('archive.zip'),
})

/** Checks all paths and names before any of the files is looked up. @throws Problem 400 that names the item */
export function itemsOf(files: z.output<typeof zipRequest>['files']): ArchiveItem[] {
  return files.map(({ path, type, params, parameters, name }, i) => {
    const param = `files[${i}].path`
    const decoded = percentDecoded(path)
    if (decoded === undefined) throw badPath({ param, expected: 'in valid percent-encoding', received: path })
    parsePath(decoded, { param })
    if (params && parameters)
      throw badParameter({ param: `files[${i}]`, expected: 'either params or parameters', received: 'both' })
    const query = Object.entries(params ?? parameters ?? {}).map(
      ([key, value]) => [key, textOf(value)] as const,
    )
    const entryName =
      name === undefined ? checkEntryName(decoded, param) : checkEntryName(name, `files[${i}].name`)
    return { ...(type ? { group: type } : {}), path: decoded, requestedPath: path, query, name: entryName }
  })
}

/** One custom schema: a union would create three issues for each invalid value. */
function isScalar(value: unknown): boolean {
  return ['string', 'boolean'].includes(typeof value) || Number.isFinite(value)
}

function textOf(value: string | number | boolean): string {
  return typeof value === 'boolean' ? String(Number(value)) : String(value)
}
