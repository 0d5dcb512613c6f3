import type { Point } from '../geometry/box.ts'
import { badParameter } from '../problem.ts'
import { NOTHING_UNSEEN, UNSEEN_CHARACTER } from './relative-path.ts'

/** What the owner of a file has set. */
export interface Annotations {
  /** Without duplicates, in the order of the request. */
  tags: readonly string[]
  metadata: Readonly<Record<string, string>>
  /** The default focus of crops. Undefined: the centre. */
  focalPoint?: Point | undefined
}

const TAGS_MAX = 50
const TAG_MAX_BYTES = 100
const PAIRS_MAX = 50
const VALUE_MAX_BYTES = 1024
const METADATA_MAX_BYTES = 16 * 1024
const NAME = /^[A-Za-z0-9_.-]{1,64}$/

/** `tags` as a JSON schema. {@link checkTags} validates it. */
export const TAGS_JSON = {
  type: 'array',
  items: { type: 'string', minLength: 1, maxLength: TAG_MAX_BYTES },
  maxItems: TAGS_MAX,
  description: `Tags, each of 1 to ${TAG_MAX_BYTES} bytes.`,
}

/** `metadata` as a JSON schema. {@link mergeMetadata} validates it. */
export const METADATA_JSON = {
  type: 'object',
  additionalProperties: { type: 'string', maxLength: VALUE_MAX_BYTES },
  propertyNames: { pattern: NAME.source },
  maxProperties: PAIRS_MAX,
  description: `Texts by name, together at most ${METADATA_MAX_BYTES} bytes.`,
}

/** @throws Problem 400 for anything but an array of at most 50 texts of 1 to 100 bytes */
export function checkTags(received: unknown): string[] {
  const expected = `an array of at most ${TAGS_MAX} texts`
  if (!Array.isArray(received)) throw badParameter({ param: 'tags', expected, received })
  const tags = [...new Set(received)]
  for (const [i, tag] of tags.entries())
    if (!isTag(tag))
      throw badParameter({
        param: `tags[${i}]`,
        expected: `a text of 1 to ${TAG_MAX_BYTES} bytes ${NOTHING_UNSEEN}`,
        received: tag,
      })
  if (tags.length > TAGS_MAX)
    throw badParameter({ param: 'tags', expected, received: `${tags.length} texts` })
  return tags
}

function isTag(tag: unknown): tag is string {
  if (typeof tag !== 'string' || !tag.isWellFormed() || UNSEEN_CHARACTER.test(tag)) return false
  const bytes = Buffer.byteLength(tag)
  return bytes >= 1 && bytes <= TAG_MAX_BYTES
}

/** @throws Problem 400 for anything but an object of texts within the limits above */
export function checkMetadata(received: unknown): Record<string, string> {
  return mergeMetadata({}, received)
}

/**
 * Merges a change into metadata: `null` as a value removes the name, `null` as the change removes all names.
 *
 * @see RFC 7396 section 2
 * @throws Problem 400 for anything but texts within the limits above
 */
export function mergeMetadata(present: Annotations['metadata'], change: unknown): Record<string, string> {
  if (change === null) return {}
  if (typeof change !== 'object' || Array.isArray(change))
    throw badParameter({ param: 'metadata', expected: 'an object of texts', received: change })
  const merged = new Map(Object.entries(present))
  for (const [name, value] of Object.entries(change as object)) {
    if (value === null) merged.delete(name)
    else merged.set(checkedName(name), checkedValue(name, value))
  }
  const bytes = [...merged].flat().reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  if (merged.size > PAIRS_MAX || bytes > METADATA_MAX_BYTES)
    throw badParameter({
      param: 'metadata',
      expected: `at most ${PAIRS_MAX} names and ${METADATA_MAX_BYTES} bytes in all`,
      received: `${merged.size} names and ${bytes} bytes`,
    })
  return Object.fromEntries(merged)
}

function checkedName(name: string): string {
  // As a property name, `__proto__` sets the prototype of an object.
  if (NAME.test(name) && name !== '__proto__') return name
  const expected = '1 to 64 of A-Z a-z 0-9 _ . - in a name'
  throw badParameter({ param: 'metadata', expected, received: name })
}

function checkedValue(name: string, value: unknown): string {
  const isText = typeof value === 'string' && value.isWellFormed()
  if (isText && Buffer.byteLength(value) <= VALUE_MAX_BYTES) return value
  const expected = `a text of at most ${VALUE_MAX_BYTES} bytes`
  throw badParameter({ param: `metadata.${name}`, expected, received: value })
}

/** Annotations as a record has them: without empty ones. */
type OwnAnnotations = Partial<Pick<Annotations, 'tags' | 'metadata'>> & { focalPoint?: Point }

/** Returns a record with these annotations instead of its own. */
export function annotated<T extends Partial<Annotations>>(
  { tags: _, metadata: __, focalPoint: ___, ...rest }: T,
  { tags, metadata, focalPoint }: Annotations,
): Omit<T, keyof Annotations> & OwnAnnotations {
  return {
    ...rest,
    ...(focalPoint ? { focalPoint } : {}),
    ...(tags.length > 0 ? { tags } : {}),
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
  }
}
