import { type ObjectKey, storedKey } from '../../core/files/object-key.ts'
import type { Findable, SearchTerm } from '../../core/ports/index/file-search.ts'
import { folded } from '../../core/text/folded.ts'

/**
 * The longest term of a name, in characters. A longer part of a name is found by its beginning, and then compared. Limits
 * the size of the index: a name has one term for every two of its characters.
 */
const TERM_CHARACTERS = 32

/** The texts by which an original is found: its folded name, then its tags. No text has a line break. */
export function searchTexts({ originalName, tags = [] }: Findable): [name: string, ...tags: string[]] {
  return [oneLine(folded(originalName)), ...tags.map(oneLine)]
}

/**
 * The terms of an original in LevelDB: `n` and the end of its folded name from each second character on, a line break, and the character
 * before this end; and `t` and each tag. Redis has other ones, see `redis/search/lua.ts`.
 */
export function searchTerms(record: Findable): string[] {
  const [name, ...tags] = searchTexts(record)
  const characters = [...name]
  const starts = characters.flatMap((_, i) => (i % 2 === 0 ? [i] : []))
  return [
    ...starts.map((i) => `n${characters.slice(i, i + TERM_CHARACTERS).join('')}\n${characters[i - 1] ?? ''}`),
    ...tags.map((tag) => `t${tag}`),
  ]
}

/** The terms that match: those that begin with a text and have this character before it, or the one that equals a text. */
export type Searched = { beginning: string; before?: string } | { whole: string }

/**
 * The terms by which originals are found. A text is in a name when a term begins with it, or when a term begins with all but its
 * first character, which is the one before. Undefined for a single character.
 */
function searched(term: SearchTerm): Searched[] | undefined {
  if ('tag' in term) return [{ whole: `t${oneLine(term.tag)}` }]
  const [first, ...others] = oneLine(term.name)
  if (first === undefined || others.length === 0) return undefined
  const beginning = (characters: string[]) => `n${characters.slice(0, TERM_CHARACTERS).join('')}`
  return [{ beginning: beginning([first, ...others]) }, { beginning: beginning(others), before: first }]
}

/**
 * The keys of the originals that match.
 *
 * @param read the terms with their keys that begin with a text or equal it, at most one more than `most`; or undefined when there
 *   are more than `most`
 * @returns undefined when these are more than `most`, and for a single character
 */
export async function searchedKeys(
  term: SearchTerm,
  {
    most,
    read,
  }: { most: number; read: (one: Searched) => Promise<Array<[term: string, key: string]> | undefined> },
): Promise<ObjectKey[] | undefined> {
  const keys = new Set<string>()
  for (const one of searched(term) ?? [undefined]) {
    const found = one && (await read(one))
    if (!found || found.length > most) return undefined
    for (const [known, key] of found)
      if ('whole' in one || one.before === undefined || known.endsWith(`\n${one.before}`)) keys.add(key)
  }
  return [...keys].map(storedKey)
}

/** A text without line breaks, which separate texts in Redis. No file name of an upload and no tag has one. */
export function oneLine(text: string): string {
  return text.replaceAll('\n', ' ')
}
