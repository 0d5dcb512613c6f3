/**
 * Small texts by name. Several processes change them by compare-and-set. A change is durable when it resolves. A text expires
 * at a given time.
 */
export interface Ledger {
  /** @throws Problem 503 */
  find(name: string): Promise<string | undefined>
  /**
   * @param before the text as it was read; undefined for no text
   * @param after the new text; undefined deletes it
   * @param options `forgetAt`: from this time on the text may be deleted, in milliseconds since 1970
   * @returns false, and changes nothing, when the current text is not `before`
   * @throws Problem 503; the text may have been changed nevertheless
   */
  replace(
    name: string,
    before: string | undefined,
    after: string | undefined,
    options: { forgetAt: number },
  ): Promise<boolean>
}
