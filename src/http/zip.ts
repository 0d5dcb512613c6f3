import { pipeline } from 'node:stream/promises'
import { json, type Request, Router } from 'express'
import { z } from 'zod'
import { checkEntryName } from '../core/entry-name.ts'
import { MEDIA_GROUPS } from '../core/media.ts'
import { parsePath } from '../core/object-key.ts'
import type { RateLimiter } from '../core/ports/rate-limiter.ts'
import { badParameter, badPath, Problem } from '../core/problem.ts'
import type { Archive, ArchiveItem } from '../service/archive.ts'
import type { Clients } from '../service/clients.ts'
import { drainAfterAnswer } from './drain.ts'
import { methodNotAllowed } from './problem.ts'
import { takePoint } from './rate-limit.ts'
import { clientGone } from './request.ts'

interface Dependencies {
  clients: Clients
  archive: Archive
  limiter: RateLimiter
}

// 100 items with the longest paths, names and parameters.
const BODY_MAX_BYTES = 1024 * 1024

const zipRequest = z.strictObject({
  files: z
    .array(
      z.strictObject({
        path: z.string(),
        type: z.enum(MEDIA_GROUPS).default('image'),
        params: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
        name: z.string().optional(),
      }),
    )
    .min(1)
    .max(100),
  archiveName: z
    .string()
    .min(1)
    .max(255)
    .regex(/^[^\\/\p{Cc}\p{Cs}]+$/u)
    .default('archive.zip'),
})

/** `POST /v1/zip`: several files in one archive, each as its own delivery URL would give it. */
export function zipRoutes({ clients, archive, limiter }: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  const readJson = json({ limit: BODY_MAX_BYTES, strict: true, reviver: withoutProto })
  routes.post('/v1/zip', drainAfterAnswer, async (req, res) => {
    const client = clients.authenticate(req.headers.authorization)
    await takePoint(res, limiter, { policy: 'zip', key: client.id })
    if (!req.is('application/json')) throw notJson(req)
    await new Promise<void>((resolve, reject) =>
      readJson(req, res, (error) => (error ? reject(unreadable(error)) : resolve())),
    )
    const { items, archiveName } = readRequest(req.body)
    const signal = clientGone(res)
    res.attachment(archiveName)
    res.setHeader('Content-Type', 'application/zip')
    res.setHeader('Cache-Control', 'no-store')
    res.setHeader('X-Content-Type-Options', 'nosniff')
    await pipeline(archive({ client, archiveName, items, signal }), res).catch((error) => {
      if (!signal.aborted) throw error
    })
  })
  routes.all('/v1/zip', methodNotAllowed('POST'))
  return routes
}

/** Checks all of a request before any of its files is looked for. @throws Problem 400 that names the item */
function readRequest(body: unknown): { archiveName: string; items: ArchiveItem[] } {
  const read = zipRequest.safeParse(body)
  if (!read.success) throw refusal(read.error, body)
  const { files, archiveName } = read.data
  const items = files.map(({ path, type, params, name }, i) => {
    const decoded = decodeOnce(path, `files[${i}].path`)
    parsePath(decoded, { param: `files[${i}].path` })
    const query = Object.entries(params).map(([key, value]) => [key, textOf(value)] as const)
    const entryName =
      name === undefined
        ? checkEntryName(decoded, `files[${i}].path`)
        : checkEntryName(name, `files[${i}].name`)
    return { group: type, path: decoded, requestedPath: path, query, name: entryName }
  })
  return { archiveName, items }
}

/** zod passes over a member of this name in silence; here every unknown one is refused. */
function withoutProto(name: string, value: unknown): unknown {
  if (name === '__proto__') throw new SyntaxError('a member is called __proto__')
  return value
}

function decodeOnce(path: string, param: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    throw badPath(param, 'valid percent-encoding', path)
  }
}

function textOf(value: string | number | boolean): string {
  return typeof value === 'boolean' ? String(Number(value)) : String(value)
}

function refusal({ issues }: z.ZodError, body: unknown): Problem {
  const issue = issues[0]
  const path = issue?.path ?? []
  const param = path.reduce<string>(
    (text, key) => text + (typeof key === 'number' ? `[${key}]` : `${text ? '.' : ''}${String(key)}`),
    '',
  )
  const received = path.reduce<unknown>(
    (value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key],
    body,
  )
  if (param === 'files' && Array.isArray(received))
    return badParameter('files', '1 to 100 items', `${received.length} items`)
  if (param === 'files') return badParameter('files', 'an array of 1 to 100 items', received)
  if (issue?.code === 'unrecognized_keys')
    return badParameter(param || 'the body', 'no other members', issue.keys.join(', '))
  if (issue?.code === 'invalid_value')
    return badParameter(param, `one of ${issue.values.join(', ')}`, received)
  if (param === 'archiveName') return badParameter(param, 'a file name of 1 to 255 characters', received)
  if (issue?.code === 'invalid_union')
    return badParameter(param, 'a string, a number, true or false', received)
  return badParameter(
    param || 'the body',
    issue?.code === 'invalid_type' ? `a value of type ${issue.expected}` : 'a valid value',
    received,
  )
}

function notJson(req: Request): Problem {
  const received = req.headers['content-type']
  return new Problem({
    status: 415,
    code: 'unsupported_media_type',
    detail: `expected application/json but received ${received ? JSON.stringify(received.slice(0, 100)) : 'no content type'}`,
    headers: { 'Accept-Post': 'application/json' },
  })
}

function unreadable(error: unknown): unknown {
  const { type } = error as { type?: string }
  if (type !== 'entity.parse.failed') return error
  return new Problem({
    status: 400,
    code: 'bad_json',
    detail: 'expected a JSON object as the body',
    cause: error,
  })
}
