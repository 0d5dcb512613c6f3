// A search of few files may read as much as one of so many: their number costs less than what else a search does.
const LEAST = 160
const EXTRA = 2

/**
 * How much a search may still read, in all partitions of a client together. Without this, each of many partitions could read as much
 * as the whole search may. The unit is a file to compare.
 */
export class SearchAllowance {
  #files: number
  #terms: number
  #extra: number

  /** @param most the number of files to compare at most, as `FileSearch.search` has it */
  constructor(most: number) {
    this.#files = most
    this.#terms = Math.max(LEAST, most)
    this.#extra = EXTRA * this.#terms
  }

  /** Takes what is read to know which files may match. @returns false when so much is not left: the search returns undefined */
  takeTerms(amount: number): boolean {
    this.#terms -= amount
    return this.#terms >= 0
  }

  /** Takes files to compare. @returns as {@link takeTerms} */
  takeFiles(files: number): boolean {
    this.#files -= files
    return this.#files >= 0
  }

  /** What may be read in order to compare fewer files. Not negative. */
  get extra(): number {
    return Math.max(0, this.#extra)
  }

  takeExtra(amount: number): void {
    this.#extra -= amount
  }

  /** Ends the search in all partitions: its result would not be used. */
  end(): void {
    this.#files = -1
    this.#terms = -1
  }
}
