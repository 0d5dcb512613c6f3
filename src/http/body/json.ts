import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Request } from 'express'
import pLimit from 'p-limit'
import { createPlaces } from '../../core/budgets/places.ts'
import { busy, Problem, tooLarge, unsupportedMediaType } from '../../core/problem.ts'
import { jsonErrorPlace } from '../../core/text/json-position.ts'
import { isOfType } from '../request.ts'
import { bodyDigests } from './digests.ts'
import { EXPECTED_SIZE, isOfFewValues } from './json-limits.ts'
import { watchRate } from './min-rate.ts'

// Parsed in less than a millisecond. People write smaller bodies by hand, and look for their typing errors.
const QUICK_BYTES = 64 * 1024
// Bodies above QUICK_BYTES in the memory of this process, of at most 1.25 MiB each.
const LARGE_AT_ONCE = 64
const LARGE_AT_ONCE_OF_ONE = 16
const places = createPlaces()
// Larger bodies are parsed in different turns of the event loop, so that other requests are answered between them.
const oneInTurn = pLimit(1)

/**
 * Reads a request body as JSON in UTF-8. When it exceeds `maxBytes`, this fails at once, before the rest is received.
 *
 * @param options `payer`: the client or caller, of whom a few large bodies may be in memory at a time
 * @throws Problem 400 for invalid JSON, too many values, or bytes that do not match a digest in a header; 408 for a client that is too
 *   slow; 413; 415 for another type or a compressed body; 503 while too many large bodies are in memory
 */
export async function jsonBody(
  req: Request,
  {
    maxBytes,
    minBytesPerSecond,
    payer,
    mediaTypes = ['application/json'],
  }: { maxBytes: number; minBytesPerSecond: number; payer: string; mediaTypes?: readonly string[] },
): Promise<unknown> {
  checkBodyType(req, mediaTypes)
  if (Number(req.headers['content-length']) > maxBytes) throw tooLarge('a request body', maxBytes)
  let unwatch = () => {}
  const tooSlow = new Promise<never>((_, reject) => {
    unwatch = watchRate(req, minBytesPerSecond, reject)
  })
  const place = placeFor(payer)
  try {
    const body = await Promise.race([wholeBody(req, { maxBytes, place }), tooSlow]).finally(unwatch)
    if (body.length > QUICK_BYTES) await oneInTurn(() => nextTurn())
    return parsed(body)
  } finally {
    place.giveBack()
  }
}

/** A place for a large body, which is taken when the body turns out to be large. */
function placeFor(payer: string) {
  let giveBack: (() => void) | undefined
  // A body that was refused as too slow may still arrive.
  let isOver = false
  return {
    /** @throws Problem 503 */
    take(): void {
      if (giveBack || isOver) return
      const taken = places.take([
        { name: '', atMost: LARGE_AT_ONCE },
        { name: payer, atMost: LARGE_AT_ONCE_OF_ONE },
      ])
      if ('full' in taken)
        throw busy(
          `Too many requests with large JSON bodies at the same time (limit ${taken.full.atMost}). Retry in a few seconds.`,
        )
      giveBack = taken.giveBack
    },
    giveBack(): void {
      isOver = true
      giveBack?.()
    },
  }
}

function parsed(body: Buffer): unknown {
  if (!isOfFewValues(body)) throw badJson(`expected a JSON body of ${EXPECTED_SIZE} but received more`)
  try {
    return JSON.parse(utf8(body), withoutProto)
  } catch (error) {
    if (error instanceof Problem) throw error
    // The error of V8 quotes the body, which is neither for the log nor for the caller.
    throw badJson(`expected a JSON object as the body${defectOf(body)}`)
  }
}

/** What is wrong with a body. Empty for valid JSON, which has a member called `__proto__`. */
function defectOf(body: Buffer): string {
  if (body.length > QUICK_BYTES) return ' but received invalid JSON'
  const place = jsonErrorPlace(utf8(body))
  return place === undefined ? '' : ` but received invalid JSON: see ${place}`
}

function utf8(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    // The error of the parser quotes the body, which must not appear in the log or the response.
    throw badJson('expected a JSON object as the body but received invalid UTF-8')
  }
}

/** Checks only the headers, before any of the body is read. @throws Problem 415 for another type or a compressed body */
export function checkBodyType(req: Request, mediaTypes: readonly string[] = ['application/json']): void {
  const expected = mediaTypes.join(', ')
  const received = req.headers['content-type']
  if (!mediaTypes.some((mediaType) => isOfType(req, mediaType)))
    throw unsupportedMediaType({ expected, received })
  const encoding = req.headers['content-encoding']
  if (encoding !== undefined) throw unsupportedMediaType({ expected, received: `${received} in ${encoding}` })
}

async function wholeBody(
  req: Request,
  { maxBytes, place }: { maxBytes: number; place: ReturnType<typeof placeFor> },
): Promise<Buffer> {
  const chunks: Buffer[] = []
  const digests = bodyDigests(req.headers)
  let size = 0
  try {
    // Do not close the connection: the response must still be sent.
    for await (const chunk of req.iterator({ destroyOnReturn: false })) {
      size += chunk.length
      if (size > maxBytes) throw tooLarge('a request body', maxBytes)
      if (size > QUICK_BYTES) place.take()
      digests?.add(chunk)
      chunks.push(chunk)
    }
  } catch (error) {
    if (req.destroyed) throw new DOMException('the client has disconnected', 'AbortError')
    throw error
  }
  digests?.verify()
  return Buffer.concat(chunks)
}

function badJson(detail: string): Problem {
  return new Problem({ status: 400, code: 'bad_json', detail })
}

/** Zod silently ignores a member named `__proto__`. Here, as every unknown member, it is rejected. */
function withoutProto(name: string, value: unknown): unknown {
  if (name === '__proto__') throw new SyntaxError('a member is called __proto__')
  return value
}
