import type { ObjectKey } from '../../files/object-key.ts'

/** A part of the original name, folded by `core/text/folded.ts`, or a whole tag. */
export type SearchTerm = { name: string } | { tag: string }

/** What an original is found by. */
export interface Findable {
  key: ObjectKey
  originalName: string
  tags?: readonly string[]
}

/**
 * Finds originals by a part of their name, or by a tag, without reading all records. What is found changes in the same
 * atomic step as the record of an original. Stored and trashed originals are found alike.
 */
export interface FileSearch {
  /**
   * Finds originals by a term, in no order. The result has all that match. It may have others, so compare their records.
   * @param options.most at least 1
   * @returns undefined when more than `most` places in names match, or more than `most` tags
   */
  search(
    clientId: string,
    term: SearchTerm,
    options: { most: number },
  ): Promise<readonly ObjectKey[] | undefined>
  /** Whether an original with this record is found by all its terms. `adopt` adds one that an older version has left out. */
  isSearchable(clientId: string, record: Findable): Promise<boolean>
  /** Whether all originals of all clients are found: `markComplete` was called by a version that has this search. */
  canSearch(): Promise<boolean>
}
