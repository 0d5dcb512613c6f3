import { z } from 'zod'
import { boundedArray } from '../../core/bounded-schemas.ts'
import type { Grant } from '../../core/clients/grant.ts'
import { Problem } from '../../core/problem.ts'
import { type Outcome, outcomesOf } from '../../service/files/batch.ts'
import type { Copies, CopyRequest } from '../../service/moves/copies.ts'
import { noteOutcomes } from '../console/audited-by.ts'
import { endpoint, json } from '../endpoint/endpoint.ts'
import { named, replyOf } from '../endpoint/named.ts'
import { failed, outcomeToWire } from '../files/batch.ts'
import { type FileServices, placeOf } from '../files/file.ts'
import { fileToWire } from '../wire/file-details.ts'
import { instant, iso } from '../wire/instant.ts'
import { file } from '../wire/record.ts'
import { type NamedCopy, namedCopy, redirectMsOf } from './named-copy.ts'

/** The services that handle these requests. */
export interface Services extends FileServices {
  copies: Copies
}

// In S3 each file takes several requests. With 100 files, a response takes some seconds.
const FILES_MAX = 100
// Enough for a hundred pairs of the longest paths, with four bytes per character, escaped.
const BODY_MAX_BYTES = 1024 * 1024
const CONCURRENCY = 4

const path = z.string().describe('As received in `from`.')
const copyReport = replyOf('CopyReport', 'The outcome for each file.', {
  results: z.array(
    z.union([
      z.object({
        path,
        status: z.literal('copied'),
        file: file.describe('The copy, or an identical file of the folder that is used instead.'),
      }),
      failed,
    ]),
  ),
})
const moveReport = replyOf('MoveReport', 'The outcome for each file.', {
  results: z.array(
    z.union([
      z.object({
        path,
        status: z.literal('moved'),
        file: file.describe('The file at its new path.'),
        redirectUntil: instant('Until when the former URLs redirect. Only with `redirect`.').optional(),
      }),
      failed,
    ]),
  ),
})

const from = z.string('a path').describe('Path of the file, as uploads return it in `s3PathOriginal`.')
const to = z
  .string('a folder or a path')
  .describe(
    'A folder, empty for the top level: the file gets a new id. Or a path that ends with the `sourceName` of the file: it retains its id.',
  )
const listOf = <File extends z.ZodType>(one: File) =>
  z.strictObject(
    { files: boundedArray(one, { min: 1, max: FILES_MAX, expected: `an array of 1 to ${FILES_MAX} files` }) },
    'an object of files',
  )
const copying = named('BatchCopy', listOf(z.strictObject({ from, to }, 'an object of from and to')))
const moving = named(
  'BatchMove',
  listOf(
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
  ),
)

const MISSING = 'image/jpeg/none.jpg'
const FAILED = {
  path: MISSING,
  status: 'error',
  code: 'file_not_found',
  detail: 'This file does not exist.',
}

const copyFiles = endpoint({
  route: 'POST /v1/files/copy',
  id: 'copyFiles',
  tag: 'Files',
  summary: 'Copy files',
  description:
    'The bytes are copied within the bucket. A copy has the name, tags and metadata of its source.',
  access: { secret: 'manage' },
  body: copying,
  once: true,
  bodyMaxBytes: BODY_MAX_BYTES,
  responses: { 200: json(copyReport, 'The outcome for each file.') },
  problems: ['400 bad_path', '404 file_not_found', '409 file_exists', '503 storage_full'],
  audit: 'file.copy',
  examples: [
    {
      id: 'missing',
      summary: 'A file that does not exist',
      body: { files: [{ from: MISSING, to: 'archive' }] },
      status: 200,
      response: { results: [FAILED] },
    },
  ],

  async handle({ copies, ...services }: Services, { req, caller, body, signal }) {
    const files = body.files.map((one, i) => namedCopy(one, `files[${i}]`, caller))
    const outcomes = await each(files, { caller, signal, work: (request) => copies.copy(request) })
    noteOutcomes(req, outcomes)
    const place = placeOf(caller, services)
    const report: z.input<typeof copyReport> = {
      results: outcomes.map((outcome) =>
        outcomeToWire(outcome, (copy) => ({ status: 'copied' as const, file: fileToWire(copy, place) })),
      ),
    }
    return { json: report }
  },
})

const moveFiles = endpoint({
  route: 'POST /v1/files/move',
  id: 'moveFiles',
  tag: 'Files',
  summary: 'Move files to other folders',
  description:
    'With `redirect`, the former delivery URLs return 308 to the new ones until that time has passed.',
  access: { secret: 'manage' },
  body: moving,
  bodyMaxBytes: BODY_MAX_BYTES,
  responses: { 200: json(moveReport, 'The outcome for each file.') },
  problems: ['400 bad_path', '404 file_not_found', '409 file_exists', '503 storage_full'],
  audit: 'file.move',
  examples: [
    {
      id: 'missing',
      summary: 'A file that does not exist',
      body: { files: [{ from: MISSING, to: 'archive', redirect: '7d' }] },
      status: 200,
      response: { results: [FAILED] },
    },
  ],

  async handle({ copies, ...services }: Services, { req, caller, body, signal }) {
    const files = body.files.map(({ redirect, ...one }, i) => ({
      ...namedCopy(one, `files[${i}]`, caller),
      redirectMs: redirect === undefined ? undefined : redirectMsOf(redirect, `files[${i}].redirect`),
    }))
    const outcomes = await each(files, { caller, signal, work: (request) => copies.move(request) })
    noteOutcomes(req, outcomes)
    const place = placeOf(caller, services)
    const report: z.input<typeof moveReport> = {
      results: outcomes.map((outcome) =>
        outcomeToWire(outcome, ({ redirectUntil, ...moved }) => ({
          status: 'moved' as const,
          file: fileToWire(moved, place),
          ...(redirectUntil === undefined ? {} : { redirectUntil: iso(redirectUntil) }),
        })),
      ),
    }
    return { json: report }
  },
})

/** Copies and moves of files. */
export const COPIES = [copyFiles, moveFiles]

/** Completed files stay copied when the caller disconnects. */
function each<T>(
  files: readonly NamedCopy[],
  {
    caller: { client },
    signal,
    work,
  }: {
    caller: Grant
    signal: AbortSignal
    work: (request: CopyRequest & Pick<NamedCopy, 'redirectMs'>) => Promise<T>
  },
): Promise<Outcome<T>[]> {
  const one = async ({ meanings, to: target, redirectMs }: NamedCopy) => {
    if (meanings instanceof Problem) throw meanings
    if (target instanceof Problem) throw target
    return work({ client, from: meanings, to: target, redirectMs, signal })
  }
  return outcomesOf(files, { concurrency: CONCURRENCY, signal, work: one })
}
