import { z } from 'zod'
import { boundedArray, boundedInteger } from '../../core/bounded-schemas.ts'
import { candidatesInFolder, type Grant } from '../../core/clients/grant.ts'
import { commonFolder } from '../../core/clients/secret-scope.ts'
import { parseExistingFolder } from '../../core/files/object-key.ts'
import { parsePath } from '../../core/files/request-path.ts'
import { badParameter, Problem } from '../../core/problem.ts'
import type { ManyFiles, NamedPath, Outcome } from '../../service/files/batch.ts'
import { noteOutcomes } from '../console/audited-by.ts'
import { EXAMPLE } from '../documents/examples.ts'
import { endpoint, json } from '../endpoint/endpoint.ts'
import { bodyOf, replyOf } from '../endpoint/named.ts'
import { instant, iso } from '../wire/instant.ts'

/** The services that handle these requests. */
export interface Services {
  many: ManyFiles
}

const PATHS_MAX = 1000
// A thousand of the longest keys: paths of 512 bytes. Escaped, Chinese takes two bytes for one.
const BODY_MAX_BYTES = 1280 * 1024

/** The outcome for a file that could not be changed. */
export const failed = z
  .object({
    path: z.string().describe('As received.'),
    status: z.literal('error'),
    code: z.string().describe('Code of the problem.'),
    detail: z.string().describe('Text for a person.'),
  })
  .describe('A file that could not be changed.')

const deletionReport = replyOf('DeletionReport', 'The outcome for each file.', {
  results: z.array(
    z.union([
      z.object({
        path: z.string().describe('As received, or the key of a file of the folder.'),
        status: z.literal('deleted'),
        deletedUntil: instant('Until when the file can be restored.').optional(),
      }),
      failed,
    ]),
  ),
  more: z.boolean().describe('Whether the folder has further files: repeat the request.'),
})
const restorationReport = replyOf('RestorationReport', 'The outcome for each file.', {
  results: z.array(
    z.union([z.object({ path: z.string().describe('As received.'), status: z.literal('restored') }), failed]),
  ),
})

const somePaths = boundedArray(z.string('a path'), {
  min: 1,
  max: PATHS_MAX,
  expected: `an array of 1 to ${PATHS_MAX} paths`,
}).describe('Paths as uploads return them in `s3PathOriginal`, not percent-encoded.')
const deletion = bodyOf(
  'BatchDeletion',
  {
    paths: somePaths.optional(),
    prefix: z.string('a folder').describe('Folder whose files are deleted, with subfolders.').optional(),
    all: z.literal(true, 'true').describe('All files.').optional(),
    limit: boundedInteger({ min: 1, max: PATHS_MAX })
      .describe('Maximum number of files of this request, with `prefix` or `all`.')
      .optional(),
    now: z.boolean('true or false').describe('Deletes permanently, also with soft delete.').optional(),
  },
  'an object of paths, or of prefix or all and limit; and of now',
)
const restoration = bodyOf('BatchRestoration', { paths: somePaths })

export const deleteFiles = endpoint({
  route: 'POST /v1/files/delete',
  id: 'deleteFiles',
  tag: 'Files',
  summary: 'Delete several files, or a folder',
  description: 'The body has exactly one of `paths`, `prefix` and `all`.',
  access: { secret: 'manage' },
  body: deletion,
  bodyMaxBytes: BODY_MAX_BYTES,
  responses: { 200: json(deletionReport, 'The outcome for each file.') },
  problems: ['400 bad_path'],
  audit: 'file.delete',
  examples: [
    {
      id: 'paths',
      summary: 'Delete files by their paths',
      body: { paths: [EXAMPLE.key] },
      status: 200,
      response: { results: [{ path: EXAMPLE.key, status: 'deleted' }], more: false },
    },
  ],

  async handle({ many }: Services, { req, caller, body, signal }) {
    const { paths, limit = PATHS_MAX, now: isPermanent = false } = body
    const folder = folderOf(body)
    const common = { client: caller.client, isPermanent, signal }
    const within = folder === undefined ? undefined : commonFolder(folder, caller.folder ?? '')
    const { outcomes, more } = paths
      ? { outcomes: await many.remove({ ...common, paths: namedPaths(paths, caller) }), more: false }
      : within === undefined
        ? { outcomes: [], more: false }
        : await many.removeFolder({ ...common, folder: within, limit })
    noteOutcomes(req, outcomes)
    const report: z.input<typeof deletionReport> = {
      results: outcomes.map((outcome) =>
        outcomeToWire(outcome, ({ until }) => ({
          status: 'deleted' as const,
          ...(until === undefined ? {} : { deletedUntil: iso(until) }),
        })),
      ),
      more,
    }
    return { json: report }
  },
})

export const restoreFiles = endpoint({
  route: 'POST /v1/files/restore',
  id: 'restoreFiles',
  tag: 'Files',
  summary: 'Restore deleted files',
  access: { secret: 'manage' },
  body: restoration,
  bodyMaxBytes: BODY_MAX_BYTES,
  responses: { 200: json(restorationReport, 'The outcome for each file.') },
  problems: ['400 bad_path', '409 not_deleted'],
  audit: 'file.restore',
  examples: [
    {
      id: 'missing',
      summary: 'A file that does not exist',
      body: { paths: ['image/jpeg/none.jpg'] },
      status: 200,
      response: {
        results: [
          {
            path: 'image/jpeg/none.jpg',
            status: 'error',
            code: 'file_not_found',
            detail: 'This file does not exist.',
          },
        ],
      },
    },
  ],

  async handle({ many }: Services, { req, caller, body: { paths }, signal }) {
    const outcomes = await many.restore({ client: caller.client, paths: namedPaths(paths, caller), signal })
    noteOutcomes(req, outcomes)
    const restored = () => ({ status: 'restored' as const })
    const report: z.input<typeof restorationReport> = {
      results: outcomes.map((outcome) => outcomeToWire(outcome, restored)),
    }
    return { json: report }
  },
})

/** The folder whose files are deleted, empty for all files; undefined for a deletion of paths. @throws Problem 400 */
function folderOf(body: z.output<typeof deletion>): string | undefined {
  const { paths, prefix, all, limit } = body
  const given = [paths, prefix, all].filter((member) => member !== undefined)
  if (given.length !== 1 || (paths && limit !== undefined))
    throw badParameter({
      param: 'the body',
      expected: 'exactly one of paths, prefix or all (limit only with prefix or all)',
      received: Object.keys(body).join(', ') || undefined,
    })
  if (prefix === '')
    throw badParameter({
      param: 'prefix',
      expected: 'a folder (for all files, send "all": true instead)',
      received: prefix,
    })
  if (paths) return undefined
  return prefix === undefined ? '' : parseExistingFolder(prefix.replace(/\/$/, ''), 'prefix')
}

/** Paths as an upload has returned them: not percent-encoded. An invalid path becomes an outcome of its own. */
function namedPaths(received: readonly string[], grant: Grant): NamedPath[] {
  return received.map((path, i) => ({ path, meanings: meaningsOf(path, `paths[${i}]`, grant) }))
}

/** The meanings of one path, or the reason why it is invalid. @param param names it in messages */
export function meaningsOf(path: string, param: string, grant: Grant): NamedPath['meanings'] {
  try {
    return candidatesInFolder(parsePath(path, { param }), grant)
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}

/** The outcome for one file in a report. */
export function outcomeToWire<T, W extends object>({ path, done }: Outcome<T>, well: (done: T) => W) {
  if (done instanceof Problem)
    return { path, status: 'error' as const, code: done.code, detail: done.message }
  return { path, ...well(done) }
}
