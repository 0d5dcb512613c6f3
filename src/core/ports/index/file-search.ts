import type { ObjectKey } from '../../files/object-key.ts'
import type { SearchAllowance } from './search-allowance.ts'

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
   * @param options.most the number of terms to compare at most, at least 1. These may be more than match: twice as many, or four times
   *   as many where many files were deleted or renamed
   * @param options.allowance what the search may read in all. Default: as much as `most` needs
   * @returns undefined when there are more to compare, and for a name that is too short: read a list instead. One of three
   *   characters never is, one of a single byte always
   */
  search(
    clientId: string,
    term: SearchTerm,
    options: { most: number; allowance?: SearchAllowance },
  ): Promise<readonly ObjectKey[] | undefined>
  /**
   * Whether an original with this record was entered in the search with all its terms. `adopt` enters one that is left out.
   */
  isSearchable(clientId: string, record: Findable): Promise<boolean>
  /** Whether all originals are found, of all clients or of one: `markComplete` was called by a version that has the search. */
  canSearch(clientId?: string): Promise<boolean>
}
