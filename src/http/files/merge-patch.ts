import { annotated, checkTags, mergeMetadata } from '../../core/files/annotations.ts'
import { cleanFileName } from '../../core/files/file-name.ts'
import type { OriginalRecord } from '../../core/ports/file-index.ts'
import { badParameter } from '../../core/problem.ts'

const MEMBERS = ['originalName', 'tags', 'metadata']

/**
 * Reads a merge patch of a file's record. Returns the function that applies it.
 *
 * @see RFC 7396
 * @throws Problem 400
 */
export function readFileChange(body: unknown): (record: OriginalRecord) => OriginalRecord {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw badParameter({ param: 'the body', expected: `an object of ${MEMBERS.join(', ')}`, received: body })
  const other = Object.keys(body).find((name) => !MEMBERS.includes(name))
  if (other !== undefined)
    throw badParameter({ param: 'the body', expected: `only ${MEMBERS.join(', ')}`, received: other })
  const { originalName, tags, metadata } = body as Record<string, unknown>
  const name = originalName === undefined ? undefined : checkedName(originalName)
  const newTags = tags === undefined ? undefined : checkTags(tags ?? [])
  // Validate it against empty metadata, so that the result does not depend on the current record.
  if (metadata !== undefined) mergeMetadata({}, metadata)
  return (record) => ({
    ...annotated(record, {
      tags: newTags ?? record.tags ?? [],
      metadata:
        metadata === undefined ? (record.metadata ?? {}) : mergeMetadata(record.metadata ?? {}, metadata),
    }),
    ...(name === undefined ? {} : { originalName: name }),
  })
}

function checkedName(received: unknown): string {
  if (typeof received === 'string' && received !== '' && cleanFileName(received) === received) return received
  const expected = 'a file name of 1 to 255 bytes without a folder'
  throw badParameter({ param: 'originalName', expected, received })
}
