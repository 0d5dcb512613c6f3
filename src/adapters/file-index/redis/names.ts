import type { FileRef } from '../../../core/files/file-ref.ts'
import { storedKey } from '../../../core/files/object-key.ts'
import type { IndexedFile } from '../../../core/ports/file-index.ts'
import type { Overdue } from '../../../core/ports/index/steps.ts'
import { derivativeEntry, derivativeNamed } from './entries/derivatives.ts'
import { originalEntry } from './entries/originals.ts'
import { joined, PIECES } from './entries/pieces.ts'

/** The ref of an original as the scripts use it. An encoded client ID contains no slash, so every original has its own name. */
export function nameOf({ clientId, key }: FileRef): string {
  return `${ownerOf(clientId)}${key}`
}

export function ownerOf(clientId: string): string {
  return `${encodeURIComponent(clientId)}/`
}

export function refNamed(name: string): FileRef {
  const { clientId, end } = parseName(name)
  return { clientId, key: storedKey(end) }
}

/** The client at the beginning of a name, and its end. */
export function parseName(name: string): { clientId: string; end: string } {
  const slash = name.indexOf('/')
  return { clientId: decodeURIComponent(name.slice(0, slash)), end: name.slice(slash + 1) }
}

/** A pattern of Redis that matches only this text. */
export function escapePattern(text: string): string {
  return text.replace(/[\\*?[\]^-]/g, '\\$&')
}

/** Parses the hash of an original; undefined when the original does not exist. */
export function indexedFile(ref: FileRef, hash: Readonly<Record<string, Buffer>>): IndexedFile | undefined {
  const original = joined(PIECES.map((piece) => hash[piece]))
  if (original === undefined) return undefined
  const derivatives = Object.entries(hash).filter(([name]) => name.startsWith('_'))
  return {
    ref,
    original: originalEntry(ref.key, original),
    derivatives: derivatives.map(([name, bytes]) => {
      const key = derivativeNamed(ref.key, name)
      return { key, entry: derivativeEntry(ref.key, key, bytes) }
    }),
  }
}

export function overdueItem({ name, instant }: { name: string; instant: string }): Overdue {
  const [original = '', derivative] = name.split('\n')
  const ref = refNamed(original)
  if (derivative === undefined) return { kind: 'original', ref }
  return {
    kind: 'derivative',
    ref,
    derivative: derivativeNamed(ref.key, derivative),
    deadline: Number(instant),
  }
}

export function pairs(flat: readonly string[]): Array<{ name: string; instant: string }> {
  return Array.from({ length: flat.length / 2 }, (_, i) => ({
    name: flat[2 * i] ?? '',
    instant: flat[2 * i + 1] ?? '',
  }))
}
