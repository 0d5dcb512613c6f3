import { createHash } from 'node:crypto'
import { timingSafeEqualText } from '../bytes/timing-safe-equal.ts'
import type { MediaGroup } from '../media/groups.ts'
import { routeNotFound } from '../url-problems.ts'
import { CLOUDINARY_OPTIONS, FORMATS } from './cloudinary-options.ts'
import {
  type CompatName,
  type CompatUrl,
  invalidSignature,
  mapOptions,
  noEquivalent,
  words,
} from './compat-url.ts'

const SERVICE = 'Cloudinary'

const GROUPS = words<MediaGroup>({ image: 'image', video: 'video', raw: 'application' })

/**
 * Reads `<type>/<upload|fetch>/[s--<signature>--/][<transformations>/][v<version>/]<public id>[.<extension>]`.
 *
 * @param segments of the path after the account, each decoded once
 * @param secret verifies signatures; they are ignored without it
 * @throws Problem 400 for an option without an equivalent, 403 for an invalid signature, 404 for another path
 * @see https://cloudinary.com/documentation/transformation_reference
 * @see https://cloudinary.com/documentation/delivery_url_signatures
 */
export function readCloudinaryUrl(
  segments: readonly string[],
  { secret }: { secret?: string | undefined } = {},
): CompatUrl {
  const [type = '', delivery = '', ...rest] = segments
  const group = GROUPS.get(type)
  if (!group || rest.length === 0) throw routeNotFound()
  if (!['upload', 'private', 'authenticated', 'fetch'].includes(delivery))
    throw noEquivalent(SERVICE, delivery)
  const signature = /^s--([\w-]+)--$/.exec(rest[0] ?? '')?.[1]
  const parts = signature === undefined ? rest : rest.slice(1)
  const count = parts.findIndex((part) => !isTransformation(part))
  if (count === -1) throw routeNotFound()
  const transformations = parts.slice(0, count)
  const id = parts.slice(/^v\d+$/.test(parts[count] ?? '') ? count + 1 : count)
  if (id.length === 0) throw routeNotFound()
  if (signature !== undefined && secret !== undefined)
    verify(signature, { text: [...transformations, ...id].join('/'), secret })
  checkOrder(transformations)
  const options = optionsOf(transformations)
  checkPadding(options)
  const query = mapOptions(options, {
    table: CLOUDINARY_OPTIONS,
    service: SERVICE,
    text: (name, value) => `${name}_${value}`,
  })
  withPartOnly(options, query)
  const isSigned = signature !== undefined && secret !== undefined
  if (delivery === 'fetch') return { group, source: { url: id.join('/') }, query, isSigned }
  const name = id.join('/')
  return group === 'video'
    ? { ...videoOf(name, options, query), isSigned }
    : {
        group,
        source: { names: group === 'image' ? namesOf(name, group, query) : [{ name }] },
        query,
        isSigned,
      }
}

/** Whether a segment has transformations only: `w_300,c_fill`. Their keys have no underscore. */
function isTransformation(segment: string): boolean {
  return segment
    .split(',')
    .every((part) => Object.hasOwn(CLOUDINARY_OPTIONS, keyOf(part) ?? '') || isUnknown(part))
}

// Layers, variables and conditions: recognised, so that they are refused, and not taken for a folder.
function isUnknown(part: string): boolean {
  return /^(l|u|if|d|o|bo|br|fps|sp|fn|dn|z|p|co|vs|af|ki|cs)_./.test(part) || /^\$\w+_./.test(part)
}

function keyOf(part: string): string | undefined {
  return /^([a-z]{1,3})_./.exec(part)?.[1]
}

// The steps of an image in the order in which one request executes them here, by the options of Cloudinary.
const STEPS: ReadonlyArray<RegExp> = [/^e_trim\b/, /^[wh]_|^c_|^ar_|^g_|^[xy]_/, /^a_(?!auto)/, /^r_/]

/** @throws Problem 400 for steps in another order than that in which they are executed here */
function checkOrder(transformations: readonly string[]): void {
  let last = 0
  for (const transformation of transformations) {
    const parts = transformation.split(',')
    const steps = parts.map((part) => STEPS.findIndex((step) => step.test(part)))
    const early = steps.findIndex((step) => step !== -1 && step < last)
    if (early !== -1)
      throw noEquivalent(SERVICE, parts[early] ?? '', 'It follows a step that is executed later here.')
    last = Math.max(last, ...steps)
  }
}

/** @throws Problem 400 for padding that is not on all sides: there, the gravity says where the image is */
function checkPadding(options: ReadonlyMap<string, string>): void {
  const gravity = options.get('g')
  if (/^l?pad$/.test(options.get('c') ?? '') && gravity !== undefined && gravity !== 'center')
    throw noEquivalent(SERVICE, `g_${gravity}`, 'Padding is equal on opposite sides here.')
}

/** @throws Problem 400 for two steps that change the same: they run in order there, and there is one step here */
function optionsOf(transformations: readonly string[]): Map<string, string> {
  const options = new Map<string, string>()
  for (const part of transformations.flatMap((one) => one.split(','))) {
    const at = part.indexOf('_')
    const [name, value] = [part.slice(0, at), part.slice(at + 1)]
    const given = options.get(name)
    if (given !== undefined && given !== value)
      throw noEquivalent(
        SERVICE,
        part,
        `The URL has ${name}_${given} as well, and one request has one step here.`,
      )
    options.set(name, value)
  }
  return options
}

/** `c_crop` cuts a part and does not scale it. Both sides alone scale, which is `c_scale`. */
function withPartOnly(options: ReadonlyMap<string, string>, query: Map<string, string>): void {
  if (query.has('crop')) {
    query.delete('w')
    query.delete('h')
  } else if (!options.has('c') && (options.has('w') || options.has('h'))) {
    query.set('enlarge', '1')
    if (options.has('w') && options.has('h')) query.set('fit', options.has('ar') ? 'cover' : 'fill')
  }
}

// The extensions of files that may have another extension in the URL.
const EXTENSIONS = {
  image: ['jpg', 'jpeg', 'png', 'webp', 'gif'],
  video: ['mp4', 'mov', 'webm'],
} as const

/** The names that a file may have: as in the URL; else without an extension, or with another one, in the format of the URL if it has one. */
function namesOf(name: string, group: 'image' | 'video', query: ReadonlyMap<string, string>): CompatName[] {
  const [, stem, extension = ''] = /^(.+)\.(\w{1,5})$/.exec(name) ?? []
  const format = FORMATS.get(extension.toLowerCase())
  // A public id has no extension. An import may have named the alias of its file with one.
  if (stem === undefined) return [{ name }, ...EXTENSIONS[group].map((one) => ({ name: `${name}.${one}` }))]
  if (!format) return [{ name }]
  const others = EXTENSIONS[group].filter((one) => one !== extension.toLowerCase())
  const names = [stem, ...others.map((one) => `${stem}.${one}`)]
  return [{ name }, ...names.map((one) => (query.has('f') ? { name: one } : { name: one, format }))]
}

const PICTURE = /\.(jpe?g|png|webp|avif|gif)$/i

/** A video: with the extension of a picture, one frame of it. */
function videoOf(
  name: string,
  options: ReadonlyMap<string, string>,
  query: Map<string, string>,
): Pick<CompatUrl, 'group' | 'source' | 'query'> {
  // Ours is a switch, without numbers.
  if (options.get('q')?.startsWith('auto')) query.set('q_auto', '1')
  query.delete('enlarge')
  query.delete('fit')
  const picture = PICTURE.exec(name)?.[1]?.toLowerCase()
  if (picture === undefined)
    return { group: 'video', source: { names: namesOf(name, 'video', query) }, query }
  query.delete('q_auto')
  query.set('thumbnail', '1')
  query.set('duration', String(Math.round(Number(query.get('start') ?? 0) * 10)))
  query.delete('start')
  if (!query.has('f')) query.set('f', FORMATS.get(picture) ?? 'jpeg')
  const stem = name.replace(PICTURE, '')
  const names = [stem, ...EXTENSIONS.video.map((extension) => `${stem}.${extension}`)]
  return { group: 'video', source: { names: names.map((one) => ({ name: one })) }, query }
}

function verify(signature: string, { text, secret }: { text: string; secret: string }): void {
  const digest = (algorithm: string, length: number) =>
    createHash(algorithm).update(`${text}${secret}`).digest('base64url').slice(0, length)
  const expected = signature.length === 32 ? digest('sha256', 32) : digest('sha1', 8)
  const short = digest('sha256', 8)
  if (!timingSafeEqualText(signature, expected) && !timingSafeEqualText(signature, short))
    throw invalidSignature()
}
